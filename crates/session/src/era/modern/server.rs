//! The server side of the modern era: admits a request by its `_meta`, encodes its result.

use std::time::Duration;

use switchboard_protocol::{
    ClientCapabilities, Era, FromRaw, InputRequired, Meta, OrderedMap, Raw, Revision, RpcError, ServerResult,
};

use crate::era::ServerProfile;
use crate::era::classify::ClientMeta;
use crate::era::modern::replay::RunOutcome;
use crate::era::modern::seal::{StateBinding, seal};
use crate::era::serving::unsupported_version;

/// Returns the revision in which a request is served.
///
/// # Errors
/// When the server does not support the version.
pub(crate) fn admit(server: &ServerProfile, client_meta: &ClientMeta) -> Result<Revision, RpcError> {
    let is_offered = |revision: &Revision| revision.era() == Era::Modern && server.revisions.has(*revision);
    let revision = client_meta.revision.filter(is_offered);
    revision.ok_or_else(|| unsupported_version(server, &client_meta.version))
}

/// Creates the error for a request that needs an undeclared client capability.
pub(crate) fn missing_capability(required: &ClientCapabilities) -> RpcError {
    let data = serde_json::json!({ "requiredCapabilities": required });
    RpcError::new(
        switchboard_protocol::ErrorCode::MISSING_CLIENT_CAPABILITY,
        "the request needs a client capability that it did not declare",
    )
    .with_data(data)
}

/// How long a client may take for a round of input.
const ROUND_TTL: Duration = Duration::from_secs(600);

/// Converts the outcome of a run into a reply: questions become an `input_required` result with the sealed state.
pub(crate) fn reply_of_run(
    server: &ServerProfile,
    binding: impl FnOnce() -> Result<StateBinding, RpcError>,
    outcome: RunOutcome,
) -> Result<ServerResult, RpcError> {
    match outcome {
        RunOutcome::Replied(reply) => reply,
        RunOutcome::Refused(error) => Err(error),
        RunOutcome::Questions(questions, state) => {
            let sealed = seal(&server.state_keys, &binding()?, &state, ROUND_TTL)?;
            let mut input = InputRequired::again(sealed);
            input.input_requests = Some(questions).filter(|questions| !questions.is_empty());
            Ok(input.into())
        }
    }
}

/// Encodes a result: adds `resultType`, and the server info in `_meta`.
pub(crate) fn encode_result(server: &ServerProfile, mut result: ServerResult) -> Result<Raw, RpcError> {
    let failed = |error: switchboard_protocol::EncodeError| RpcError::internal(error.to_string());
    if let ServerResult::InputRequired(_) | ServerResult::CreateTask(_) = result {
        // They contain their `resultType`.
        let meta = result.meta_mut().map(Option::get_or_insert_default);
        if let Some(meta) = meta.filter(|meta| meta.get(Meta::SERVER_INFO).is_none()) {
            meta.insert(Meta::SERVER_INFO, server.info_text.clone());
        }
        return Raw::encode(&result).map_err(failed);
    }
    if let ServerResult::Raw(raw) = &mut result {
        return encode_relayed(server, raw);
    }
    let has_own_meta = match result.meta_mut() {
        // Most results have no `_meta` of their own: then it is appended as text.
        Some(None) => false,
        Some(Some(meta)) => {
            if meta.get(Meta::SERVER_INFO).is_none() {
                meta.insert(Meta::SERVER_INFO, server.info_text.clone());
            }
            true
        }
        None => true,
    };
    let close = if has_own_meta { "}" } else { &server.signature };
    Raw::encode_between(r#"{"resultType":"complete","#, &result, close, result.size_hint()).map_err(failed)
}

/// Encodes a relayed result, JSON text: its members, with the `resultType` and the server info of this server.
fn encode_relayed(server: &ServerProfile, raw: &Raw) -> Result<Raw, RpcError> {
    let failed = |error: switchboard_protocol::EncodeError| RpcError::internal(error.to_string());
    let members = raw.fields().map(|(name, value)| (name.as_str().to_owned(), value));
    let mut members: OrderedMap<Raw> = members.collect();
    members.remove("resultType");
    let meta = members.remove("_meta").and_then(|meta| Meta::from_raw(&meta).ok());
    let close = match meta.filter(|meta| !meta.is_empty()) {
        None => &server.signature,
        Some(mut meta) => {
            meta.insert(Meta::SERVER_INFO, server.info_text.clone());
            members.insert("_meta", Raw::encode(&meta).map_err(failed)?);
            "}"
        }
    };
    if members.is_empty() {
        let text = format!(r#"{{"resultType":"complete"{close}"#);
        return Raw::parse(text).map_err(|error| RpcError::internal(error.to_string()));
    }
    Raw::encode_between(r#"{"resultType":"complete","#, &members, close, raw.len()).map_err(failed)
}
