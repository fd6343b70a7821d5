//! The device authorization grant (RFC 8628): a user confirms a code in a browser on any device, and the client polls.
//!
//! Invariants: at most one poll per interval, which `slow_down` and failures of the network lengthen and nothing shortens;
//! polling ends when the code expires, after half an hour at most; nothing is shown that has control characters or names a URL
//! that must not be called.

use std::fmt;
use std::time::Duration;

use http::header::HeaderMap;
use serde::Deserialize;
use switchboard_http::{BoxFuture, Secret};
use tokio::time::Instant;

use crate::client_auth::OAuthClient;
use crate::error::{AuthError, CallbackError};
use crate::fetch::Fetcher;
use crate::form::Form;
use crate::metadata::ServerMetadata;
use crate::token::{TokenEndpoint, TokenResponse};

/// The grant type of the device authorization grant.
pub(crate) const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The interval if the server names none (RFC 8628, section 3.2).
const DEFAULT_INTERVAL: Duration = Duration::from_secs(5);
/// The bounds of the interval that a server may name.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
const LONGEST_INTERVAL: Duration = Duration::from_secs(60);
/// The addition of `slow_down`.
const SLOW_DOWN: Duration = Duration::from_secs(5);
/// The longest time until a code expires, whatever the server says.
const LONGEST_LIFETIME: Duration = Duration::from_secs(30 * 60);
/// The longest code that a user can be asked to type.
const MAX_USER_CODE: usize = 64;
/// The longest device code.
const MAX_DEVICE_CODE: usize = 16 * 1024;
/// The longest URL that is shown.
const MAX_URI: usize = 2 * 1024;

/// The code and URLs of one device login, to be shown to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DevicePrompt {
    /// The code that the user types in.
    pub user_code: String,
    /// The page on which the user types the code.
    pub verification_uri: String,
    /// The same page with the code filled in, as for a QR code; not all servers have one.
    pub verification_uri_complete: Option<String>,
    /// How long the code is valid.
    pub expires_in: Duration,
}

/// Shows the code of a device login to the user. The client polls meanwhile.
pub trait DeviceChannel: Send + Sync {
    /// Shows a prompt. It may take as long as the login does: it is dropped when the login ends.
    ///
    /// # Errors
    /// When nothing can be shown, or the user gives up. The login ends then.
    fn show<'a>(&'a self, prompt: &'a DevicePrompt) -> BoxFuture<'a, Result<(), AuthError>>;
}

/// A code that waits for the user.
pub(crate) struct PendingDevice {
    pub(crate) prompt: DevicePrompt,
    device_code: Secret,
    interval: Duration,
}

/// The JSON of a device authorization response (RFC 8628, section 3.2).
#[derive(Deserialize)]
struct DeviceAnswer {
    device_code: String,
    user_code: String,
    // The name in a draft, which Google uses.
    #[serde(alias = "verification_url")]
    verification_uri: String,
    #[serde(default)]
    verification_uri_complete: Option<String>,
    expires_in: u64,
    #[serde(default)]
    interval: Option<u64>,
}

/// Requests a code. The form holds scopes and resource.
///
/// # Errors
/// [`AuthError::DeviceUnsupported`] if the server has no endpoint for it.
pub(crate) async fn request(
    fetcher: &Fetcher,
    server: &ServerMetadata,
    client: &OAuthClient,
    mut form: Form,
) -> Result<PendingDevice, AuthError> {
    let endpoint = server
        .device_authorization_endpoint
        .as_deref()
        .ok_or_else(|| AuthError::DeviceUnsupported { issuer: server.issuer.clone() })?;
    let address = fetcher.check("device authorization endpoint", endpoint)?;
    let mut headers = HeaderMap::new();
    client.authenticate(server, &mut form, &mut headers)?;
    let answer = fetcher.post_form(address, form.finish(), headers).await?;
    let decoded: DeviceAnswer = answer.decode()?;
    decoded.into_pending(fetcher).map_err(|problem| problem.into_error(endpoint, answer.status.as_u16()))
}

