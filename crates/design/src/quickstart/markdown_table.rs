//! Markdown tables.

use std::fmt;

/// A Markdown table with `N` columns. Displays as nothing if it has no rows.
pub(super) struct MarkdownTable<const N: usize> {
    head: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> MarkdownTable<N> {
    pub(super) fn new(head: [&'static str; N]) -> Self {
        Self { head, rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: [&str; N]) {
        // A cell is a single line, and `|` would end it.
        self.rows.push(cells.map(|cell| cell.replace('|', "\\|").replace('\n', " ")));
    }
}

impl<const N: usize> fmt::Display for MarkdownTable<N> {
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
