//! The catalog: the tools of all servers as immutable snapshots.
//!
//! ```text
//!   slot ── list ──▶ Registry ── Part ─▶ rule, pin ─▶ Catalog (Arc, revision)
//!                       └──▶ events: added, removed, changed, drift
//! ```

mod catalog;
mod catalog_part;
mod catalog_tool;
mod definition_change;
mod explanation;
mod model_tools;
mod pin;
mod pin_file;
pub mod profile;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod registry;
mod rule;
mod server_listing;
mod server_lists;

pub use catalog::{Catalog, ToolMatch};
pub(crate) use catalog_part::{CatalogPart, ListDefects};
pub use catalog_part::{ToolEffects, ToolInfo, ToolListIssues};
pub(crate) use catalog_tool::CallTarget;
pub use catalog_tool::CatalogTool;
pub use definition_change::DefinitionChange;
pub use explanation::ToolExplanation;
pub use model_tools::{ModelTool, ModelTools};
pub use pin::{DriftPolicy, Pins};
pub use pin_file::PinFile;
pub(crate) use registry::{LOCAL_SERVER_NAME, ListChange, MAX_SERVERS, Registry};
pub use rule::WithheldReason;
pub use server_listing::ServerListing;
pub use server_lists::{ListLifetimes, ServerLists};
pub use switchboard_config::name;
