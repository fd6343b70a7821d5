//! What the commands show: results, JSON, signatures and notes, laid out with `switchboard_terminal`.

mod content;
mod count;
mod json;
mod notes;
mod save;
mod signature;

pub(crate) use content::{blocks, contents, result, structured_text};
pub(crate) use count::count;
pub(crate) use json::{indent_json, merge, pretty, show_json};
pub(crate) use notes::Notes;
pub(crate) use save::{parts_of, result_parts, save_all, save_one};
pub(crate) use signature::{Signature, listed};
pub(crate) use switchboard_terminal::{Paper, Screen, Table, indented, size, wrap};
