//! The public API: the host, its builder, and handles of tools.

mod apply;
mod builder;
mod handle;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod host;
mod inspect;
mod resources;
mod secret_values;

pub use builder::HostBuilder;
pub use handle::ToolHandle;
pub use host::Host;
pub use resources::HostSubscription;
