//! Providers: what the console is given by the program that embeds it.
//!
//! The console knows hosts and sessions. Logins, diagnosis, configuration files, policies and gateways belong to the
//! embedder, which implements these traits. Each provider is optional: without one, its rows of the API answer that the
//! feature is not available.
//!
//! Invariants: a provider returns no secret; it waits a bounded time; dropping a future that it returned ends the work.

mod config_editor;
mod doctor_provider;
mod gateway_provider;
mod login_provider;
mod policy_provider;
mod provider_error;
mod provider_set;
mod step_sink;

use std::pin::Pin;

pub use config_editor::{ConfigEditor, ServerEntry};
pub use doctor_provider::DoctorProvider;
pub use gateway_provider::{AuditQuery, GatewayProvider};
pub use login_provider::LoginProvider;
pub use policy_provider::PolicyProvider;
pub use provider_error::{ProviderError, ProviderErrorKind};
pub use provider_set::Providers;
pub use step_sink::StepSink;

/// A future of a provider.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
