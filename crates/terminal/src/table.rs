//! Text tables that fit the width: the widest columns shrink and their cells wrap; no text is cut off. On a narrow
//! terminal a table that would have to wrap is rendered as a labeled paragraph for each row.
//!
//! Not `comfy-table` or `tabled`: `comfy-table` 8.0 cannot stack rows, and `tabled` 0.20 only as a framed record
//! (`ExtendedTable`) without wrapping. The widths decide whether rows are stacked, so they would still be computed here. The
//! libraries could replace [`render_row`] (20 lines) and add 4.5 s (`comfy-table` without terminal detection) and 27 s
//! (`tabled`) of CPU time to a release build.

use unicode_width::UnicodeWidthStr;

use crate::output_stream::OutputStream;
use crate::wrap::{indented, wrap};

/// Gap between two columns.
const GAP: &str = "  ";
/// Below this width a table is stacked instead of wrapped.
const STACK_BELOW: usize = 80;
/// Minimum width of a column.
const MIN_COLUMN: usize = 12;

/// A table of sanitized text, one line per cell.
#[derive(Debug)]
pub struct TextTable {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Creates an empty table with these column titles.
    pub fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|title| (*title).to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row with one cell per column.
    pub fn push_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Renders the table, each line ending in a newline. Empty columns are omitted.
    pub fn render(mut self, out: &OutputStream) -> String {
        for column in (0..self.header.len()).rev() {
            if self.rows.iter().all(|row| row[column].is_empty()) {
                self.header.remove(column);
                self.rows.iter_mut().for_each(|row| _ = row.remove(column));
            }
        }
        let is_narrow = out.width < STACK_BELOW && self.natural_width() > out.width;
        let widths = self.widths(out.width).filter(|_| !is_narrow);
        let Some(widths) = widths else { return self.render_stacked(out) };
        let mut text = render_row(&self.header, &widths, |_, cell| out.dim(cell));
        for row in &self.rows {
            let style = |column, cell: &str| if column == 0 { out.bold(cell) } else { cell.to_owned() };
            text += &render_row(row, &widths, style);
        }
        text
    }

    /// Returns the width of the table without wrapping.
    fn natural_width(&self) -> usize {
        let gaps = GAP.len() * self.header.len().saturating_sub(1);
        (0..self.header.len()).map(|column| self.column_width(column)).sum::<usize>() + gaps
    }

    /// Returns the width of the widest cell of a column.
    fn column_width(&self, column: usize) -> usize {
        let all = std::iter::once(&self.header).chain(&self.rows);
        all.map(|row| row[column].width()).max().unwrap_or(0)
    }

    /// Returns the width of each column, or `None` if they do not fit side by side.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let mut widths: Vec<usize> = (0..self.header.len()).map(|column| self.column_width(column)).collect();
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > width {
            // The first column identifies the row and is copied by users: it is never wrapped.
            let widest = widths.iter_mut().skip(1).max_by_key(|width| **width)?;
            if *widest <= MIN_COLUMN {
                return None;
            }
            *widest -= 1;
        }
        Some(widths)
    }

    /// Renders each row as a paragraph: the first cell, and below it the others with the titles of their columns.
    fn render_stacked(&self, out: &OutputStream) -> String {
        let paragraph = |row: &Vec<String>| {
            let (first, rest) = row.split_first()?;
            let first: String =
                wrap(first, out.width).iter().map(|line| format!("{}\n", out.bold(line))).collect();
            let labels = self.header.iter().skip(1).map(|title| format!("{}:", title.to_lowercase()));
            let labels: Vec<String> = labels.collect();
            let column = labels.iter().map(|label| label.width()).max().unwrap_or(0);
            let line = |(label, cell): (&String, &String)| {
                let gap = " ".repeat(column - label.width());
                let indent = " ".repeat(4 + column + 1);
                let body = indented(cell, &indent, out.width);
                format!("    {}{gap} {}", out.dim(label), body.trim_start())
            };
            let rest = labels.iter().zip(rest).filter(|(_, cell)| !cell.is_empty()).map(line);
            Some(first + &rest.collect::<String>())
        };
        self.rows.iter().filter_map(paragraph).collect()
    }
}

fn render_row(cells: &[String], widths: &[usize], style: impl Fn(usize, &str) -> String) -> String {
    let wrapped: Vec<Vec<String>> =
        cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut text = String::new();
    for line in 0..height {
        let mut gap = 0;
        for (column, cell) in wrapped.iter().enumerate() {
            let part = cell.get(line).map_or("", String::as_str);
            if !part.is_empty() {
                text += &" ".repeat(gap);
                text += &style(column, part);
                gap = 0;
            }
            gap += widths[column].saturating_sub(part.width()) + GAP.len();
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_cells_wrap_and_empty_columns_are_omitted() {
        let mut table = TextTable::new(&["URI", "TYPE", "ABOUT"]);
        table.push_row(["demo://a".to_owned(), String::new(), "the first of all the things".to_owned()]);
        table.push_row(["demo://b".to_owned(), String::new(), String::new()]);
        table.push_row(["demo://c".to_owned(), String::new(), "word ".repeat(20).trim_end().to_owned()]);
        let text = table.render(&OutputStream::plain(80));
        assert!(
            text.starts_with(
                "URI       ABOUT\ndemo://a  the first of all the things\ndemo://b\ndemo://c  word"
            ),
            "{text}"
        );
        assert!(text.contains("\n          word"), "{text}");
    }

    #[test]
    fn c13_rows_that_do_not_fit_become_paragraphs_with_labels() {
        let mut table = TextTable::new(&["URI", "TYPE", "ABOUT"]);
        table.push_row([
            "demo://a/long/one".to_owned(),
            "text".to_owned(),
            "the first of all the things there are".to_owned(),
        ]);
        let text = table.render(&OutputStream::plain(40));
        let expected = "demo://a/long/one\n    type:  text\n    about: the first of all the things\n           there are\n";
        assert_eq!(text, expected);
    }
}
