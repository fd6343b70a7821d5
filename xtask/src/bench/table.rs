//! Text table for a terminal or Markdown. The first column is left-aligned, the others right-aligned.

use std::fmt::Write;

#[derive(Debug)]
pub(super) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Number of left-aligned columns.
    left: usize,
}

impl Table {
    pub(super) fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|&cell| cell.to_owned()).collect(), rows: Vec::new(), left: 1 }
    }

    /// Sets the number of left-aligned columns.
    pub(super) fn left(mut self, columns: usize) -> Self {
        self.left = columns;
        self
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        self.rows.push(cells.into_iter().map(|cell| cell.as_ref().to_owned()).collect());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn plain(&self) -> String {
        let all = || std::iter::once(&self.head).chain(&self.rows);
        let width = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| length(cell)).max();
        let widths: Vec<usize> = (0..self.head.len()).filter_map(width).collect();
        let mut text = String::new();
        for row in all() {
            let mut line = String::from(" ");
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let space = " ".repeat(width - length(cell));
                let cell =
                    if column < self.left { format!("{cell}{space}") } else { format!("{space}{cell}") };
                line.push(' ');
                line.push_str(&cell);
                line.push(' ');
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    pub(super) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = |column: usize| if column < self.left { "---|" } else { "---:|" };
        let mut text = line(&self.head);
        text.push('|');
        (0..self.head.len()).for_each(|column| text.push_str(rule(column)));
        text.push('\n');
        for row in &self.rows {
            write!(text, "{}", line(row)).expect("a String takes everything");
        }
        text
    }
}

/// Returns the width in characters: a multiplication sign is one column wide.
fn length(cell: &str) -> usize {
    cell.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["a", "×"]);
        table.row(["long", "1"]);
        table.row(["x", "÷20"]);
        assert_eq!(table.plain(), "  a       ×\n  long    1\n  x     ÷20\n");
        assert_eq!(table.markdown(), "| a | × |\n|---|---:|\n| long | 1 |\n| x | ÷20 |\n");
    }
}
