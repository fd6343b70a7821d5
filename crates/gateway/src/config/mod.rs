//! The configuration file of a gateway: one TOML document with addresses, callers, servers, policy and limits.
//!
//! ```text
//!   text ──▶ GatewayConfig (as written) ──▶ servers ──▶ ResolvedConfig, for the host
//!                                       └─▶ policy  ──▶ Policy, RateLimiter, AuditPolicy
//! ```
//!
//! A document is valid as a whole or not at all: an unknown key, a server that cannot be resolved and a rule that cannot
//! be compiled are errors, each with file, line and what to write instead. Nothing here listens, connects or starts a
//! process.

mod audit_config;
mod callers;
mod document;
mod error;
mod excerpt;
mod listen;
mod passthrough;
mod policy_source;
mod servers;
mod values;

pub use audit_config::AuditConfig;
pub use callers::{CallersConfig, DpopMode, IntrospectionConfig, OAuthCallersConfig};
pub use document::{GatewayConfig, RequestLimits};
pub use error::{GatewayConfigError, GatewayConfigErrorKind};
pub use listen::{CertificateFiles, ListenConfig};
pub use passthrough::check_token_passthrough;
pub use policy_source::{CompiledPolicy, PolicySource};
