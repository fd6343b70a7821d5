//! Answers calls of `read_result`: by the principal that got the handle, under the policy of the tool that returned the result.

use std::sync::Arc;

use switchboard_protocol::Raw;
use switchboard_session::server::{Caller, Reply, RequestContext};

use crate::access::AccessRequest;
use crate::error::result_expired;
use crate::policy::{Target, TargetKind};
use crate::results::{KeptResult, ReadRequest, ResultOwner};
use crate::view::READ_RESULT;
use crate::view_state::ViewState;

/// Reads a kept result.
///
/// # Errors
/// When the arguments are invalid, or no result with this handle is kept for this caller, or the policy denies it.
pub(crate) async fn read_kept_result(
    state: Arc<ViewState>,
    cx: RequestContext,
    arguments: Option<Raw>,
) -> Reply {
    let request = ReadRequest::from_arguments(arguments.as_ref())?;
    let subject = state.subject(cx.caller());
    let Some(kept) = find(&state, &cx, &request.handle) else {
        let error = result_expired();
        let access = &state.gateway.access;
        access.record_unknown(&cx, &subject, ("tools/call", READ_RESULT), &error).await?;
        return Err(error);
    };
    let rules = state.gateway.access.rules();
    let annotations = {
        let trusted = rules.trusts_annotations(&kept.server);
        state.exposed().annotations(&kept.server, &kept.tool, trusted)
    };
    let target = Target::new(&kept.server, TargetKind::ResultHandle, &kept.tool);
    let access = AccessRequest {
        rules,
        subject,
        method: "tools/call",
        target: Target { annotations: annotations.as_ref(), ..target },
        arguments: Some(&kept.arguments),
        meta: None,
        unknown: result_expired(),
    };
    state.gateway.access.run(&cx, access, async { Ok(request.answer(&kept.text).into()) }).await
}

/// Returns the result of a handle, if this caller got it in this view, and the view still has its tool.
fn find(state: &ViewState, cx: &RequestContext, handle: &str) -> Option<Arc<KeptResult>> {
    let kept = state.gateway.results.find(handle, &result_owner(state, cx))?;
    state.rules().has_tool(&kept.server, &kept.tool).then_some(kept)
}

/// Returns who may read the results of a request.
pub(crate) fn result_owner(state: &ViewState, cx: &RequestContext) -> ResultOwner {
    ResultOwner { principal: cx.caller().map(Caller::principal), view: state.name.clone() }
}

/// Keeps the text of a result and returns its handle.
pub(crate) fn keep_result(
    state: &ViewState,
    cx: &RequestContext,
    (server, tool, arguments): (&Arc<str>, &str, &Raw),
    text: String,
) -> Option<String> {
    state.gateway.results.keep(KeptResult {
        owner: result_owner(state, cx),
        server: Arc::clone(server),
        tool: tool.to_owned(),
        arguments: arguments.settled(),
        text,
    })
}
