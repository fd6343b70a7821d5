//! Access to targets: policy, limits and audit around every request of a gateway.
//!
//! Order: the policy decides, the audit log has room for the record, the limits are charged, and only then something is
//! sent. A denied target is answered exactly like an unknown one; only the audit log knows the difference.

use std::future::Future;
use std::sync::Arc;

use parking_lot::RwLock;
use serde_json::json;
use switchboard_protocol::{Implementation, Meta, Raw, RpcError, ServerResult, ToolAnnotations};
use switchboard_session::server::{Reply, RequestContext};
use switchboard_transport::http::server::ClientAddress;

use crate::audit::{AuditEntry, AuditLog, AuditOutcome, AuditRecord};
use crate::drain::DrainState;
use crate::limits::{Operation, RateLimited, RateLimiter};
use crate::options::GatewayOptions;
use crate::policy::{Decision, Effect, Policy, Subject, Target, TargetKind};

/// The policy, the limits and the audit log of a gateway.
pub(crate) struct Access {
    // Held for a clone, never across an await.
    rules: RwLock<Arc<AccessRules>>,
    /// Whether limits or an audit log may be added later.
    is_replaceable: bool,
    pub(crate) drain: DrainState,
}

/// The part of [`Access`] that is replaced as a whole.
#[derive(Clone)]
struct AccessRules {
    policy: Arc<Policy>,
    limits: Option<Arc<RateLimiter>>,
    audit: Option<AuditLog>,
}

/// A request for a target.
pub(crate) struct AccessRequest<'a> {
    pub(crate) subject: Subject<'a>,
    pub(crate) method: &'static str,
    pub(crate) target: Target<'a>,
    pub(crate) arguments: Option<&'a Raw>,
    pub(crate) meta: Option<&'a Meta>,
    /// The answer if there were no such target.
    pub(crate) unknown: RpcError,
}

impl Access {
    pub(crate) fn new(options: &GatewayOptions) -> Self {
        let rules = AccessRules {
            policy: Arc::clone(&options.policy),
            limits: options.limits.clone().filter(|limits| !limits.is_empty()),
            audit: options.audit.clone(),
        };
        Self {
            rules: RwLock::new(Arc::new(rules)),
            is_replaceable: options.is_replaceable,
            drain: DrainState::default(),
        }
    }

    fn rules(&self) -> Arc<AccessRules> {
        Arc::clone(&self.rules.read())
    }

    fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.rules.read().policy)
    }

    /// Replaces the policy for all requests that arrive from now on.
    pub(crate) fn set_policy(&self, policy: Policy) {
        let mut rules = self.rules.write();
        *rules = Arc::new(AccessRules { policy: Arc::new(policy), ..AccessRules::clone(&rules) });
    }

    /// Replaces policy, limits and audit log for all requests that arrive from now on.
    pub(crate) fn replace(&self, options: &GatewayOptions) {
        let rules = AccessRules {
            policy: Arc::clone(&options.policy),
            limits: options.limits.clone().filter(|limits| !limits.is_empty()),
            audit: options.audit.clone(),
        };
        *self.rules.write() = Arc::new(rules);
    }

    /// Returns whether requests other than calls have to be limited or recorded, now or after a replacement.
    pub(crate) fn has_layer(&self) -> bool {
        let rules = self.rules.read();
        self.is_replaceable || rules.limits.is_some() || rules.audit.is_some()
    }

    /// Returns the filter of lists for a caller; `None` if everything is shown.
    pub(crate) fn list_filter<'a>(&self, subject: Subject<'a>) -> Option<ListFilter<'a>> {
        let policy = self.policy();
        let shows_all = policy.rule_count() == 0 && policy.default_effect() == Effect::Allow;
        (!shows_all).then_some(ListFilter { policy, subject })
    }

    /// Returns whether rules may rely on the annotations that a server lists.
    pub(crate) fn trusts_annotations(&self, server: &str) -> bool {
        self.policy().trusts_annotations(server)
    }

    /// Runs a call if the caller may make it, and records it.
    ///
    /// # Errors
    /// When the call is denied, limited, cannot be recorded, or fails itself.
    ///
    /// # Cancellation
    /// Recorded as cancelled, or as a question to the client if that is why the call is interrupted.
    pub(crate) async fn run(
        &self,
        cx: &RequestContext,
        request: AccessRequest<'_>,
        call: impl Future<Output = Reply>,
    ) -> Reply {
        let AccessRequest { subject, method, target, arguments, meta, unknown } = request;
        let _running = self.drain.begin_call()?;
        let decision = self.policy().decide(&subject, &target, arguments);
        let record = new_record(cx, method, &subject, meta).with_target(&target);
        let mut entry = self.begin(record, cx).await?;
        entry.update(|log, record| {
            record.set_decision(&decision);
            record.arguments = log.arguments(&subject, &target, arguments);
        });
        if let Some(error) = refusal(&decision, &subject, unknown) {
            let outcome = entry.outcome();
            entry.end(outcome, Some(&error)).await;
            return Err(error);
        }
        if let Err(refused) = self.check_limits(&subject, &Operation::Call(&target)).await {
            let error = refused.to_rpc_error();
            entry.update(|_, record| record.reason = Some(refused.limit.clone()));
            entry.end(AuditOutcome::RateLimited, Some(&error)).await;
            return Err(error);
        }
        let reply = call.await;
        if let Ok(result) = &reply {
            entry.update(|log, record| {
                record.result = log.result(&subject, &target, encoded(result).as_ref())
            });
        }
        entry.end(reply_outcome(&reply), reply.as_ref().err()).await;
        reply
    }

    /// Records a request for a target that does not exist.
    pub(crate) async fn record_unknown(
        &self,
        cx: &RequestContext,
        subject: &Subject<'_>,
        (method, name): (&'static str, &str),
        error: &RpcError,
    ) -> Result<(), RpcError> {
        let record = new_record(cx, method, subject, None).with_identifier(name);
        let entry = self.begin(record, cx).await?;
        entry.end(AuditOutcome::Unknown, Some(error)).await;
        Ok(())
    }

    /// Checks whether a caller may subscribe to a resource.
    ///
    /// # Errors
    /// When not: that of an unknown resource, or the scopes that the caller lacks.
    pub(crate) fn check_subscription(
        &self,
        subject: &Subject<'_>,
        (server, uri): (&str, &str),
        unknown: RpcError,
    ) -> Result<(), RpcError> {
        let decision = self.decide_subscription(subject, server, uri);
        refusal(&decision, subject, unknown).map_or(Ok(()), Err)
    }

    pub(crate) fn decide_subscription(&self, subject: &Subject<'_>, server: &str, uri: &str) -> Decision {
        let target = Target::new(server, TargetKind::Subscription, uri);
        self.policy().decide(subject, &target, None)
    }

    /// Charges the limits of an operation.
    ///
    /// # Errors
    /// When one of them is exceeded.
    pub(crate) async fn check_limits(
        &self,
        subject: &Subject<'_>,
        operation: &Operation<'_>,
    ) -> Result<(), RateLimited> {
        match &self.rules().limits {
            Some(limits) => limits.check(subject, operation).await,
            None => Ok(()),
        }
    }

    /// Begins a record, if there is an audit log.
    ///
    /// # Errors
    /// When the call must not be made because it cannot be recorded.
    pub(crate) async fn begin(
        &self,
        record: AuditRecord,
        cx: &RequestContext,
    ) -> Result<OpenRecord, RpcError> {
        let mut open = self.begin_record(record).await?;
        open.cx = cx.replays_handler().then(|| cx.clone());
        Ok(open)
    }

    /// Begins the record of a request without a handler.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(crate) async fn begin_record(&self, record: AuditRecord) -> Result<OpenRecord, RpcError> {
        let rules = self.rules();
        let Some(audit) = &rules.audit else { return Ok(OpenRecord { open: None, cx: None }) };
        let entry = audit.begin(record).await.map_err(|error| {
            let data = Raw::from(json!({ "reason": "audit_unavailable" }));
            RpcError::internal(format!("{error}\nNothing was sent; try again later.")).with_data(data)
        })?;
        Ok(OpenRecord { open: Some((audit.clone(), entry)), cx: None })
    }
}

