//! Connects to the service that the options name.

use std::io::IsTerminal;
use std::sync::Arc;

use http::header::{HeaderName, HeaderValue};
use switchboard_design::Design;
use switchboard_http::{Address, HttpClient, HttpClientOptions, PlainHttp};
use switchboard_session::client::{ClientSession, Limits};
use switchboard_session::server::{InProcess, Server};
use switchboard_session::{CallError, RevisionPolicy};
use switchboard_transport::http::client::Http;
use switchboard_transport::stdio::Stdio;

use super::error::CliError;
use super::options::CliOptions;
use super::terminal_handler::TerminalHandler;
use crate::rpc::RpcCaller;

/// How to reach the service.
#[derive(Debug)]
pub(super) enum ServiceTarget {
    /// In this process.
    InProcess(Arc<Server>),
    /// Over HTTP.
    Http(Box<Http>),
    /// A child process over stdio.
    Stdio(Box<Stdio>),
}

/// Returns the name of the environment variable with the default URL of a service.
pub(super) fn url_variable(design: &Design) -> String {
    let upper = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' };
    format!("{}_URL", design.name.chars().map(upper).collect::<String>())
}

/// Returns the URL of the service from the options, else from the environment.
fn service_url(options: &CliOptions, design: &Design) -> Option<String> {
    let from_environment = || std::env::var(url_variable(design)).ok().filter(|url| !url.is_empty());
    options.url.clone().or_else(from_environment)
}

impl ServiceTarget {
    /// Reads the target from the options, else from the environment.
    ///
    /// # Errors
    /// When neither names a target, or it is invalid.
    pub(super) fn read(options: &CliOptions, design: &Design) -> Result<Self, CliError> {
        match (&options.stdio, service_url(options, design)) {
            (Some(command), _) => stdio_target(command),
            (None, Some(url)) => http_target(&url, options),
            (None, None) => {
                let variable = url_variable(design);
                Err(CliError::usage("no address of the service")
                    .hint(format!("give --url URL, or --stdio COMMAND, or set {variable}")))
            }
        }
    }

    /// Opens a session.
    ///
    /// # Errors
    /// When the connection fails.
    pub(super) async fn open(self, options: &CliOptions) -> Result<ClientSession, CallError> {
        let mut client = crate::client::client().with_limits(limits(options)).with_tasks();
        if let Some(revision) = options.revision {
            client = client.with_revisions(RevisionPolicy::Only(revision));
        }
        if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            client = client.with_answers(TerminalHandler::default());
        }
        match self {
            Self::InProcess(server) => client.connect(InProcess::new(&server)).await,
            Self::Http(http) => client.connect(*http).await,
            Self::Stdio(command) => client.connect(*command).await,
        }
    }
}

/// Returns a caller for the plain JSON-RPC endpoint, by default on the same host as the service.
///
/// # Errors
/// When the address is missing or invalid.
pub(super) fn rpc_caller(options: &CliOptions, design: &Arc<Design>) -> Result<RpcCaller, CliError> {
    let same_host = || {
        let url = service_url(options, design)?;
        let path = design.rpc.as_deref()?;
        let start = url.find("://")? + 3;
        let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |end| start + end);
        Some(format!("{}{path}", &url[..end]))
    };
    let url = options
        .rpc_url
        .clone()
        .or_else(same_host)
        .ok_or_else(|| CliError::usage("no address of the plain endpoint").hint("give --rpc-url URL"))?;
    let wrong = |error: &dyn std::fmt::Display| {
        CliError::usage(format!("the address of the plain endpoint: {error}"))
    };
    let rule = if options.allow_http { PlainHttp::Allowed } else { PlainHttp::LoopbackOnly };
    let address = Address::parse(&url, rule).map_err(|error| wrong(&error))?;
    let client = HttpClient::new(HttpClientOptions::from_environment()).map_err(|error| wrong(&error))?;
    let mut caller = RpcCaller::at(address, client, Arc::clone(design));
    if let Some(time) = options.timeout {
        caller = caller.with_timeout(time);
    }
    for header in &options.headers {
        let (name, value) = parse_header(header)?;
        caller = caller.with_header(name, value);
    }
    Ok(caller)
}

