//! [`CallPolicy`] for a gate.

use switchboard_session::link::BoxFuture;

use crate::config::{ConfiguredServer, ResolvedConfig};
use crate::permission::{Gate, KnownServer, Verdict};
use crate::policy::{CallDecision, CallPolicy, ProposedCall};

impl Gate {
    /// Replaces the known servers by those of a configuration.
    pub fn set_servers_from_config(&self, files: &ResolvedConfig) {
        let known =
            |server: &ConfiguredServer| Some((server.name.clone(), KnownServer::from_configured(server)?));
        self.set_servers(files.servers.iter().filter_map(known));
    }
}

impl CallPolicy for Gate {
    fn decide<'a>(&'a self, call: &'a ProposedCall<'a>) -> BoxFuture<'a, CallDecision> {
        Box::pin(async move {
            let subject = self.subject(call.server, call.tool);
            if call.is_confirmed && Self::decide(self, &subject).verdict == Verdict::Ask {
                return CallDecision::Allow;
            }
            match Self::permit(self, &subject, Some(call.arguments)).await {
                Ok(_) => CallDecision::Allow,
                Err(denied) => CallDecision::Deny { reason: denied.to_string() },
            }
        })
    }
}
