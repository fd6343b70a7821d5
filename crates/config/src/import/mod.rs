//! Servers from the files of other programs.
//!
//! Each program has a file here that knows its dialect: the key servers stand under, the names of the fields, how a
//! variable is written. It turns an object of that dialect into one of ours, which is then read as any other, so that
//! faults point into the other program's file. What cannot be carried over is said, never dropped in silence.
//!
//! Nothing is written and nothing is started: the caller shows what was found and stores what is wanted.

mod claude_code;
mod claude_desktop;
mod codex;
mod cursor;
mod dialect;
mod gemini;
mod imported;
mod opencode;
mod reference;
mod sheet;
mod vscode;
mod windsurf;
mod zed;

pub use dialect::Dialect;
pub use imported::{Imported, ImportedServer, Need, Place};