/// What is wrong with a device authorization response.
#[derive(Debug)]
enum DeviceProblem {
    Member(&'static str),
    Url(AuthError),
}

impl DeviceProblem {
    fn into_error(self, url: &str, status: u16) -> AuthError {
        match self {
            Self::Member(name) => AuthError::Malformed {
                url: url.to_owned(),
                status,
                reason: format!("`{name}` is empty, too long, or not printable"),
            },
            Self::Url(error) => error,
        }
    }
}

impl DeviceAnswer {
    fn into_pending(self, fetcher: &Fetcher) -> Result<PendingDevice, DeviceProblem> {
        check_text("device_code", &self.device_code, MAX_DEVICE_CODE)?;
        check_text("user_code", &self.user_code, MAX_USER_CODE)?;
        check_text("verification_uri", &self.verification_uri, MAX_URI)?;
        // A user opens them, so they must not be a script or a file either.
        let check = |url: &str| fetcher.check("verification URI", url).map_err(DeviceProblem::Url);
        check(&self.verification_uri)?;
        if let Some(url) = &self.verification_uri_complete {
            check_text("verification_uri_complete", url, MAX_URI)?;
            check(url)?;
        }
        let interval = self.interval.map_or(DEFAULT_INTERVAL, Duration::from_secs);
        Ok(PendingDevice {
            device_code: Secret::new(self.device_code),
            interval: interval.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL),
            prompt: DevicePrompt {
                user_code: self.user_code,
                verification_uri: self.verification_uri,
                verification_uri_complete: self.verification_uri_complete,
                expires_in: Duration::from_secs(self.expires_in).min(LONGEST_LIFETIME),
            },
        })
    }
}

fn check_text(name: &'static str, text: &str, limit: usize) -> Result<(), DeviceProblem> {
    let is_fine = !text.is_empty() && text.len() <= limit && !text.chars().any(char::is_control);
    is_fine.then_some(()).ok_or(DeviceProblem::Member(name))
}

impl PendingDevice {
    /// Shows the prompt, and polls until the user has confirmed or denied it, or the code has expired.
    pub(crate) async fn wait(
        self,
        endpoint: &TokenEndpoint<'_>,
        target: &Form,
        channel: &dyn DeviceChannel,
    ) -> Result<TokenResponse, AuthError> {
        let deadline = Instant::now() + self.prompt.expires_in;
        let polling = async {
            match tokio::time::timeout_at(deadline, self.poll(endpoint, target)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(expired()),
            }
        };
        tokio::select! {
            outcome = polling => outcome,
            // A prompt that was shown leaves the other branch.
            Err(error) = channel.show(&self.prompt) => Err(error),
        }
    }

    async fn poll(&self, endpoint: &TokenEndpoint<'_>, target: &Form) -> Result<TokenResponse, AuthError> {
        let mut interval = self.interval;
        loop {
            tokio::time::sleep(interval).await;
            let mut form = Form::default();
            form.add("grant_type", DEVICE_CODE);
            form.add("device_code", self.device_code.expose());
            form.append(target);
            match endpoint.request(form).await {
                Err(error) => interval = next_interval(interval, error)?,
                granted => return granted,
            }
        }
    }
}

/// Returns the interval after a poll that failed.
///
/// # Errors
/// When polling again does not help.
fn next_interval(interval: Duration, error: AuthError) -> Result<Duration, AuthError> {
    match error.code() {
        Some("authorization_pending") => Ok(interval),
        // For this and all further polls (RFC 8628, section 3.5).
        Some("slow_down") => Ok(interval + SLOW_DOWN),
        Some("expired_token") => Err(expired()),
        Some("access_denied") => match error {
            AuthError::Endpoint { error, .. } => Err(CallbackError::Denied(error).into()),
            other => Err(other),
        },
        // "Exponential backoff" on a timeout: the same section.
        _ if error.is_transient() => Ok((interval * 2).min(LONGEST_INTERVAL.max(interval))),
        _ => Err(error),
    }
}

