//! Notes that are kept in memory: the implementation of the trait in `lib.rs`.
//!
//! Written once by `switchboard new`; it is yours. Replace it with what your service really does.

use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard::service::prelude::*;

use crate::{__Trait__, Note};

/// Notes that are forgotten with the process.
#[derive(Debug, Default)]
pub struct InMemory {
    notes: Mutex<Vec<Note>>,
}

impl InMemory {
    fn notes(&self) -> MutexGuard<'_, Vec<Note>> {
        // Held for a look or a push, never across an await.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl __Trait__ for InMemory {
    async fn add_note(&self, text: String, tags: Vec<String>) -> Result<Note> {
        let mut notes = self.notes();
        let note = Note { id: u32::try_from(notes.len())? + 1, text, tags };
        notes.push(note.clone());
        Ok(note)
    }

    async fn find_notes(&self, query: String, limit: u32) -> Result<Vec<Note>> {
        let notes = self.notes();
        let found = notes.iter().rev().filter(|note| note.text.contains(&query) || note.tags.contains(&query));
        Ok(found.take(limit as usize).cloned().collect())
    }

    async fn note(&self, id: u32) -> Result<Note> {
        let notes = self.notes();
        let note = notes.iter().find(|note| note.id == id).cloned();
        note.ok_or_else(|| Error::not_found(format!("There is no note {id}.")))
    }

    async fn summarize(&self, subject: String) -> Result<PromptMessages> {
        let notes = self.find_notes(subject.clone(), 100).await?;
        let texts: Vec<String> = notes.into_iter().map(|note| format!("- {}", note.text)).collect();
        Ok(PromptMessages::user(format!("Summarize what is known about {subject}:\n{}", texts.join("\n"))))
    }
}
