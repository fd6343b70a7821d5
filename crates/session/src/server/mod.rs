//! The server's side of a session: one request in, one response out, with no era in sight.

mod answer;
mod binding;
mod cx;
mod handler;
mod in_process;
mod kept;
mod listen;
mod outlive;
mod publish;
mod serve;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod server;

pub use crate::era::serving::TaskWays;
pub use crate::request::{AskError, Back, Caller, Extensions, Reply};
pub use answer::{Answered, AnsweredRequest, Answering, Outcome};
pub use binding::{Says, ServerSession, Told, stands_alone};
pub use cx::Cx;
pub use handler::{Handled, Handler, ServerRequest};
pub use in_process::InProcess;
pub use kept::Kept;
pub use outlive::Asks;
pub use publish::Publisher;
pub use server::{Server, ServerBuilder, ServerLimits};
