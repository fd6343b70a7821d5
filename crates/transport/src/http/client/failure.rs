//! Maps HTTP errors and error responses to link errors.

use std::sync::Arc;
use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use switchboard_http::{
    AuthorizeError, Challenge as HttpChallenge, ConnectKind, HttpError, Response, TimeoutPhase, TlsReason,
};
use switchboard_protocol::RpcError;
use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_session::link::{Challenge, LinkError, LoginRequirement, UnreachableKind};

/// Bounds of the wait that a server may ask for.
const SHORTEST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// Maps an error of the HTTP client to a link error.
pub(crate) fn link_error(error: &HttpError) -> LinkError {
    match error {
        HttpError::TooLarge { limit } => LinkError::TooLarge { limit: *limit },
        HttpError::Broken { sent, .. } => LinkError::Lost { reason: error.to_string(), sent: *sent },
        HttpError::Redirect { status, .. } => {
            LinkError::Refused { status: status.as_u16(), text: error.to_string() }
        }
        HttpError::Authorize(refusal) => match login_requirement(refusal) {
            // The authorizer knows already that the server would answer 401.
            Some(requirement) => LinkError::Challenged(Arc::new(
                Challenge::new(StatusCode::UNAUTHORIZED.as_u16()).with_requirement(requirement),
            )),
            None => LinkError::Unreachable { reason: reason(error), kind: UnreachableKind::Other },
        },
        _ if error.is_unsent() => {
            LinkError::Unreachable { reason: reason(error), kind: unreachable_kind(error) }
        }
        _ => LinkError::lost(error.to_string()),
    }
}

/// Returns what has to happen before there are credentials; `None` for a failure that may pass.
pub fn login_requirement(error: &AuthorizeError) -> Option<LoginRequirement> {
    match error {
        AuthorizeError::NeedsLogin => Some(LoginRequirement::Login),
        AuthorizeError::NeedsClientRegistration { issuer, redirect_uri } => {
            Some(LoginRequirement::ClientRegistration {
                issuer: issuer.clone(),
                redirect_uri: redirect_uri.clone(),
            })
        }
        AuthorizeError::BlockedByAdmin { code, message } => {
            Some(LoginRequirement::Administrator { code: code.clone(), message: message.clone() })
        }
        AuthorizeError::AmbiguousAccount { accounts } => {
            Some(LoginRequirement::Account { accounts: accounts.clone() })
        }
        _ => None,
    }
}

/// Returns the error text, with its cause if the text itself is too general.
fn reason(error: &HttpError) -> String {
    match error {
        HttpError::Tls {
            reason: TlsReason::Other | TlsReason::BadCertificate, source: Some(source), ..
        }
        | HttpError::Connect { kind: ConnectKind::Other, source: Some(source), .. } => {
            format!("{error}: {source}")
        }
        _ => error.to_string(),
    }
}

fn unreachable_kind(error: &HttpError) -> UnreachableKind {
    match error {
        HttpError::Connect { kind, .. } => match kind {
            ConnectKind::Dns => UnreachableKind::Dns,
            ConnectKind::Refused => UnreachableKind::Refused,
            ConnectKind::Timeout | ConnectKind::Unreachable => UnreachableKind::Network,
            ConnectKind::ProxyCredentials | ConnectKind::Proxy | ConnectKind::ProxyKind => {
                UnreachableKind::Proxy
            }
            _ => UnreachableKind::Other,
        },
        HttpError::Tls { .. } | HttpError::Roots { .. } => UnreachableKind::Tls,
        HttpError::Timeout { phase: TimeoutPhase::Tls, .. } => UnreachableKind::Tls,
        _ => UnreachableKind::Other,
    }
}

/// Reads an error response: a JSON-RPC error from its body, or else the link error for its status.
pub(crate) async fn read_error(response: Response) -> Result<RpcError, LinkError> {
    let Response { status, headers, body, .. } = response;
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(LinkError::Challenged(Arc::new(challenge(status, &headers))));
    }
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        return Err(LinkError::TooLargeForServer);
    }
    if status == StatusCode::TOO_MANY_REQUESTS {
        return Err(LinkError::RateLimited { retry_after: retry_after(&headers) });
    }
    let beginning = body.prefix(switchboard_http::ERROR_BODY_LIMIT).await;
    // A JSON-RPC error counts, whatever the status.
    if let Ok(Message::Single(Envelope::Response(answer))) = jsonrpc::parse(beginning.bytes.clone())
        && let Err(error) = answer.outcome
    {
        return Ok(error);
    }
    Err(LinkError::Refused { status: status.as_u16(), text: printable(&beginning.bytes) })
}

/// Reads a response that rejects a stream, or a message on it.
pub(crate) async fn read_rejection(response: Response, status: u16) -> LinkError {
    match read_error(response).await {
        Ok(error) => LinkError::Refused { status, text: error.message },
        Err(error) => error,
    }
}

/// Returns the beginning of a text of the server without control characters.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}

fn challenge(status: StatusCode, headers: &HeaderMap) -> Challenge {
    let all = HttpChallenge::from_headers(headers);
    let bearer = all.iter().find(|challenge| challenge.is_bearer()).or(all.first());
    let mut challenge = Challenge::new(status.as_u16());
    if let Some(found) = bearer {
        challenge.resource_metadata.clone_from(&found.resource_metadata);
        challenge.scope.clone_from(&found.scope);
        challenge.error.clone_from(&found.error);
        challenge.description.clone_from(&found.error_description);
    }
    challenge
}

/// Returns the `Retry-After` seconds within bounds.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).clamp(SHORTEST_WAIT, LONGEST_WAIT))
}

/// Adds up to 12 % of jitter, so that many clients of one server do not all retry at once.
pub(crate) fn jittered(wait: Duration) -> Duration {
    let mut byte = [0];
    let _ = getrandom::fill(&mut byte);
    wait + wait.mul_f64(f64::from(byte[0]) / 2048.0)
}
