//! A gate as the host asks it: which servers it knows, and whether a call is permitted.

use switchboard_session::link::BoxFuture;

use crate::config::{Configured, Resolved};
use crate::permission::{Gate, Known};
use crate::policy::{CallDecision, CallPolicy, ProposedCall};

impl Gate {
    /// Knows the servers of these files from now on, and no others.
    pub fn know(&self, files: &Resolved) {
        let known = |server: &Configured| Some((server.name.clone(), Known::of(server)?));
        self.set_servers(files.servers.iter().filter_map(known));
    }
}

impl CallPolicy for Gate {
    fn decide<'a>(&'a self, call: &'a ProposedCall<'a>) -> BoxFuture<'a, CallDecision> {
        Box::pin(async move {
            let subject = self.subject(call.server, call.tool);
            match Self::permit(self, &subject, Some(call.arguments)).await {
                Ok(_) => CallDecision::Allow,
                Err(refused) => CallDecision::Deny { reason: refused.to_string() },
            }
        })
    }
}
