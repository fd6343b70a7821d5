//! Resolves a server at a URL from the command line: address, headers and credentials.
//!
//! Invariant: no message contains the value of a header, a token or a variable, valid or not.

use std::sync::Arc;

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use switchboard::Http;
use switchboard::client::{HttpBinding, HttpLimits};
use switchboard::transport::http::client::{
    EndpointError, HeaderHelper, HeaderHelperError, is_reserved_header,
};
use switchboard::transport::http_client::{
    Address, AddressError, Authorizer, Bearer, HttpClientOptions, Secret,
};

use crate::args::{HttpTransport, RemoteArgs, SessionOptions};
use crate::error::{CommandError, ExitKind};
use crate::expand::Expander;
use crate::login::{AccountSelector, open_logins};
use crate::output::Screen;

/// The URL of a server behind a Unix socket.
const SOCKET_URL: &str = "http://localhost/mcp";

/// A server at a URL, ready to connect.
pub(crate) struct RemoteEndpoint {
    pub(crate) http: Http,
    pub(crate) address: Address,
    /// Values to mask in a trace.
    pub(crate) secrets: Vec<String>,
    /// Whether a stored login is used: no other credentials are given.
    pub(crate) uses_login: bool,
}

/// Resolves the URL and headers, with `${NAME}` expanded as in configuration files; runs the header helper last, if
/// there is one.
///
/// # Errors
/// Returns an error about the command line or the header helper.
pub(crate) async fn resolve_endpoint(
    remote: &RemoteArgs,
    url: &str,
    options: &SessionOptions,
) -> Result<RemoteEndpoint, CommandError> {
    let expander = Expander::default();
    let url = &expander.expand("--url", url)?;
    let socket = url.strip_prefix("unix:");
    let mut http =
        Http::new(if socket.is_some() { SOCKET_URL } else { url }).binding(match remote.transport {
            HttpTransport::Auto => HttpBinding::Auto,
            HttpTransport::Http => HttpBinding::Streamable,
            HttpTransport::Sse => HttpBinding::Sse,
        });
    if let Some(path) = socket {
        http = http.options(HttpClientOptions::default().with_unix_socket(path));
    }
    if remote.allow_http {
        http = http.allow_plain_http();
    }
    let address = http.check().map_err(|error| match error {
        EndpointError::Address(error) => address_error(error, url),
        other => CommandError::usage(format!("--header: {other}")),
    })?;
    let mut secrets = Vec::new();
    let mut headers = HeaderMap::new();
    for given in &remote.headers {
        let (name, value) = parse_header(given, &expander)?;
        secrets.extend(secret_parts(&value));
        headers.append(name, value);
    }
    secrets.extend(expander.into_values());
    if socket.is_none()
        && let Some(authorizer) = authorizer(remote, &address, options, &mut headers, &mut secrets).await?
    {
        http = http.authorizer(authorizer);
    }
    if let Some(bytes) = options.max_message {
        let mut limits = HttpLimits::default();
        limits.event_bytes = bytes;
        http = http.limits(limits);
    }
    for (name, value) in &headers {
        // The value was created from a string.
        http = http.header(name.as_str(), value.to_str().unwrap_or_default());
    }
    let has_own = socket.is_some() || remote.bearer_env.is_some() || remote.header_helper.is_some();
    let uses_login = !has_own && !headers.contains_key(AUTHORIZATION);
    Ok(RemoteEndpoint { http, address, secrets, uses_login })
}

/// Returns the credentials of requests: a token of the command line or a stored login, and the headers of the helper, which
/// override headers of the command line.
async fn authorizer(
    remote: &RemoteArgs,
    address: &Address,
    options: &SessionOptions,
    headers: &mut HeaderMap,
    secrets: &mut Vec<String>,
) -> Result<Option<Arc<dyn Authorizer>>, CommandError> {
    let mut authorizer: Option<Arc<dyn Authorizer>> = None;
    if let Some(name) = &remote.bearer_env {
        let token = read_token(name)?;
        let bearer = Bearer::new(&token).map_err(|error| CommandError::usage(format!("${name}: {error}")))?;
        secrets.push(token.expose().to_owned());
        authorizer = Some(Arc::new(bearer));
    } else if !headers.contains_key(AUTHORIZATION)
        && let Some(logins) = open_logins(&Screen::new())
    {
        let logins = logins.with_account(AccountSelector::new(options.account.as_deref(), true));
        authorizer = Some(logins.authorizer_for(address.clone(), None));
    }
    let mut has_authorization = headers.contains_key(AUTHORIZATION);
    if let Some(command) = &remote.header_helper {
        // The user typed it, so it gets the environment of the user.
        let helper = HeaderHelper::new(command).with_all_env();
        let printed = helper.run().await.map_err(helper_error)?;
        for (name, value) in &printed {
            secrets.extend(secret_parts(value));
            headers.remove(name);
            has_authorization |= name == AUTHORIZATION;
        }
        authorizer = Some(Arc::new(helper.authorizer(authorizer).with_headers(printed)));
    }
    if remote.bearer_env.is_some() && has_authorization {
        return Err(CommandError::usage("--bearer-env and another Authorization header were given")
            .hint("leave one of them out"));
    }
    Ok(authorizer)
}

