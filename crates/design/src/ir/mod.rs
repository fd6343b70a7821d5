//! The words a design is written in: one file for each thing a service can offer.
//!
//! Everything here is data with public fields, built by `new` with what is required and `with_x` for the rest. Nothing
//! is checked while building: [`Design::check`](crate::Design::check) tells all mistakes at once.

mod args;
mod completion;
mod design;
mod event;
mod method;
mod output;
mod param;
mod prompt;
mod resource;
mod tool;

pub use args::ArgsDef;
pub use completion::{CompletionDef, CompletionOf};
pub use design::Design;
pub use event::{NotificationDef, WatchDef};
pub use method::{MethodDef, MethodScope};
pub use output::OutputDef;
pub use param::{NotFlat, ParamDef, ParamKind};
pub use prompt::{PromptBody, PromptDef, PromptText};
pub use resource::ResourceDef;
pub use tool::{TaskRule, ToolDef};
