//! The resource server: verifies the tokens of requests that a server of ours receives.
//!
//! ```text
//!   token ──▶ api_key          sbk_…: compared with stored hashes
//!         ──▶ verified_tokens  verified within the last minute
//!         ──▶ access_token     JWT: signature (jwks_cache ──▶ jwks_source), claims
//!         ──▶ introspection    opaque: the authorization server decides, claims
//!   bound to a key ──▶ dpop_proof ──▶ dpop_nonce, replay_set
//! ```
//!
//! # Invariants
//! - A token is accepted only if its audience is this server; no setting turns the check off.
//! - The public URL is the configured one. Nothing of a request decides which resource it is for.
//! - A token that is bound to a key is accepted only with a proof of that key.
//! - A cached token is one with the same bytes. Caches are bounded and no entry is used longer than its token. Outages are
//!   not cached.
//! - A flood of invalid tokens causes at most one request for keys every 30 s.

mod access_token;
mod api_key;
mod api_key_file;
mod claims;
mod config;
mod dpop_nonce;
mod dpop_proof;
mod error;
mod introspection;
mod jwks_cache;
mod jwks_source;
mod key_binding;
mod replay_set;
mod token_cache;
mod token_digest;
mod verified_tokens;
mod verifier;

pub use api_key::{ApiKeyEntry, ApiKeys};
pub use config::ResourceServer;
pub use dpop_proof::DpopVerification;
pub use error::ResourceServerError;
pub use verifier::ResourceVerifier;
