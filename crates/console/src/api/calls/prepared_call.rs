//! A request that was checked: what can be refused before anything is sent, is.

use std::time::Duration;

use http::StatusCode;
use serde::Serialize;
use switchboard_json::{FromRaw, Raw};
use switchboard_protocol::{Meta, Tool};

use crate::api::ConsoleState;
use crate::api::catalog::tool_permission;
use crate::api::host_failure::check_server;
use crate::contract::{ApiError, CallRequest, Permission};

/// The longest timeout of a call.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// A call that can be sent.
pub(super) enum PreparedCall {
    Tool(PreparedTool),
    /// A request with its parameters.
    Request {
        server: String,
        method: &'static str,
        params: Raw,
    },
}

/// A call of a tool that can be sent.
pub(super) struct PreparedTool {
    pub(super) server: String,
    pub(super) name: String,
    pub(super) arguments: Raw,
    pub(super) meta: Option<Meta>,
    pub(super) as_task: bool,
    pub(super) is_confirmed: bool,
    pub(super) timeout: Option<Duration>,
}

impl PreparedCall {
    /// Checks a request.
    ///
    /// # Errors
    /// `404 unknown_server` or `unknown_tool`, `400 invalid_arguments`, `403 denied`, `409 confirmation_required`.
    pub(super) fn new(state: &ConsoleState, request: &CallRequest) -> Result<Self, ApiError> {
        match request {
            CallRequest::Tool { server, name, arguments_json, meta_json, as_task, confirmed, timeout_ms } => {
                check_server(&state.host, server)?;
                let arguments = parse_object("arguments", arguments_json)?;
                check_tool(state, server, name, &arguments, *confirmed)?;
                let meta = meta_json.as_deref().map(|text| parse_object("_meta", text)).transpose()?;
                let meta = meta.as_ref().map(Meta::from_raw).transpose();
                let timeout = timeout_ms.map(|ms| Duration::from_millis(ms.max(1)).min(MAX_TIMEOUT));
                Ok(Self::Tool(PreparedTool {
                    server: server.clone(),
                    name: name.clone(),
                    arguments,
                    meta: meta.map_err(|error| invalid(format!("`_meta` is not valid: {error}")))?,
                    as_task: *as_task,
                    is_confirmed: *confirmed,
                    timeout,
                }))
            }
            CallRequest::Resource { server, uri } => {
                #[derive(Serialize)]
                struct Params<'a> {
                    uri: &'a str,
                }
                Self::request(state, server, "resources/read", &Params { uri })
            }
            CallRequest::Prompt { server, name, arguments } => {
                #[derive(Serialize)]
                struct Params<'a> {
                    name: &'a str,
                    arguments: &'a std::collections::BTreeMap<String, String>,
                }
                Self::request(state, server, "prompts/get", &Params { name, arguments })
            }
        }
    }

    fn request(
        state: &ConsoleState,
        server: &str,
        method: &'static str,
        params: &impl Serialize,
    ) -> Result<Self, ApiError> {
        check_server(&state.host, server)?;
        let params = Raw::encode(params).map_err(|error| invalid(error.to_string()))?;
        Ok(Self::Request { server: server.to_owned(), method, params })
    }
}

/// Checks that a tool is listed, that its arguments fit, and that it may be called. A server that has not listed its tools
/// yet is started by the call, which makes the same checks.
fn check_tool(
    state: &ConsoleState,
    server: &str,
    name: &str,
    arguments: &Raw,
    is_confirmed: bool,
) -> Result<(), ApiError> {
    let catalog = state.host.catalog();
    let Some((listed, withheld)) = catalog.listing(server).and_then(|listing| listing.tool(name)) else {
        let is_ready = state.host.state(server).is_ok_and(|status| status.session_info().is_some());
        let unknown =
            ApiError::not_found("unknown_tool", format!("server `{server}` lists no tool `{name}`"))
                .with_next_step("look the tool up in the catalog; names are exact");
        return if is_ready { Err(unknown) } else { Ok(()) };
    };
    let forbidden = |message: String, next_step: &str| {
        ApiError::new(StatusCode::FORBIDDEN, "denied", message).with_next_step(next_step)
    };
    if let Some(reason) = withheld {
        let message = format!("tool `{name}` of server `{server}` is hidden: {reason}");
        return Err(forbidden(message, "change the rule that hides it"));
    }
    listed.check_arguments(arguments).map_err(invalid)?;
    match tool_permission(&state.host, server, listed.tool()) {
        Permission::Allow { .. } => Ok(()),
        Permission::Ask { .. } if is_confirmed => Ok(()),
        Permission::Ask { sentence } => Err(confirmation_required(listed.tool(), server, &sentence)),
        Permission::Deny { sentence, rule } => {
            let rule = rule.map(|rule| format!(" (rule `{rule}`)")).unwrap_or_default();
            let message = format!("tool `{name}` of server `{server}` is {sentence}{rule}");
            Err(forbidden(message, "change the permission rules"))
        }
    }
}

fn confirmation_required(tool: &Tool, server: &str, sentence: &str) -> ApiError {
    let message = format!("tool `{}` of server `{server}` requires confirmation: {sentence}", tool.name);
    ApiError::conflict("confirmation_required", message).with_next_step("confirm the call, or allow the tool")
}

fn parse_object(member: &str, text: &str) -> Result<Raw, ApiError> {
    let value =
        Raw::parse(text.to_owned()).map_err(|error| invalid(format!("`{member}` is not JSON: {error}")))?;
    match value.is_object() {
        true => Ok(value),
        false => Err(invalid(format!("`{member}` is not a JSON object"))),
    }
}

fn invalid(message: String) -> ApiError {
    ApiError::bad_request("invalid_arguments", message).with_next_step("correct the arguments")
}
