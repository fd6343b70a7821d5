//! The seam between the eras: every decision about protocol versions in the workspace.
//!
//! Outside this folder no code compares revisions or matches on the era. Differences in the *shape* of messages are in the
//! protocol crate's `lower`; differences in *behavior* are here.

#[cfg(feature = "server")]
mod classify;
#[cfg(feature = "client")]
mod dialect;
#[cfg(feature = "client")]
mod ladder;
mod legacy;
mod modern;
#[cfg(any(feature = "client", feature = "server"))]
mod names;
mod note_rules;
#[cfg(feature = "server")]
mod observed_subscription;
#[cfg(feature = "server")]
mod opening;
#[cfg(feature = "server")]
mod server_change;
#[cfg(feature = "server")]
mod server_profile;
#[cfg(feature = "server")]
pub(crate) mod serving;
mod session_info;
#[cfg(any(feature = "client", feature = "server"))]
mod task_protocol;

#[cfg(feature = "server")]
pub(crate) use classify::{ClassifiedRequest, ClientMetaCache, MessageEra, classify};
#[cfg(feature = "client")]
pub(crate) use dialect::{ChangeDelivery, ClientDialect, Extras, ResultKind, Round, TaskTicket};
#[cfg(feature = "client")]
pub(crate) use ladder::{EarlyMessages, NegotiatedSession, SessionConfig, open_session};
#[cfg(feature = "server")]
pub(crate) use modern::Questions;
#[cfg(feature = "server")]
pub use modern::StateKeys;
#[cfg(feature = "server")]
pub(crate) use modern::UsedStates;
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) use names::{has_batches, is_modern_name, may_require_input};
#[cfg(feature = "server")]
pub(crate) use note_rules::NOTE_RULES;
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) use note_rules::is_extension_note;
#[cfg(feature = "server")]
pub(crate) use observed_subscription::{ObservedSubscription, ObservedTask, SubscriptionObserver};
#[cfg(feature = "server")]
pub use opening::{OpeningPolicy, VersionPolicy};
#[cfg(feature = "server")]
pub(crate) use server_change::ServerChange;
#[cfg(feature = "server")]
pub(crate) use server_profile::{ComputeCapabilities, Instructions, ServerProfile};
pub use session_info::{EraHint, RevisionList, RevisionPolicy, SessionInfo};
#[cfg(any(feature = "client", feature = "server"))]
pub use task_protocol::TaskProtocol;
