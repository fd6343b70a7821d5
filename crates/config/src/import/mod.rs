//! Import of servers from the configuration files of other programs.
//!
//! One file per program knows its dialect: the key of the servers, the names of the fields, the syntax of variables. It
//! translates an object of that dialect into ours, which is then read as usual, so errors point into the other program's
//! file. A field that cannot be imported is a warning.
//!
//! Nothing is written and nothing is started: the caller shows the result and stores what the user selects.

mod claude_code;
mod claude_desktop;
mod codex;
mod cursor;
mod dialect;
mod field_translator;
mod gemini;
mod imported_file;
mod oauth_fields;
mod opencode;
mod reference;
mod vscode;
mod windsurf;
mod zed;

pub use dialect::Dialect;
pub use imported_file::{ImportLocation, ImportedFile, ImportedServer, RequiredVariable};
