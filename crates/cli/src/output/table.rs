//! A table that fits: columns take what they need, the widest give way, and cells that are cut short go on below.

use unicode_width::UnicodeWidthStr;

use crate::output::{Paper, wrap};

/// Between two columns.
const GAP: &str = "  ";
/// Narrower than this no column is made while another is wider.
const NARROWEST: usize = 8;

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
        let widths = self.widths(paper.width);
        let mut text = line_out(&self.header, &widths, |_, cell| paper.dim(cell));
        for row in &self.rows {
            let style = |column, cell: &str| if column == 0 { paper.bold(cell) } else { cell.to_owned() };
            text += &line_out(row, &widths, style);
        }
        text
    }

    fn widths(&self, width: usize) -> Vec<usize> {
        let all = || std::iter::once(&self.header).chain(&self.rows);
        let mut widths: Vec<usize> = (0..self.header.len())
            .map(|column| all().map(|row| row[column].width()).max().unwrap_or(0))
            .collect();
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > width {
            // The last of the widest: names come first, and are what one looks for.
            match widths.iter_mut().max_by_key(|width| **width) {
                Some(widest) if *widest > NARROWEST => *widest -= 1,
                _ => break,
            }
        }
        widths
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
}
