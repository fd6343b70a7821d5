//! What is shown, and where: paper (how wide, how colourful), and what is laid out on it.

mod content;
mod json;
mod paper;
mod screen;
mod signature;
mod table;
mod wrap;

pub(crate) use content::{blocks, contents, result, size};
pub(crate) use json::{merge, pretty, show_json};
pub(crate) use paper::Paper;
pub(crate) use screen::Screen;
pub(crate) use signature::{Signature, listed};
pub(crate) use table::Table;
pub(crate) use wrap::{indented, wrap};
