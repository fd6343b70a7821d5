//! The server's side of a session: one request in, one response out, with no era in sight.

mod answer;
mod back;
mod binding;
mod caller;
pub(crate) mod cx;
mod extensions;
mod handler;
mod in_process;
mod kept;
mod listen;
mod outlive;
mod publish;
mod serve;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod server;
mod subscribed;

pub use crate::era::serving::TaskWays;
pub use answer::{Answered, AnsweredRequest, Answering, Outcome};
pub use back::Back;
pub use binding::{Says, ServerSession, Told, stands_alone};
pub use caller::Caller;
pub use cx::{AskError, Cx};
pub use extensions::Extensions;
pub use handler::{Handled, Handler, Reply, ServerRequest};
pub use in_process::InProcess;
pub use kept::Kept;
pub use outlive::Asks;
pub(crate) use publish::News;
pub use publish::Publisher;
pub use server::{Server, ServerBuilder, ServerLimits};
pub(crate) use subscribed::Subscribed;
