//! Tables that fit the width: the widest columns shrink and their cells wrap; nothing is cut. On a narrow terminal a table
//! that would have to wrap becomes a labeled paragraph for each row.

use unicode_width::UnicodeWidthStr;

use crate::paper::Paper;
use crate::wrap::{indented, wrap};

/// Between two columns.
const GAP: &str = "  ";
/// Narrower than this a table is not wrapped but stacked.
const NARROW: usize = 80;
/// Narrower than this no column is made.
const NARROWEST: usize = 12;

/// A table of safe text. Cells hold one line each.
#[derive(Debug)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these column titles.
    pub fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|title| (*title).to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row with a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Lays the table out, each line ending in a newline. Empty columns are left out.
    pub fn lay_out(mut self, paper: &Paper) -> String {
        for column in (0..self.header.len()).rev() {
            if self.rows.iter().all(|row| row[column].is_empty()) {
                self.header.remove(column);
                self.rows.iter_mut().for_each(|row| _ = row.remove(column));
            }
        }
        let is_narrow = paper.width < NARROW && self.natural_width() > paper.width;
        let widths = self.widths(paper.width).filter(|_| !is_narrow);
        let Some(widths) = widths else { return self.stacked(paper) };
        let mut text = line_out(&self.header, &widths, |_, cell| paper.dim(cell));
        for row in &self.rows {
            let style = |column, cell: &str| if column == 0 { paper.bold(cell) } else { cell.to_owned() };
            text += &line_out(row, &widths, style);
        }
        text
    }

    /// The width of the table with nothing wrapped.
    fn natural_width(&self) -> usize {
        let gaps = GAP.len() * self.header.len().saturating_sub(1);
        (0..self.header.len()).map(|column| self.needed(column)).sum::<usize>() + gaps
    }

    /// The width of the widest cell of a column.
    fn needed(&self, column: usize) -> usize {
        let all = std::iter::once(&self.header).chain(&self.rows);
        all.map(|row| row[column].width()).max().unwrap_or(0)
    }

    /// How wide each column is; `None` when they do not fit side by side.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let mut widths: Vec<usize> = (0..self.header.len()).map(|column| self.needed(column)).collect();
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > width {
            // The first column is what one looks for, and copies: it stays whole.
            let widest = widths.iter_mut().skip(1).max_by_key(|width| **width)?;
            if *widest <= NARROWEST {
                return None;
            }
            *widest -= 1;
        }
        Some(widths)
    }

    /// Each row as a paragraph: the first cell, and the others below it with the titles of their columns.
    fn stacked(&self, paper: &Paper) -> String {
        let paragraph = |row: &Vec<String>| {
            let (first, rest) = row.split_first()?;
            let first: String =
                wrap(first, paper.width).iter().map(|line| format!("{}\n", paper.bold(line))).collect();
            let labels = self.header.iter().skip(1).map(|title| format!("{}:", title.to_lowercase()));
            let labels: Vec<String> = labels.collect();
            let column = labels.iter().map(|label| label.width()).max().unwrap_or(0);
            let line = |(label, cell): (&String, &String)| {
                let gap = " ".repeat(column - label.width());
                let indent = " ".repeat(4 + column + 1);
                let body = indented(cell, &indent, paper.width);
                format!("    {}{gap} {}", paper.dim(label), body.trim_start())
            };
            let rest = labels.iter().zip(rest).filter(|(_, cell)| !cell.is_empty()).map(line);
            Some(first + &rest.collect::<String>())
        };
        self.rows.iter().filter_map(paragraph).collect()
    }
}

fn line_out(cells: &[String], widths: &[usize], style: impl Fn(usize, &str) -> String) -> String {
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
    fn wide_cells_go_on_below_and_empty_columns_are_left_out() {
        let mut table = Table::new(&["URI", "TYPE", "ABOUT"]);
        table.row(["demo://a".to_owned(), String::new(), "the first of all the things".to_owned()]);
        table.row(["demo://b".to_owned(), String::new(), String::new()]);
        table.row(["demo://c".to_owned(), String::new(), "word ".repeat(20).trim_end().to_owned()]);
        let text = table.lay_out(&Paper::plain(80));
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
        let mut table = Table::new(&["URI", "TYPE", "ABOUT"]);
        table.row([
            "demo://a/long/one".to_owned(),
            "text".to_owned(),
            "the first of all the things there are".to_owned(),
        ]);
        let text = table.lay_out(&Paper::plain(40));
        let expected = "demo://a/long/one\n    type:  text\n    about: the first of all the things\n           there are\n";
        assert_eq!(text, expected);
    }
}