/// Reports a header helper that failed.
fn helper_error(error: HeaderHelperError) -> CommandError {
    CommandError::new(ExitKind::Other, "header_helper", error.to_string())
        .with_stderr(&error.stderr)
        .hint("it must print one JSON object and nothing else, like {\"Authorization\": \"Bearer …\"}")
}

/// Reports an invalid URL. `written` is the URL before expansion.
fn address_error(error: AddressError, written: &str) -> CommandError {
    let hint = match error {
        AddressError::Plain { .. } => "use https, or pass --allow-http if you trust the network in between",
        AddressError::UserInfo => "use --bearer-env NAME or -H 'Authorization: …'",
        _ => "expected a URL like https://example.com/mcp",
    };
    let what = match error {
        error if !written.contains("${") => error.to_string(),
        AddressError::UserInfo | AddressError::Fragment | AddressError::TooLong { .. } => error.to_string(),
        AddressError::Plain { .. } => "plain http to another machine sends everything unencrypted".to_owned(),
        // The other messages quote the expanded URL, which may contain a secret.
        _ => "with its variables expanded this is not a URL; check their values".to_owned(),
    };
    CommandError::usage(format!("--url: {what}")).hint(hint)
}

fn read_token(name: &str) -> Result<Secret, CommandError> {
    match std::env::var(name) {
        Ok(token) => Ok(Secret::new(token.trim())),
        Err(std::env::VarError::NotPresent) => {
            Err(CommandError::usage(format!("--bearer-env: the variable {name} is not set")))
        }
        Err(_) => Err(CommandError::usage(format!("--bearer-env: the variable {name} is not UTF-8 text"))),
    }
}

/// Parses a header and expands the variables in its value.
fn parse_header(given: &Secret, expander: &Expander) -> Result<(HeaderName, HeaderValue), CommandError> {
    let usage = |why: &str| CommandError::usage(format!("--header: {why}")).hint("expected 'Name: value'");
    let (name, value) = given.expose().split_once(':').ok_or_else(|| usage("the colon is missing"))?;
    // Checked before expansion: an error about the name must not quote an expanded value.
    check_header(name, "").map_err(|why| usage(&why))?;
    let value = expander.expand(&format!("--header {}", name.trim()), value)?;
    check_header(name, &value).map_err(|why| usage(&why))
}

/// Checks a header and returns it.
fn check_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    // An invalid name may be a secret value without its name: do not quote it.
    let name = HeaderName::from_bytes(name.trim().as_bytes())
        .map_err(|_| "the part before the colon is not a valid header name".to_owned())?;
    if is_reserved_header(&name) {
        return Err(format!("{name} is set by the transport and cannot be given"));
    }
    let mut value = HeaderValue::from_str(value.trim())
        .map_err(|_| format!("the value of {name} contains a character that is not allowed in a header"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Returns the value and its words, because a token is secret without its `Bearer`, too.
fn secret_parts(value: &HeaderValue) -> Vec<String> {
    let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
    let parts: Vec<String> = text.split_whitespace().skip(1).map(str::to_owned).collect();
    std::iter::once(text).chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_a_name_and_a_value_and_is_not_reserved() {
        let read = |text: &str| parse_header(&Secret::new(text), &Expander::default());
        let (name, value) = read("X-Key:  a b ").unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-key", "a b"));
        assert!(value.is_sensitive());
        for wrong in [
            "hunter2",
            ": hunter2",
            "a b: hunter2",
            "Host: hunter2",
            "MCP-Session-Id: hunter2",
            "X: hunter2\n",
        ] {
            if let Err(failure) = read(wrong) {
                assert!(!format!("{failure:?}").contains("hunter2"), "{failure:?}");
            } else {
                assert_eq!(wrong, "X: hunter2\n", "only the white space around a value is dropped");
            }
        }
    }

    #[test]
    fn a_token_is_masked_with_and_without_its_scheme() {
        assert_eq!(
            secret_parts(&HeaderValue::from_static("Bearer abc def")),
            ["Bearer abc def", "abc", "def"]
        );
    }
}
