//! What is wrong with the rows of a table, and what to do about it: below the table, where there is room for it.

use crate::output::{Paper, indented};
use crate::sanitize::one_line;

/// Notes about rows, in their order.
#[derive(Debug, Default)]
pub(crate) struct Notes(Vec<Note>);

#[derive(Debug)]
struct Note {
    name: String,
    error: Option<String>,
    next: Option<String>,
}

impl Notes {
    /// Adds a note, where there is an error or something to do.
    pub(crate) fn add(&mut self, name: &str, error: Option<String>, next: Option<String>) {
        if error.is_some() || next.is_some() {
            self.0.push(Note { name: one_line(name), error, next });
        }
    }

    /// Laid out below a table.
    pub(crate) fn lay_out(&self, paper: &Paper) -> String {
        let mut text = String::new();
        for Note { name, error, next } in &self.0 {
            text.push('\n');
            let error = error.as_deref().map(one_line).filter(|error| !error.is_empty());
            let head = match error {
                Some(error) if error.starts_with(name.as_str()) => error,
                Some(error) => format!("{name}: {error}"),
                None => name.clone(),
            };
            text += &indented(&head, "", paper.width);
            if let Some(next) = next {
                text += &indented(&format!("next: {}", one_line(next)), "  ", paper.width);
            }
        }
        text
    }
}
