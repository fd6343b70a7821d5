//! The catalogue: what all servers list, as one immutable snapshot after another.
//!
//! ```text
//!   slot ── list ──▶ Registry ── part ─▶ rule, pin ─▶ Catalog (Arc, revision)
//!                       └──▶ events: added, removed, changed, drifted
//! ```

mod catalog;
mod catalog_tool;
mod definition;
mod offered;
mod part;
mod pin;
mod pin_file;
pub mod profile;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod registry;
mod rule;
mod why;

pub use catalog::{Catalog, Found};
pub use catalog_tool::CatalogTool;
pub(crate) use catalog_tool::Target;
pub use definition::DefinitionChange;
pub use offered::{ForModels, Offered};
pub(crate) use part::{Naming, Part, Unread};
pub use part::{ToolEffects, ToolInfo, Unlisted};
pub use pin::{OnDrift, Pins};
pub use pin_file::PinFile;
pub(crate) use registry::{MOST_SERVERS, Novelty, OWN_NAME, Registry};
pub use rule::Withheld;
pub use switchboard_config::name;
pub use why::Why;