/// Shows the entries of lists that a caller might use.
pub(crate) struct ListFilter<'a> {
    policy: Arc<Policy>,
    subject: Subject<'a>,
}

impl ListFilter<'_> {
    pub(crate) fn shows(&self, target: &Target<'_>) -> bool {
        self.policy.is_visible(&self.subject, target)
    }

    /// Returns whether a tool is shown. `annotations` returns those that rules may rely on, if its server is trusted or not.
    pub(crate) fn shows_tool(
        &self,
        server: &str,
        name: &str,
        annotations: impl FnOnce(bool) -> Option<ToolAnnotations>,
    ) -> bool {
        let annotations = annotations(self.policy.trusts_annotations(server));
        self.shows(&Target { annotations: annotations.as_ref(), ..Target::tool(server, name) })
    }
}

/// An open record of the audit log; empty if the gateway has no audit log.
pub(crate) struct OpenRecord {
    open: Option<(AuditLog, AuditEntry)>,
    /// The request, if its handler is dropped to ask the client a question.
    cx: Option<RequestContext>,
}

impl OpenRecord {
    pub(crate) fn update(&mut self, change: impl FnOnce(&AuditLog, &mut AuditRecord)) {
        if let Some((log, entry)) = &mut self.open {
            change(log, entry.record_mut());
        }
    }

    /// Returns the outcome that a decision has set.
    fn outcome(&mut self) -> AuditOutcome {
        self.open.as_mut().map(|(_, entry)| entry.record_mut().outcome).unwrap_or_default()
    }

    pub(crate) async fn end(mut self, outcome: AuditOutcome, error: Option<&RpcError>) {
        self.update(|_, record| record.code = error.map(|error| error.code.0.into()));
        if let Some((_, entry)) = self.open.take() {
            entry.end(outcome).await;
        }
    }
}

impl Drop for OpenRecord {
    fn drop(&mut self) {
        let asks = self.cx.as_ref().is_some_and(|cx| !cx.is_cancelled());
        if asks && let Some((_, entry)) = &mut self.open {
            entry.record_mut().outcome = AuditOutcome::InputRequired;
        }
    }
}

/// Returns the error for the caller, unless the call is allowed.
fn refusal(decision: &Decision, subject: &Subject<'_>, unknown: RpcError) -> Option<RpcError> {
    match decision {
        Decision::Allow { .. } => None,
        // Without an identity there is nothing to extend.
        Decision::MissingScope { scopes, .. } if subject.principal.is_some() => {
            let message = format!("insufficient scope: {} required", scopes.join(" "));
            Some(RpcError::invalid_request(message).with_data(Raw::from(json!({ "scopes": scopes }))))
        }
        Decision::MissingScope { .. } | Decision::Deny { .. } => Some(unknown),
    }
}

fn new_record(
    cx: &RequestContext,
    method: &'static str,
    subject: &Subject<'_>,
    meta: Option<&Meta>,
) -> AuditRecord {
    let trace: Option<String> =
        meta.and_then(|meta| meta.get("traceparent")).and_then(|raw| raw.decode().ok());
    let mut record = AuditRecord::new(method)
        .with_subject(subject)
        .with_client(cx.client().as_ref().map(client_name))
        .with_trace_parent(trace.as_deref());
    record.address = cx.extension::<ClientAddress>().map(ToString::to_string);
    record
}

/// Returns the name and version of a client.
pub(crate) fn client_name(client: &Implementation) -> String {
    format!("{} {}", client.name, client.version)
}

/// Returns how a request ended.
pub(crate) fn reply_outcome(reply: &Reply) -> AuditOutcome {
    let is_failed = match reply {
        Ok(ServerResult::CallTool(result)) => result.is_error,
        Ok(ServerResult::Raw(raw)) => {
            raw.field_texts().any(|(name, value)| name.as_str() == "isError" && value == "true")
        }
        Ok(_) => false,
        Err(_) => true,
    };
    if is_failed { AuditOutcome::Error } else { AuditOutcome::Ok }
}

fn encoded(result: &ServerResult) -> Option<Raw> {
    match result {
        ServerResult::Raw(raw) => Some(raw.clone()),
        result => Raw::encode(result).ok(),
    }
}
