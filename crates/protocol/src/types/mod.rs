//! The message types: parameters, results and the values inside them, one file for each subject of the specification.
//!
//! They refer to each other freely. They know how they are read and written (`wire`), and nothing of the revisions that
//! have them: `surface` and `lower` are built on top.

pub(crate) mod cache;
pub(crate) mod cancel;
pub(crate) mod capability;
pub(crate) mod completion;
pub(crate) mod content;
pub(crate) mod elicitation;
pub(crate) mod empty;
pub(crate) mod form;
pub(crate) mod handshake;
pub(crate) mod icon;
pub(crate) mod input;
pub(crate) mod input_schema;
pub(crate) mod logging;
pub(crate) mod meta;
pub(crate) mod paging;
pub(crate) mod progress;
pub(crate) mod prompt;
pub(crate) mod resource;
pub(crate) mod result_type;
pub(crate) mod roots;
pub(crate) mod sampling;
pub(crate) mod server_result;
pub(crate) mod subscription;
pub(crate) mod task;
pub(crate) mod tool;
