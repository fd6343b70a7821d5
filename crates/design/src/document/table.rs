//! A table in Markdown.

use std::fmt;

/// Rows of so many cells. Without a row it is nothing.
pub(super) struct Table<const N: usize> {
    head: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(head: [&'static str; N]) -> Self {
        Self { head, rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: [&str; N]) {
        // What would end a cell is told apart from it, and a cell is one line.
        self.rows.push(cells.map(|cell| cell.replace('|', "\\|").replace('\n', " ")));
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return Ok(());
        }
        writeln!(f, "| {} |", self.head.join(" | "))?;
        writeln!(f, "|{}", "---|".repeat(N))?;
        for row in &self.rows {
            writeln!(f, "| {} |", row.join(" | "))?;
        }
        writeln!(f)
    }
}