fn expired() -> AuthError {
    AuthError::LoginAborted("nobody confirmed the code before it expired; start the login again".to_owned())
}

impl fmt::Debug for PendingDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingDevice").field("prompt", &self.prompt).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use switchboard_http::{Address, HttpClient, HttpClientOptions, PlainHttp};

    use super::*;
    use crate::error::OAuthError;

    fn fetcher() -> Fetcher {
        let server = Address::parse("https://h.example/mcp", PlainHttp::LoopbackOnly).unwrap();
        Fetcher::new(HttpClient::new(HttpClientOptions::default()).unwrap(), &server)
    }

    fn read(changes: serde_json::Value) -> Result<PendingDevice, AuthError> {
        let mut answer = serde_json::json!({
            "device_code": "d", "user_code": "AB-CD", "verification_uri": "https://as.example/device", "expires_in": 600,
        });
        for (name, value) in changes.as_object().unwrap() {
            answer[name] = value.clone();
        }
        let answer: DeviceAnswer = serde_json::from_value(answer).unwrap();
        answer.into_pending(&fetcher()).map_err(|problem| problem.into_error("https://as.example/da", 200))
    }

    #[test]
    fn times_of_the_server_are_bounded() {
        for (changes, interval, lifetime) in [
            (serde_json::json!({}), 5, 600),
            (serde_json::json!({"interval": 0}), 1, 600),
            (serde_json::json!({"interval": 7, "expires_in": 0}), 7, 0),
            (serde_json::json!({"interval": u64::MAX, "expires_in": u64::MAX}), 60, 1800),
        ] {
            let pending = read(changes).unwrap();
            assert_eq!(
                (pending.interval.as_secs(), pending.prompt.expires_in.as_secs()),
                (interval, lifetime)
            );
        }
    }

    #[test]
    fn a_prompt_is_printable_and_names_checked_urls() {
        assert!(
            read(serde_json::json!({"verification_uri_complete": "https://as.example/device?c=1"})).is_ok()
        );
        for wrong in [
            serde_json::json!({"user_code": "A\u{1b}[2J"}),
            serde_json::json!({"user_code": ""}),
            serde_json::json!({"user_code": "x".repeat(65)}),
            serde_json::json!({"device_code": "x".repeat(16 * 1024 + 1)}),
            serde_json::json!({"verification_uri": format!("https://as.example/{}", "x".repeat(2048))}),
        ] {
            assert!(matches!(read(wrong.clone()), Err(AuthError::Malformed { .. })), "{wrong}");
        }
        for name in ["verification_uri", "verification_uri_complete"] {
            for url in
                ["http://as.example/device", "javascript:alert(1)", "https://localhost/device", "file:///x"]
            {
                let error = read(serde_json::json!({ name: url })).unwrap_err();
                assert!(matches!(error, AuthError::ForbiddenUrl { .. }), "{name} {url}: {error}");
            }
        }
    }

    #[test]
    fn an_interval_grows_and_never_shrinks() {
        let next = |interval: u64, code: &str| {
            let error = AuthError::Endpoint { url: String::new(), error: OAuthError::new(code, None) };
            next_interval(Duration::from_secs(interval), error).map(|interval| interval.as_secs())
        };
        assert_eq!(next(5, "authorization_pending").unwrap(), 5);
        assert_eq!(next(5, "slow_down").unwrap(), 10);
        assert_eq!(next(58, "slow_down").unwrap(), 63);
        assert_eq!(next(5, "server_error").unwrap(), 10);
        assert_eq!(next(63, "server_error").unwrap(), 63);
        assert!(matches!(next(5, "expired_token"), Err(AuthError::LoginAborted(_))));
        assert!(matches!(next(5, "access_denied"), Err(AuthError::Callback(CallbackError::Denied(_)))));
        assert!(matches!(next(5, "invalid_client"), Err(AuthError::Endpoint { .. })));
    }
}
