//! Messages as lines: on the pipes of a child process, and on our own stdin and stdout.
//!
//! ```text
//!   Stdio ─▶ resolve ─▶ (shim) ─▶ process ─▶ child ══ line ══▶ Pipe     (a client's server)
//!                                            └─ stderr, ladder
//!   stdin, stdout ─▶ own ─▶ pipe | socket | bridge ══ line ══▶ Pipe            (a server's client)
//! ```

mod line;

mod bell;
mod child;
mod command;
mod dial;
mod ladder;
mod process;
mod resolve;
mod stderr;

mod shim;
mod tree;

#[cfg(feature = "own-stdio")]
mod bridge;
#[cfg(feature = "own-stdio")]
mod own;
#[cfg(feature = "own-stdio")]
mod ready;
#[cfg(feature = "own-stdio")]
mod socket;

pub use child::{ChildHandle, spawn};
pub use command::{ChildLimits, Stdio, Supervision};
pub use ladder::StopLadder;
pub use line::{DEFAULT_LINE_LIMIT, LineInlet, LineOutlet};
#[cfg(feature = "own-stdio")]
pub use own::own_stdio;
pub use shim::enter_if_asked;
