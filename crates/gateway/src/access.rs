//! Access to targets: policy, limits and audit around every request of a gateway.
//!
//! Order: the policy decides, the audit log has room for the record, the limits are charged, and only then something is
//! sent. A denied target is answered exactly like an unknown one; only the audit log knows the difference.

use std::future::Future;
use std::sync::Arc;

use parking_lot::RwLock;
use serde_json::json;
use switchboard_protocol::{ErrorCode, Implementation, Meta, Raw, RpcError, ServerResult, ToolAnnotations};
use switchboard_session::server::{Reply, RequestContext};
use switchboard_transport::http::server::ClientAddress;

use crate::audit::{AuditLog, AuditOutcome, AuditRecord};
use crate::drain::DrainState;
use crate::error_reason::{ErrorReason, with_reason};
use crate::limits::{Operation, RateLimited, RateLimiter};
use crate::metrics::{GatewayMetrics, MeteredTarget, RequestMeter};
use crate::open_record::OpenRecord;
use crate::options::GatewayOptions;
use crate::policy::{Decision, Effect, Policy, Subject, Target, TargetKind};
use crate::refusal::RefusalSender;

/// The policy, the limits and the audit log of a gateway.
pub(crate) struct Access {
    // Held for a clone, never across an await.
    rules: RwLock<Arc<AccessRules>>,
    /// Whether limits or an audit log may be added later.
    is_replaceable: bool,
    pub(crate) drain: DrainState,
    pub(crate) refusals: RefusalSender,
    metrics: Option<Arc<GatewayMetrics>>,
}

/// The part of [`Access`] that is replaced as a whole. A request takes it once: a replacement meanwhile mixes no old parts
/// with new ones.
#[derive(Clone)]
pub(crate) struct AccessRules {
    policy: Arc<Policy>,
    limits: Option<Arc<RateLimiter>>,
    audit: Option<AuditLog>,
}

impl AccessRules {
    fn new(options: &GatewayOptions) -> Self {
        Self {
            policy: Arc::clone(&options.policy),
            limits: options.limits.clone().filter(|limits| !limits.is_empty()),
            audit: options.audit.clone(),
        }
    }

    /// Returns whether rules may rely on the annotations that a server lists.
    pub(crate) fn trusts_annotations(&self, server: &str) -> bool {
        self.policy.trusts_annotations(server)
    }

    /// Returns the filter of lists for a caller; `None` if everything is shown.
    pub(crate) fn list_filter<'a>(&self, subject: Subject<'a>) -> Option<ListFilter<'a>> {
        let shows_all = self.policy.rule_count() == 0 && self.policy.default_effect() == Effect::Allow;
        (!shows_all).then(|| ListFilter { policy: Arc::clone(&self.policy), subject })
    }

    /// Decides about a target without arguments.
    pub(crate) fn decide(&self, subject: &Subject<'_>, target: &Target<'_>) -> Decision {
        self.policy.decide(subject, target, None)
    }

    pub(crate) fn decide_subscription(&self, subject: &Subject<'_>, server: &str, uri: &str) -> Decision {
        self.policy.decide(subject, &Target::new(server, TargetKind::Subscription, uri), None)
    }
}

