//! The stdio binding: newline-delimited messages on the pipes of a child process, or on stdin and stdout of this process.
//!
//! ```text
//!   client:  Stdio ─▶ resolve ─▶ (supervisor) ─▶ process ─▶ child ══ line ══▶ Pipe
//!                                                           └─ stderr, stop
//!   server:  stdin, stdout ─▶ inherited_stdio ─▶ pipe | socket | threaded_io ══ line ══▶ Pipe
//! ```

mod line;

mod async_fd;
mod child;
mod child_slot;
mod command;
mod dial;
mod pidfd;
mod process;
mod resolve;
mod stderr;
mod stop;

mod process_tree;
mod supervisor;

#[cfg(feature = "own-stdio")]
mod inherited_stdio;
#[cfg(feature = "own-stdio")]
mod socket;
#[cfg(feature = "own-stdio")]
mod threaded_io;

pub use child::{ChildHandle, spawn};
pub use child_slot::ChildSlot;
pub use command::{ChildLimits, Stdio, Supervision};
#[cfg(feature = "own-stdio")]
pub use inherited_stdio::take_stdio;
pub use line::{DEFAULT_LINE_LIMIT, LineInlet, LineOutlet};
pub use stderr::StderrLines;
pub use stop::StopTimeouts;
pub use supervisor::run_supervisor_if_requested;
