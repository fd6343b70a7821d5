//! The server's side of the modern era: admit a request by what it says of itself, finish its result.

use std::time::Duration;

use switchboard_protocol::{
    ClientCapabilities, InputRequired, Level, Meta, Raw, Revision, RpcError, ServerResult,
};

use crate::answering::Server;
use crate::era::classify::{Envelope, Said};
use crate::era::modern::replay::Run;
use crate::era::modern::seal::{Bound, seal};
use crate::era::unsupported_version;

/// What an admitted request said of its client.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Raw,
    pub(crate) client: Option<Raw>,
    pub(crate) log_level: Option<Level>,
}

/// Admits a request, or says what is wrong with it. Missing `_meta` comes before an unsupported version.
pub(crate) fn admit(server: &Server, said: Said) -> Result<Admitted, RpcError> {
    let Envelope { version, capabilities, client, log_level } = said.envelope()?;
    let modern = server.offer().modern();
    let Some(revision) = modern.into_iter().find(|revision| revision.as_str() == version) else {
        return Err(unsupported_version(server, &version));
    };
    Ok(Admitted { revision, capabilities, client, log_level })
}

/// The error for a request that needs what its client did not declare.
pub(crate) fn missing_capability(required: &ClientCapabilities) -> RpcError {
    let data = serde_json::json!({ "requiredCapabilities": required });
    RpcError::new(
        switchboard_protocol::ErrorCode::MISSING_CLIENT_CAPABILITY,
        "the request needs a client capability that it did not declare",
    )
    .with_data(data)
}

/// How long a client may take for a round of input.
const ROUND: Duration = Duration::from_secs(600);

/// Turns a run of a handler into its reply: questions become a result that asks, with the state sealed.
pub(crate) fn finish(
    server: &Server,
    bound: impl FnOnce() -> Bound,
    run: Run,
) -> Result<ServerResult, RpcError> {
    match run {
        Run::Replied(reply) => reply,
        Run::Refused(error) => Err(error),
        Run::Questions(questions, carried) => {
            let mut input = InputRequired::new(questions);
            input.request_state = Some(seal(server.state_keys(), &bound(), &carried, ROUND)?);
            Ok(input.into())
        }
    }
}

/// Decorates the text of a result: `resultType` in front unless it is there, and who answered in `_meta`.
pub(crate) fn decorate(server: &Server, mut result: ServerResult) -> Result<Raw, RpcError> {
    let failed = |error: switchboard_protocol::EncodeError| RpcError::internal(error.to_string());
    if let Some(meta) = result.meta_mut() {
        let meta = meta.get_or_insert_default();
        if meta.get(Meta::SERVER_INFO).is_none() {
            meta.insert(Meta::SERVER_INFO, server.info_text().clone());
        }
    }
    let says_type = matches!(&result, ServerResult::InputRequired(_) | ServerResult::CreateTask(_));
    let text = Raw::encode(&result).map_err(failed)?;
    if says_type || !text.is_object() {
        return Ok(text);
    }
    let rest = text.as_str()[1..].trim_start();
    let comma = if rest.starts_with('}') { "" } else { "," };
    Raw::parse(format!(r#"{{"resultType":"complete"{comma}{rest}"#))
        .map_err(|error| RpcError::internal(error.to_string()))
}
