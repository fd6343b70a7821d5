//! A server at an address: from what the user wrote to something that can be connected to.
//!
//! Invariant: nothing that is said here shows the value of a header, a token or a variable, right or wrong.

use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use switchboard::http::{Address, AddressError, Bearer, Secret};
use switchboard::transport::http::client::EndpointError;
use switchboard::{Http, HttpBinding, HttpLimits};

use crate::args::{Remote, Transport};
use crate::expand::Expander;
use crate::failure::Failure;
use crate::header_program;

/// Headers that say how a message travels. They are written for each message, so that one given here would be lost or
/// break it.
const OURS: [&str; 16] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// How long the header helper may take.
const HELPING: Duration = Duration::from_secs(10);

/// A server at an address, ready to be connected to.
pub(crate) struct Endpoint {
    pub(crate) http: Http,
    pub(crate) address: Address,
    /// What must not be seen in a trace.
    pub(crate) secrets: Vec<String>,
}

/// Reads the address and what is sent along, with `${NAME}` filled in as in a file; runs the header helper where there is
/// one, when all else is right.
///
/// # Errors
/// Says what is wrong with the command line, or with the helper.
pub(crate) async fn endpoint(
    remote: &Remote,
    url: &str,
    max_message: Option<usize>,
) -> Result<Endpoint, Failure> {
    let expander = Expander::default();
    let mut http = Http::new(expander.expand("--url", url)?).binding(match remote.transport {
        Transport::Auto => HttpBinding::Auto,
        Transport::Http => HttpBinding::Streamable,
        Transport::Sse => HttpBinding::Sse,
    });
    if remote.allow_http {
        http = http.allow_plain_http();
    }
    let address = http.check().map_err(|error| match error {
        EndpointError::Address(error) => wrong_address(error, url),
        other => Failure::usage(format!("--header: {other}")),
    })?;
    let mut secrets = Vec::new();
    let mut headers = HeaderMap::new();
    for given in &remote.headers {
        let (name, value) = header(given, &expander)?;
        secrets.extend(words(&value));
        headers.append(name, value);
    }
    secrets.extend(expander.into_values());
    if let Some(name) = &remote.bearer_env {
        let token = token(name)?;
        let bearer = Bearer::new(&token).map_err(|error| Failure::usage(format!("${name}: {error}")))?;
        secrets.push(token.expose().to_owned());
        http = http.authorizer(Arc::new(bearer));
    }
    if let Some(command) = &remote.header_helper {
        let mut fresh = HeaderMap::new();
        for (name, value) in header_program::run(command, HELPING).await? {
            let (name, value) = check(&name, &value).map_err(|why| header_program::failed(&why))?;
            secrets.extend(words(&value));
            fresh.append(name, value);
        }
        // What the helper says counts more than what was written once.
        headers.extend(fresh);
    }
    if remote.bearer_env.is_some() && headers.contains_key(AUTHORIZATION) {
        return Err(Failure::usage("--bearer-env and another Authorization header were given")
            .hint("leave one of them out"));
    }
    if let Some(bytes) = max_message {
        let mut limits = HttpLimits::default();
        limits.event_bytes = bytes;
        http = http.limits(limits);
    }
    for (name, value) in &headers {
        // Made from text, so that it is text.
        http = http.header(name.as_str(), value.to_str().unwrap_or_default());
    }
    Ok(Endpoint { http, address, secrets })
}

/// What is wrong with an address, as it was written.
fn wrong_address(error: AddressError, written: &str) -> Failure {
    let hint = match error {
        AddressError::Plain { .. } => "use https, or pass --allow-http if you trust the network in between",
        AddressError::UserInfo => "use --bearer-env NAME or -H 'Authorization: …'",
        _ => "expected a URL like https://example.com/mcp",
    };
    let what = match error {
        error if !written.contains("${") => error.to_string(),
        AddressError::UserInfo | AddressError::Fragment | AddressError::TooLong { .. } => error.to_string(),
        AddressError::Plain { .. } => {
            "plain http to another machine would send everything in the open".to_owned()
        }
        // The others quote what was filled in, which may be secret.
        _ => "with its variables filled in this is not an address; check their values".to_owned(),
    };
    Failure::usage(format!("--url: {what}")).hint(hint)
}

fn token(name: &str) -> Result<Secret, Failure> {
    match std::env::var(name) {
        Ok(token) => Ok(Secret::new(token.trim())),
        Err(std::env::VarError::NotPresent) => {
            Err(Failure::usage(format!("--bearer-env: the variable {name} is not set")))
        }
        Err(_) => Err(Failure::usage(format!("--bearer-env: the variable {name} is not UTF-8 text"))),
    }
}

/// A header as it was given, with the variables in its value filled in.
fn header(given: &Secret, expander: &Expander) -> Result<(HeaderName, HeaderValue), Failure> {
    let wrong = |why: &str| Failure::usage(format!("--header: {why}")).hint("expected 'Name: value'");
    let (name, value) = given.expose().split_once(':').ok_or_else(|| wrong("there is no colon in it"))?;
    // Before any variable is read: what is not a name must not be told with a value.
    check(name, "").map_err(|why| wrong(&why))?;
    let value = expander.expand(&format!("--header {}", name.trim()), value)?;
    check(name, &value).map_err(|why| wrong(&why))
}

/// A header that may be sent.
fn check(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    // A name that is none may be a value that lost its name.
    let name = HeaderName::from_bytes(name.trim().as_bytes())
        .map_err(|_| "the part before the colon is not a valid header name".to_owned())?;
    if OURS.contains(&name.as_str()) {
        return Err(format!("{name} is set by the transport and cannot be given"));
    }
    let mut value = HeaderValue::from_str(value.trim())
        .map_err(|_| format!("the value of {name} contains a character that is not allowed in a header"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// The value, and the words of it: a token is a secret without its `Bearer`, too.
fn words(value: &HeaderValue) -> Vec<String> {
    let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
    let parts: Vec<String> = text.split_whitespace().skip(1).map(str::to_owned).collect();
    std::iter::once(text).chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_a_name_and_a_value_and_none_of_ours() {
        let read = |text: &str| header(&Secret::new(text), &Expander::default());
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
    fn a_token_is_hidden_with_and_without_its_scheme() {
        assert_eq!(words(&HeaderValue::from_static("Bearer abc def")), ["Bearer abc def", "abc", "def"]);
    }
}
