//! The intermediate representation of a service: [`Design`] and one file per kind of item.
//!
//! Plain data with public fields, built with `new(required)` and `with_x`. Builders do not validate;
//! [`Design::check`](crate::Design::check) reports all errors at once.

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
pub use completion::{CompletionDef, CompletionTarget};
pub use design::Design;
pub use event::{NotificationDef, WatchDef};
pub use method::{MethodDef, MethodScope};
pub use output::OutputDef;
pub use param::{NestedParamError, ParamDef, ParamKind};
pub use prompt::{PromptBody, PromptDef, PromptText};
pub use resource::ResourceDef;
pub use tool::{TaskRule, ToolDef};
