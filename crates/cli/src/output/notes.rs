//! Notes below a table: errors of its rows, and what to do.

use crate::output::{OutputStream, indented};
use crate::sanitize::one_line;

/// Notes about the rows of a table, in order.
#[derive(Debug, Default)]
pub(crate) struct RowNotes(Vec<RowNote>);

#[derive(Debug)]
struct RowNote {
    name: String,
    error: Option<String>,
    next: Option<String>,
}

impl RowNotes {
    /// Adds a note if there is an error or a next step.
    pub(crate) fn add(&mut self, name: &str, error: Option<String>, next: Option<String>) {
        if error.is_some() || next.is_some() {
            self.0.push(RowNote { name: one_line(name), error, next });
        }
    }

    /// Renders the notes.
    pub(crate) fn render(&self, out: &OutputStream) -> String {
        let mut text = String::new();
        for RowNote { name, error, next } in &self.0 {
            text.push('\n');
            let error = error.as_deref().map(one_line).filter(|error| !error.is_empty());
            let head = match error {
                Some(error) if error.starts_with(name.as_str()) => error,
                Some(error) => format!("{name}: {error}"),
                None => name.clone(),
            };
            text += &indented(&head, "", out.width);
            if let Some(next) = next {
                text += &indented(&format!("next: {}", one_line(next)), "  ", out.width);
            }
        }
        text
    }
}
