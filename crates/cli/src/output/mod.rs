//! What is shown, and where: paper (how wide, how colourful), and what is laid out on it.

mod content;
mod json;
mod notes;
mod paper;
mod save;
mod screen;
mod signature;
mod table;
mod wrap;

pub(crate) use content::{blocks, contents, result, size, structured_text};
pub(crate) use json::{indent_json, merge, pretty, show_json};
pub(crate) use notes::Notes;
pub(crate) use paper::Paper;
pub(crate) use save::{parts_of, result_parts, save_all, save_one};
pub(crate) use screen::Screen;
pub(crate) use signature::{Signature, listed};
pub(crate) use table::Table;
pub(crate) use wrap::{indented, wrap};