fn limits(options: &CliOptions) -> Limits {
    let mut limits = Limits::default();
    if let Some(time) = options.timeout {
        limits.startup = time;
        limits.call_idle = time;
        limits.call_total = time;
        limits.read = time;
        limits.complete = time;
    }
    limits
}

fn http_target(url: &str, options: &CliOptions) -> Result<ServiceTarget, CliError> {
    let mut http = Http::new(url);
    if options.allow_http {
        http = http.allow_plain_http();
    }
    http.check().map_err(|error| {
        CliError::usage(format!("the address of the service: {error}"))
            .hint("an address looks like https://example.com/mcp; beyond this machine, plain http needs --allow-http")
    })?;
    for header in &options.headers {
        let (name, value) = parse_header(header)?;
        // Created from a `str`, so it is valid UTF-8.
        http = http.header(name.as_str(), value.to_str().unwrap_or_default());
    }
    Ok(ServiceTarget::Http(Box::new(http)))
}

/// Parses a header: `Name=value` or `Name: value`.
fn parse_header(text: &str) -> Result<(HeaderName, HeaderValue), CliError> {
    // The value may be secret: error messages do not contain it.
    let wrong = |why: &str| CliError::usage(format!("--header: {why}")).hint("write it as NAME=VALUE");
    let (name, value) = text.split_once(['=', ':']).ok_or_else(|| wrong("`=` is missing"))?;
    let name = HeaderName::from_bytes(name.trim().as_bytes())
        .map_err(|_| wrong("the text before `=` is not a header name"))?;
    let mut value =
        HeaderValue::from_str(value.trim()).map_err(|_| wrong("the value contains an invalid character"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn stdio_target(command: &str) -> Result<ServiceTarget, CliError> {
    let wrong = || {
        CliError::usage("--stdio: not a command: empty, or with an unclosed quote")
            .hint("write it as one text: --stdio 'my-service serve --stdio'")
    };
    let words = split_command(command).ok_or_else(wrong)?;
    let (program, args) = words.split_first().ok_or_else(wrong)?;
    Ok(ServiceTarget::Stdio(Box::new(Stdio::new(program).args(args.iter().cloned()))))
}

/// Splits a command like a shell, with quotes and escapes; `None` if a quote is not closed.
fn split_command(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (char, quote) {
            (char, Some(open)) if char == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().push(chars.next()?),
            (char, Some(_)) => word.get_or_insert_default().push(char),
            ('\'' | '"', None) => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (char, None) if char.is_whitespace() => words.extend(word.take()),
            (char, None) => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_like_in_a_shell() {
        let read = |text| split_command(text).map(|words| words.join("|"));
        assert_eq!(read("a  b 'c d' \"e'f\" g\\ h ''").as_deref(), Some("a|b|c d|e'f|g h|"));
        assert_eq!(read("a 'b"), None);
        assert_eq!(read("a \\"), None);
        assert_eq!(split_command("  "), Some(vec![]));
    }

    #[test]
    fn header_values_do_not_appear_in_errors() {
        let (name, value) = parse_header("X-Key=a=b").unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-key", "a=b"));
        assert!(value.is_sensitive());
        for wrong in ["hunter2", "a b=hunter2", "X=hunter2\u{7}"] {
            let failure = format!("{:?}", parse_header(wrong).unwrap_err());
            assert!(!failure.contains("hunter2"), "{failure}");
        }
    }

    #[test]
    fn the_url_variable_contains_the_service_name() {
        assert_eq!(url_variable(&Design::new("my-texts.v2", "1")), "MY_TEXTS_V2_URL");
    }
}
