//! Output of the commands: results, JSON, signatures and notes, formatted with `switchboard_terminal`.

mod content;
mod json;
mod notes;
mod pluralize;
mod save;
mod signature;

pub(crate) use content::{render_blocks, render_contents, render_result, render_structured};
pub(crate) use json::{encode, indent_json, merge_pages, pretty, print_json};
pub(crate) use notes::RowNotes;
pub(crate) use pluralize::pluralize;
pub(crate) use save::{resource_parts, result_parts, save_all, save_one};
pub(crate) use signature::{Signature, render_item};
pub(crate) use switchboard_terminal::{OutputStream, Screen, TextTable, format_size, indented, wrap};
