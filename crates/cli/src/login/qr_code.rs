//! QR codes on a terminal: two modules per character, in half blocks.
//!
//! Black on white by explicit colors, so that a code reads the same on dark and light terminals. Without colors the light
//! modules are drawn, which is right on a dark terminal, and what most scanners accept on a light one.
//!
//! The crate `qrcode` only computes the modules (no dependencies, without its image features); its own rendering knows neither
//! the width nor the colors of a terminal.

use qrcode::{Color, EcLevel, QrCode};

use crate::output::OutputStream;

/// Light modules around the code: fewer than the standard's four, and enough for scanners in practice.
const QUIET_ZONE: usize = 2;

/// Renders a text as a QR code; `None` if the stream is not a terminal or too narrow, or the text too long.
pub(crate) fn render(text: &str, out: &OutputStream) -> Option<String> {
    let modules = Modules::encode(text)?;
    if !out.is_terminal || modules.width > out.width {
        return None;
    }
    Some(match out.has_color() {
        true => out.black_on_white(&modules.half_blocks(true)),
        false => modules.half_blocks(false),
    })
}

/// The modules of a code with its quiet zone.
struct Modules {
    width: usize,
    is_dark: Vec<bool>,
}

impl Modules {
    fn encode(text: &str) -> Option<Self> {
        // The lowest level of correction: a screen does not get dirty, and the code stays small.
        let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
        let (inner, colors) = (code.width(), code.to_colors());
        let width = inner + 2 * QUIET_ZONE;
        let module = |index: usize| {
            let place = |at: usize| at.checked_sub(QUIET_ZONE).filter(|at| *at < inner);
            match (place(index / width), place(index % width)) {
                (Some(row), Some(column)) => colors[row * inner + column] == Color::Dark,
                _ => false,
            }
        };
        Some(Self { width, is_dark: (0..width * width).map(module).collect() })
    }

    /// Draws the dark modules, or the light ones.
    fn half_blocks(&self, draws_dark: bool) -> String {
        let is_drawn = |row: usize, column: usize| {
            // A row below the last is neither.
            self.is_dark.get(row * self.width + column).is_some_and(|dark| *dark == draws_dark)
        };
        let mut text = String::new();
        for row in (0..self.width).step_by(2) {
            for column in 0..self.width {
                text.push(match (is_drawn(row, column), is_drawn(row + 1, column)) {
                    (true, true) => '█',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (false, false) => ' ',
                });
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the drawn modules back.
    fn parse(blocks: &str) -> Vec<Vec<bool>> {
        let mut rows = Vec::new();
        for line in blocks.lines() {
            rows.push(line.chars().map(|c| matches!(c, '█' | '▀')).collect());
            rows.push(line.chars().map(|c| matches!(c, '█' | '▄')).collect());
        }
        rows
    }

    #[test]
    fn half_blocks_hold_every_module_in_both_polarities() {
        let modules = Modules::encode("https://as.example/device?user_code=ABCD-EFGH").unwrap();
        for draws_dark in [true, false] {
            let drawn = parse(&modules.half_blocks(draws_dark));
            for (index, is_dark) in modules.is_dark.iter().enumerate() {
                let is_drawn = drawn[index / modules.width][index % modules.width];
                assert_eq!(is_drawn == draws_dark, *is_dark, "module {index}");
            }
        }
        // A finder pattern in three corners, none in the fourth.
        let finder = ["#######", "#     #", "# ### #", "# ### #", "# ### #", "#     #", "#######"];
        let (first, last) = (QUIET_ZONE, modules.width - QUIET_ZONE - 7);
        let is_finder = |top: usize, left: usize| {
            finder.iter().enumerate().all(|(row, line)| {
                line.bytes().enumerate().all(|(column, byte)| {
                    modules.is_dark[(top + row) * modules.width + left + column] == (byte == b'#')
                })
            })
        };
        assert!(is_finder(first, first) && is_finder(first, last) && is_finder(last, first));
        assert!(!is_finder(last, last));
    }

    #[test]
    fn no_code_without_a_terminal_or_without_space_for_it() {
        assert_eq!(render("https://as.example/device", &OutputStream::plain(200)), None);
        let terminal = OutputStream::terminal;
        let code = render("https://as.example/device", &terminal(80)).unwrap();
        let width = code.lines().next().unwrap().chars().count();
        assert!(code.lines().all(|line| line.chars().count() == width));
        assert!(render("https://as.example/device", &terminal(width)).is_some());
        assert_eq!(render("https://as.example/device", &terminal(width - 1)), None);
        assert_eq!(render(&"x".repeat(8000), &terminal(1000)), None);
    }
}