/// A request for a target.
pub(crate) struct AccessRequest<'a> {
    /// The rules that apply to it.
    pub(crate) rules: Arc<AccessRules>,
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
        Self {
            rules: RwLock::new(Arc::new(AccessRules::new(options))),
            is_replaceable: options.is_replaceable,
            drain: DrainState::default(),
            refusals: RefusalSender::default(),
            metrics: options.metrics.clone(),
        }
    }

    /// Returns the rules that apply to a request that arrives now.
    pub(crate) fn rules(&self) -> Arc<AccessRules> {
        Arc::clone(&self.rules.read())
    }

    /// Returns the policy.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.rules.read().policy)
    }

    /// Replaces the policy for all requests that arrive from now on.
    pub(crate) fn set_policy(&self, policy: Policy) {
        let mut rules = self.rules.write();
        *rules = Arc::new(AccessRules { policy: Arc::new(policy), ..AccessRules::clone(&rules) });
    }

    /// Replaces policy, limits and audit log for all requests that arrive from now on.
    pub(crate) fn replace(&self, options: &GatewayOptions) {
        *self.rules.write() = Arc::new(AccessRules::new(options));
    }

    /// Returns whether requests other than calls have to be limited or recorded, now or after a replacement.
    pub(crate) fn has_layer(&self) -> bool {
        let rules = self.rules.read();
        let is_recorded = rules.audit.is_some() || self.metrics.is_some();
        self.is_replaceable || rules.limits.is_some() || is_recorded
    }

    /// Returns where requests are counted.
    pub(crate) fn metrics(&self) -> Option<&Arc<GatewayMetrics>> {
        self.metrics.as_ref()
    }

    /// Returns the limits.
    pub(crate) fn limits(&self) -> Option<Arc<RateLimiter>> {
        self.rules.read().limits.clone()
    }

    /// Returns the audit log.
    pub(crate) fn audit(&self) -> Option<AuditLog> {
        self.rules.read().audit.clone()
    }

    /// As [`AccessRules::list_filter`], of now.
    pub(crate) fn list_filter<'a>(&self, subject: Subject<'a>) -> Option<ListFilter<'a>> {
        self.rules().list_filter(subject)
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
        let AccessRequest { rules, subject, method, target, arguments, meta, unknown } = request;
        let decision = rules.policy.decide(&subject, &target, arguments);
        rules.policy.mark_used(&decision);
        let target_of = MeteredTarget::Known(&target);
        let record = || new_record(cx, method, &subject, meta).with_target(&target);
        let mut entry = self.begin(&rules, (method, target_of), record).await?.of_handler(cx);
        entry.update(|log, record| {
            record.set_decision(&decision);
            record.arguments = log.arguments(&subject, &target, arguments);
        });
        if let Some(outcome) = self.count_decision(&subject, &target, &decision) {
            let error = refusal(&decision, &subject, unknown);
            entry.end(outcome, Some(&error)).await;
            return Err(error);
        }
        // After the decision: a target that is denied answers like an unknown one until the end.
        let _running = match self.drain.begin_call() {
            Ok(running) => running,
            Err(error) => {
                entry.end(AuditOutcome::Error, Some(&error)).await;
                return Err(error);
            }
        };
        if let Err(refused) = self.check_limits(&rules, &subject, &[Operation::Call(&target)]).await {
            return Err(entry.end_limited(&refused).await);
        }
        let reply = call.await;
        if let Ok(result) = &reply {
            entry.update(|log, record| {
                record.result = log.result(&subject, &target, encoded(result).as_ref())
            });
        }
        entry.end(reply_outcome(reply.as_ref()), reply.as_ref().err()).await;
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
        let record = || new_record(cx, method, subject, None).with_identifier(name);
        let entry = self.begin(&self.rules(), (method, MeteredTarget::Unknown), record).await?;
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
        let decision = self.rules().decide_subscription(subject, server, uri);
        match decision.is_allowed() {
            true => Ok(()),
            false => Err(refusal(&decision, subject, unknown)),
        }
    }

    /// Charges the limits of all operations of a request, or none of them.
    ///
    /// # Errors
    /// When one of them is exceeded.
    pub(crate) async fn check_limits(
        &self,
        rules: &AccessRules,
        subject: &Subject<'_>,
        operations: &[Operation<'_>],
    ) -> Result<(), RateLimited> {
        let Some(limits) = &rules.limits else { return Ok(()) };
        let checked = limits.check_all(subject, operations).await;
        if let (Err(refused), Some(metrics)) = (&checked, &self.metrics) {
            metrics.record_rate_limited(&refused.limit);
        }
        if let (Err(refused), Some(first)) = (&checked, operations.first()) {
            let target = match first {
                Operation::Call(target) => Ok(*target),
                Operation::List => Err("list"),
                Operation::Discover => Err("discover"),
            };
            self.refusals.announce(subject, target, || {
                (AuditOutcome::RateLimited, Some(refused.limit.clone()), refused.to_string())
            });
        }
        checked
    }

    /// Counts a decision that refuses a request, and returns its outcome.
    pub(crate) fn count_decision(
        &self,
        subject: &Subject<'_>,
        target: &Target<'_>,
        decision: &Decision,
    ) -> Option<AuditOutcome> {
        if let Some(metrics) = &self.metrics {
            metrics.record_decision(decision);
        }
        let outcome = AuditOutcome::of_decision(decision)?;
        self.refusals.announce(subject, Ok(target), || {
            let rule = decision.rule().map(ToString::to_string);
            let reason = match decision {
                Decision::Deny { reason, .. } => reason.to_string(),
                Decision::MissingScope { scopes, .. } => format!("the scope {} is missing", scopes.join(" ")),
                Decision::Allow { .. } => String::new(),
            };
            (outcome, rule, reason)
        });
        Some(outcome)
    }

    /// Begins the record of a request, if there is an audit log, and its measurement, if there are metrics.
    ///
    /// # Errors
    /// When the call must not be made because it cannot be recorded.
    pub(crate) async fn begin(
        &self,
        rules: &AccessRules,
        (method, target): (&str, MeteredTarget<'_>),
        record: impl FnOnce() -> AuditRecord,
    ) -> Result<OpenRecord, RpcError> {
        let meter = self.metrics.as_ref().map(|metrics| RequestMeter::new(metrics, method, target));
        let Some(audit) = &rules.audit else { return Ok(OpenRecord::new(None, meter)) };
        match audit.begin(record()).await {
            Ok(entry) => Ok(OpenRecord::new(Some((audit.clone(), entry)), meter)),
            Err(error) => {
                meter.into_iter().for_each(|meter| meter.end(AuditOutcome::Error));
                let message = format!("{error}\nNothing was sent; try again later.");
                Err(with_reason(ErrorCode::INTERNAL_ERROR, ErrorReason::AuditUnavailable, message))
            }
        }
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

    /// Returns whether targets of a kind may be shown, whatever servers list.
    pub(crate) fn may_show_kind(&self, kind: TargetKind) -> bool {
        self.policy.may_show_kind(&self.subject, kind)
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

/// Returns the error for the caller of a refused request.
fn refusal(decision: &Decision, subject: &Subject<'_>, unknown: RpcError) -> RpcError {
    match decision {
        // Without an identity there is nothing to extend.
        Decision::MissingScope { scopes, .. } if subject.principal.is_some() => {
            let message = format!("insufficient scope: {} required", scopes.join(" "));
            RpcError::invalid_request(message).with_data(Raw::from(json!({ "scopes": scopes })))
        }
        _ => unknown,
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
        .with_auth_method(cx.caller().and_then(|caller| caller.auth_method))
        .with_client(cx.client().as_ref().map(client_name))
        .with_session(cx.session_key())
        .with_trace_parent(trace.as_deref());
    record.address = cx.extension::<ClientAddress>().map(ToString::to_string);
    record
}

/// Returns the name and version of a client.
pub(crate) fn client_name(client: &Implementation) -> String {
    format!("{} {}", client.name, client.version)
}

/// Returns how a request ended.
pub(crate) fn reply_outcome(reply: Result<&ServerResult, &RpcError>) -> AuditOutcome {
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
