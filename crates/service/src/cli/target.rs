//! From the options of a command line to an open session with the service.

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

use super::ask::AtTerminal;
use super::failure::Failure;
use super::options::Options;
use crate::rpc::RpcCaller;

/// Where the service is.
#[derive(Debug)]
pub(super) enum Target {
    /// In this program.
    Here(Arc<Server>),
    /// At an address.
    Http(Box<Http>),
    /// A program to start.
    Program(Box<Stdio>),
}

/// The variable that says where a service is when the command line does not.
pub(super) fn variable(design: &Design) -> String {
    let upper = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' };
    format!("{}_URL", design.name.chars().map(upper).collect::<String>())
}

impl Target {
    /// What the command line says, else the environment.
    ///
    /// # Errors
    /// When nothing says it, or what does is wrong.
    pub(super) fn read(options: &Options, design: &Design) -> Result<Self, Failure> {
        let variable = variable(design);
        let told = || std::env::var(&variable).ok().filter(|url| !url.is_empty());
        match (&options.stdio, options.url.clone().or_else(told)) {
            (Some(command), _) => program(command),
            (None, Some(url)) => address(&url, options),
            (None, None) => Err(Failure::usage("nothing says where the service is")
                .hint(format!("give --url URL, or --stdio COMMAND, or set {variable}"))),
        }
    }

    /// Opens a session.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub(super) async fn open(self, options: &Options) -> Result<ClientSession, CallError> {
        let mut client = crate::client::client().with_limits(limits(options)).with_tasks();
        if let Some(revision) = options.revision {
            client = client.with_revisions(RevisionPolicy::Only(revision));
        }
        if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            client = client.with_answers(AtTerminal::default());
        }
        match self {
            Self::Here(server) => client.connect(InProcess::new(&server)).await,
            Self::Http(http) => client.connect(*http).await,
            Self::Program(command) => client.connect(*command).await,
        }
    }
}

/// The plain endpoint: where the command line says, else beside the service itself.
///
/// # Errors
/// When nothing says where, or what does is wrong.
pub(super) fn plain(options: &Options, design: &Arc<Design>) -> Result<RpcCaller, Failure> {
    let told = || std::env::var(variable(design)).ok().filter(|url| !url.is_empty());
    let beside = || {
        let url = options.url.clone().or_else(told)?;
        let path = design.rpc.as_deref()?;
        let start = url.find("://")? + 3;
        let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |end| start + end);
        Some(format!("{}{path}", &url[..end]))
    };
    let url = options.rpc_url.clone().or_else(beside).ok_or_else(|| {
        Failure::usage("nothing says where the plain endpoint is").hint("give --rpc-url URL")
    })?;
    let wrong =
        |error: &dyn std::fmt::Display| Failure::usage(format!("the address of the plain endpoint: {error}"));
    let rule = if options.allow_http { PlainHttp::Allowed } else { PlainHttp::LoopbackOnly };
    let address = Address::parse(&url, rule).map_err(|error| wrong(&error))?;
    let client = HttpClient::new(HttpClientOptions::from_environment()).map_err(|error| wrong(&error))?;
    let mut caller = RpcCaller::at(address, client, Arc::clone(design));
    if let Some(time) = options.timeout {
        caller = caller.with_timeout(time);
    }
    for given in &options.headers {
        let (name, value) = header(given)?;
        caller = caller.with_header(name, value);
    }
    Ok(caller)
}

fn limits(options: &Options) -> Limits {
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

fn address(url: &str, options: &Options) -> Result<Target, Failure> {
    let mut http = Http::new(url);
    if options.allow_http {
        http = http.allow_plain_http();
    }
    http.check().map_err(|error| {
        Failure::usage(format!("the address of the service: {error}"))
            .hint("an address looks like https://example.com/mcp; beyond this machine, plain http needs --allow-http")
    })?;
    for given in &options.headers {
        let (name, value) = header(given)?;
        // Made from text, so that it is text.
        http = http.header(name.as_str(), value.to_str().unwrap_or_default());
    }
    Ok(Target::Http(Box::new(http)))
}

/// A header as it is written: `Name=value` or `Name: value`.
fn header(given: &str) -> Result<(HeaderName, HeaderValue), Failure> {
    // The value may be a secret: it is never said.
    let wrong = |why: &str| Failure::usage(format!("--header: {why}")).hint("write it as NAME=VALUE");
    let (name, value) = given.split_once(['=', ':']).ok_or_else(|| wrong("there is no = in it"))?;
    let name = HeaderName::from_bytes(name.trim().as_bytes())
        .map_err(|_| wrong("what stands before the = is not the name of a header"))?;
    let mut value = HeaderValue::from_str(value.trim())
        .map_err(|_| wrong("the value holds a character that no header has"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn program(command: &str) -> Result<Target, Failure> {
    let wrong = || {
        Failure::usage("--stdio: this is no command: a quote is not closed, or there are no words")
            .hint("write it as one text: --stdio 'my-service serve --stdio'")
    };
    let words = words(command).ok_or_else(wrong)?;
    let (program, args) = words.split_first().ok_or_else(wrong)?;
    Ok(Target::Program(Box::new(Stdio::new(program).args(args.iter().cloned()))))
}

/// The words of a command, with quotes as a shell has them; nothing when one is not closed.
fn words(text: &str) -> Option<Vec<String>> {
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
    fn a_command_is_split_as_a_shell_splits_it() {
        let read = |text| words(text).map(|words| words.join("|"));
        assert_eq!(read("a  b 'c d' \"e'f\" g\\ h ''").as_deref(), Some("a|b|c d|e'f|g h|"));
        assert_eq!(read("a 'b"), None);
        assert_eq!(read("a \\"), None);
        assert_eq!(words("  "), Some(vec![]));
    }

    #[test]
    fn a_header_is_a_name_and_a_value_which_is_never_said() {
        let (name, value) = header("X-Key=a=b").unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-key", "a=b"));
        assert!(value.is_sensitive());
        for wrong in ["hunter2", "a b=hunter2", "X=hunter2\u{7}"] {
            let failure = format!("{:?}", header(wrong).unwrap_err());
            assert!(!failure.contains("hunter2"), "{failure}");
        }
    }

    #[test]
    fn the_variable_has_the_name_of_the_service() {
        assert_eq!(variable(&Design::new("my-texts.v2", "1")), "MY_TEXTS_V2_URL");
    }
}
