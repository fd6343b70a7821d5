//! A table that fits: columns take what they need, the widest give way, and what does not fit goes on below. Nothing is
//! cut. Where even that is too narrow, each row becomes a paragraph.

use unicode_width::UnicodeWidthStr;

use crate::output::{Paper, indented, wrap};

/// Between two columns.
const GAP: &str = "  ";
/// Narrower than this no column is made.
const NARROWEST: usize = 12;

/// A table of safe text. Cells hold one line each.
#[derive(Debug)]
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|title| (*title).to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row with a cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Laid out, each line ending in a newline. Columns in which nothing stands are left out.
    pub(crate) fn lay_out(mut self, paper: &Paper) -> String {
        for column in (0..self.header.len()).rev() {
            if self.rows.iter().all(|row| row[column].is_empty()) {
                self.header.remove(column);
                self.rows.iter_mut().for_each(|row| _ = row.remove(column));
            }
        }
        let Some(widths) = self.widths(paper.width) else { return self.stacked(paper) };
        let mut text = line_out(&self.header, &widths, |_, cell| paper.dim(cell));
        for row in &self.rows {
            let style = |column, cell: &str| if column == 0 { paper.bold(cell) } else { cell.to_owned() };
            text += &line_out(row, &widths, style);
        }
        text
    }

    /// How wide each column is; `None` when they do not fit side by side.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let all = || std::iter::once(&self.header).chain(&self.rows);
        let needed = |column: usize| all().map(|row| row[column].width()).max().unwrap_or(0);
        let mut widths: Vec<usize> = (0..self.header.len()).map(needed).collect();
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

    /// Each row as a paragraph: the first cell, and the others below it.
    fn stacked(&self, paper: &Paper) -> String {
        let paragraph = |row: &Vec<String>| {
            let (first, rest) = row.split_first()?;
            let first: String =
                wrap(first, paper.width).iter().map(|line| format!("{}\n", paper.bold(line))).collect();
            let rest: Vec<&str> = rest.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
            Some(first + &indented(&rest.join(" · "), "    ", paper.width))
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
        let text = table.lay_out(&Paper::plain(24));
        assert_eq!(text, "URI       ABOUT\ndemo://a  the first of\n          all the things\ndemo://b\n");
    }

    #[test]
    fn rows_that_do_not_fit_become_paragraphs() {
        let mut table = Table::new(&["URI", "ABOUT"]);
        table.row(["demo://a/long/one".to_owned(), "the first of all".to_owned()]);
        let text = table.lay_out(&Paper::plain(20));
        assert_eq!(text, "demo://a/long/one\n    the first of all\n");
    }
}
