//! The seam between the eras: every decision about protocol versions in the workspace.
//!
//! Outside this folder no code compares a revision or asks for the era. What differs in *shape* between revisions is
//! in the protocol crate's `lower`; what differs in *behaviour* is here.

mod belongs;
mod classify;
mod dialect;
mod ladder;
mod legacy;
mod modern;
mod opening;
mod terms;

pub(crate) use belongs::{Whose, belongs, is_extension_note};
pub(crate) use classify::{Classified, LastStated, Look, look};
pub(crate) use dialect::{ClientDialect, Extras, Hearing, Round, Settled, TaskTicket, TaskWays};
pub(crate) use ladder::{Opened, Opening, Stash, climb};
pub(crate) use legacy::is_modern_name;
pub use modern::StateKeys;
pub(crate) use modern::{Questions, may_ask};
pub use opening::{OpeningPolicy, VersionPolicy};
pub use terms::{Listed, Offer, Terms, Verdict};

pub(crate) mod serving;

use switchboard_protocol::{ErrorCode, RpcError};

/// The error for a version that is not served: it names those that are, and the one that was asked for.
fn unsupported_version(server: &crate::answering::Server, requested: &str) -> RpcError {
    let supported: Vec<_> = server.offer().all().iter().map(|revision| revision.as_str()).collect();
    let data = serde_json::json!({ "supported": supported, "requested": requested });
    let message =
        format!("Unsupported protocol version {requested:?}; this server speaks {}", supported.join(", "));
    RpcError::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, message).with_data(data)
}
