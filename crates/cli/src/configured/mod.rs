//! The servers of the configuration files: which there are, and a host that runs them for as long as a command needs.
//!
//! Invariant: nothing is started by reading; what was started is ended before the command ends, as in `connect`.

mod ask;
mod consent;
mod files;
mod hosting;
pub(crate) mod pins;
mod shown;
pub(crate) mod typed_call;

pub(crate) use consent::consent;
pub(crate) use files::{Files, NONE, server_and_rest};
pub(crate) use hosting::{Hosted, Wanted, Which, with_host};
pub(crate) use shown::{Readiness, quoted, reach};
