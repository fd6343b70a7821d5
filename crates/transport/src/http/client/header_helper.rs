//! Header helper: a command of the user that prints HTTP headers. It runs when a connection needs them, and once more when
//! the server refuses them.
//!
//! Invariants: its output is never shown, because it contains secrets; it is bounded in time and size; it and its child
//! processes are killed unless it exits by itself; it runs once for all requests that wait for it.

use std::fmt;
use std::io;
use std::process::Stdio as Redirect;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use switchboard_http::{
    AuthorizeError, Authorizer, BoxFuture, Credentials, RequestTarget, Retry, UnauthorizedResponse,
};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;

use crate::stdio::Stdio;

/// The most bytes that a helper may print.
const MAX_OUTPUT: usize = 64 * 1024;
/// How much of its stderr is kept.
const STDERR_TAIL: usize = 4 * 1024;
/// How long a helper may run, unless another timeout is set.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// Headers that the transport sets for each message. Another value would be lost or break the message.
const RESERVED: [&str; 16] = [
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

/// Returns whether the transport sets this header itself, so that a value of the user is refused.
pub fn is_reserved_header(name: &HeaderName) -> bool {
    RESERVED.contains(&name.as_str())
}

/// A command that prints HTTP headers: one JSON object of strings, and nothing else. It runs in a shell, with the variables
/// that a server would get.
///
/// ```
/// use switchboard::Stdio;
/// use switchboard::transport::http::client::HeaderHelper;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let helper = HeaderHelper::new(r#"echo "{\"X-Team\": \"$TEAM\"}""#).with_env("TEAM", "blue");
/// let headers = helper.run().await?;
/// assert_eq!(headers[0].0, "x-team");
/// assert_eq!(headers[0].1, "blue");
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderHelper {
    shell: Stdio,
    timeout: Duration,
    inherits_all: bool,
}

/// Why a header helper failed. The message holds nothing of its output.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HeaderHelperError {
    /// What went wrong.
    pub reason: String,
    /// The end of its stderr output, which may be shown to the user who wrote the command.
    pub stderr: String,
}

impl HeaderHelper {
    /// Creates the helper that runs this command in a shell.
    pub fn new(command: impl Into<String>) -> Self {
        let shell = Stdio::new("sh").args(["-c".to_owned(), command.into()]);
        Self { shell, timeout: DEFAULT_TIMEOUT, inherits_all: false }
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.shell = self.shell.env(name, value);
        self
    }

    /// Sets an environment variable, unless it is set already.
    #[must_use]
    pub fn with_default_env(self, name: &str, value: &str) -> Self {
        match self.shell.variables().iter().any(|(known, _)| known == name) {
            true => self,
            false => self.with_env(name, value),
        }
    }

    /// Inherits a variable of this process.
    #[must_use]
    pub fn with_inherited_env(mut self, name: &str) -> Self {
        self.shell = self.shell.inherit_env(name);
        self
    }

    /// Inherits every variable of this process: for a command that its user typed.
    #[must_use]
    pub fn with_all_env(mut self) -> Self {
        self.inherits_all = true;
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn with_directory(mut self, directory: impl Into<std::path::PathBuf>) -> Self {
        self.shell = self.shell.cwd(directory.into());
        self
    }

    /// Sets how long it may run; the default is 10 s.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs the command and returns the headers it printed; values are marked sensitive.
    ///
    /// # Errors
    /// If it cannot be started, fails, times out, or prints anything but one JSON object of valid headers.
    ///
    /// # Cancellation
    /// Dropping the future kills the command and its child processes.
    pub async fn run(&self) -> Result<Vec<(HeaderName, HeaderValue)>, HeaderHelperError> {
        let mut shell = Command::new(self.shell.program());
        shell.args(self.shell.arguments());
        match self.inherits_all {
            true => shell.envs(self.shell.variables().iter().map(|(name, value)| (name, value))),
            false => shell.env_clear().envs(self.shell.environment()),
        };
        if let Some(directory) = self.shell.directory() {
            shell.current_dir(directory);
        }
        shell.stdin(Redirect::null()).stdout(Redirect::piped()).stderr(Redirect::piped());
        let child = shell.process_group(0).kill_on_drop(true).spawn();
        let child = child.map_err(|error| failed(format!("it cannot be started: {error}")))?;
        let mut group = ProcessGroup { id: child.id().and_then(|id| Pid::from_raw(id.cast_signed())), child };
        match tokio::time::timeout(self.timeout, group.finish()).await {
            Ok(finished) => parse_headers(&finished?),
            Err(_) => Err(failed(format!("it did not end within {:?}", self.timeout))),
        }
    }

    /// Returns an authorizer that sends the headers. `inner` provides further credentials, unless the helper prints an
    /// `Authorization` header.
    pub fn authorizer(self, inner: Option<Arc<dyn Authorizer>>) -> HeaderHelperAuthorizer {
        HeaderHelperAuthorizer { helper: self, inner, current: Mutex::default() }
    }
}

fn failed(reason: impl Into<String>) -> HeaderHelperError {
    HeaderHelperError { reason: reason.into(), stderr: String::new() }
}

impl fmt::Display for HeaderHelperError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the header helper failed: {}", self.reason)
    }
}

impl std::error::Error for HeaderHelperError {}

impl From<HeaderHelperError> for AuthorizeError {
    fn from(error: HeaderHelperError) -> Self {
        Self::Failed { what: error.to_string(), source: Some(Arc::new(error)) }
    }
}

/// Sends the headers of a [`HeaderHelper`], and runs it again when the server refuses them.
pub struct HeaderHelperAuthorizer {
    helper: HeaderHelper,
    inner: Option<Arc<dyn Authorizer>>,
    /// What the helper printed last. Held while it runs, so that all requests share one run.
    current: Mutex<Option<PrintedHeaders>>,
}

type PrintedHeaders = Arc<Vec<(HeaderName, HeaderValue)>>;

impl HeaderHelperAuthorizer {
    /// Uses these headers, which the helper has just printed, until the server refuses them.
    #[must_use]
    pub fn with_headers(mut self, headers: Vec<(HeaderName, HeaderValue)>) -> Self {
        *self.current.get_mut() = Some(Arc::new(headers));
        self
    }

    async fn headers(&self) -> Result<PrintedHeaders, AuthorizeError> {
        let mut current = self.current.lock().await;
        if let Some(printed) = &*current {
            return Ok(Arc::clone(printed));
        }
        let printed = Arc::new(self.helper.run().await?);
        *current = Some(Arc::clone(&printed));
        Ok(printed)
    }

    /// Returns the authorizer of further credentials, unless the helper authenticates by itself.
    fn inner(&self, printed: &PrintedHeaders) -> Option<&dyn Authorizer> {
        let is_complete = printed.iter().any(|(name, _)| name == AUTHORIZATION);
        self.inner.as_deref().filter(|_| !is_complete)
    }

    /// Returns whether other headers than those that were sent are known, or printed by one more run.
    async fn renew(&self, response: &UnauthorizedResponse<'_>) -> Result<bool, AuthorizeError> {
        let mut current = self.current.lock().await;
        let was_sent =
            |printed: &PrintedHeaders| printed.iter().all(|header| response.sent.headers().contains(header));
        if current.as_ref().is_some_and(|printed| !was_sent(printed)) {
            return Ok(true);
        }
        // Once for each request: a second refusal is the answer.
        if response.attempt > 1 {
            return Ok(false);
        }
        let printed = Arc::new(self.helper.run().await?);
        let is_other = !was_sent(&printed);
        *current = Some(printed);
        Ok(is_other)
    }
}

impl Authorizer for HeaderHelperAuthorizer {
    fn authorize<'a>(
        &'a self,
        target: RequestTarget<'a>,
    ) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        Box::pin(async move {
            let printed = self.headers().await?;
            let credentials = match self.inner(&printed) {
                Some(inner) => inner.authorize(target).await?,
                None => Credentials::none(),
            };
            let add = |credentials: Credentials, (name, value): &(HeaderName, HeaderValue)| {
                credentials.with_header(name.clone(), value.clone())
            };
            Ok(printed.iter().fold(credentials, add))
        })
    }

    fn handle_unauthorized<'a>(
        &'a self,
        response: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(async move {
            if self.renew(&response).await? {
                return Ok(Retry::Again);
            }
            let printed = self.headers().await?;
            match self.inner(&printed) {
                Some(inner) => inner.handle_unauthorized(response).await,
                None => Ok(Retry::GiveUp),
            }
        })
    }

    fn observe_response(&self, target: RequestTarget<'_>, status: StatusCode, headers: &HeaderMap) {
        if let Some(inner) = &self.inner {
            inner.observe_response(target, status, headers);
        }
    }
}

impl fmt::Debug for HeaderHelperAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeaderHelperAuthorizer").field("inner", &self.inner).finish_non_exhaustive()
    }
}

/// The shell and its child processes: one process group, killed on drop unless it has finished.
struct ProcessGroup {
    id: Option<Pid>,
    child: Child,
}

impl ProcessGroup {
    async fn finish(&mut self) -> Result<Vec<u8>, HeaderHelperError> {
        let (Some(out), Some(err)) = (self.child.stdout.take(), self.child.stderr.take()) else {
            return Err(failed("it has no output"));
        };
        let (printed, stderr) =
            tokio::try_join!(read_bounded(out), read_tail(err)).map_err(|error| failed(error.to_string()))?;
        let status = self.child.wait().await.map_err(|error| failed(error.to_string()))?;
        self.id = None;
        if status.success() {
            return Ok(printed);
        }
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        Err(HeaderHelperError { stderr, ..failed(status.to_string()) })
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // The process group may have ended already.
            _ = kill_process_group(id, Signal::KILL);
        }
    }
}

async fn read_bounded(out: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let mut printed = Vec::new();
    out.take(MAX_OUTPUT as u64 + 1).read_to_end(&mut printed).await?;
    if printed.len() > MAX_OUTPUT {
        Err(io::Error::other(format!("it printed more than {MAX_OUTPUT} bytes")))
    } else {
        Ok(printed)
    }
}

async fn read_tail(mut err: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let (mut kept, mut chunk) = (Vec::new(), [0; 1024]);
    loop {
        match err.read(&mut chunk).await? {
            0 => return Ok(kept),
            count => kept.extend_from_slice(&chunk[..count]),
        }
        kept.drain(..kept.len().saturating_sub(STDERR_TAIL));
    }
}

fn parse_headers(printed: &[u8]) -> Result<Vec<(HeaderName, HeaderValue)>, HeaderHelperError> {
    // Not the parser's message: it quotes the input.
    let object: serde_json::Map<String, Value> =
        serde_json::from_slice(printed).map_err(|_| failed("its output is not a JSON object"))?;
    let header = |(name, value): (String, Value)| {
        let Value::String(text) = value else {
            return Err(failed("a value in its output is not a string"));
        };
        let name = HeaderName::from_bytes(name.trim().as_bytes())
            .map_err(|_| failed("a key in its output is not a valid header name"))?;
        if is_reserved_header(&name) {
            return Err(failed(format!("{name} is set by the transport and cannot be given")));
        }
        let mut value = HeaderValue::from_str(text.trim()).map_err(|_| {
            failed(format!("the value of {name} has a character that is not allowed in a header"))
        })?;
        value.set_sensitive(true);
        Ok((name, value))
    };
    object.into_iter().map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_helper_that_does_not_end_is_killed() {
        let endless = HeaderHelper::new("sleep 600 & wait").with_timeout(Duration::from_millis(50));
        let failure = endless.run().await.unwrap_err().to_string();
        assert!(failure.contains("did not end within 50ms"), "{failure}");
        let failure = HeaderHelper::new("yes").run().await.unwrap_err().to_string();
        assert!(failure.contains("more than 65536 bytes"), "{failure}");
    }

    #[tokio::test]
    async fn a_helper_gets_its_own_variables_and_no_others() {
        let print = r#"echo "{\"a\": \"$CARGO_MANIFEST_DIR\", \"b\": \"$B\", \"c\": \"${HOME:+home}\"}""#;
        let values = |headers: Vec<(HeaderName, HeaderValue)>| -> Vec<String> {
            headers.iter().map(|(_, value)| value.to_str().unwrap().to_owned()).collect()
        };
        let limited = HeaderHelper::new(print).with_env("B", "2").with_default_env("B", "3");
        assert_eq!(values(limited.run().await.unwrap()), ["", "2", "home"]);
        let inherited = limited.clone().with_inherited_env("CARGO_MANIFEST_DIR");
        assert!(values(inherited.run().await.unwrap())[0].contains("transport"));
    }

    #[test]
    fn only_an_object_of_headers_is_accepted_and_never_shown() {
        assert_eq!(parse_headers(br#"{"A": "1", "B": ""}"#).unwrap().len(), 2);
        assert!(parse_headers(b"{}").unwrap().is_empty());
        for wrong in [
            "",
            "hunter2",
            "[\"hunter2\"]",
            "{\"A\": {\"hunter2\": 1}}",
            "{\"A\": \"hunter2\"} x",
            "{\"A\": 4711}",
            "{\"A\": \"hunter2\\n\\u0001\"}",
            "{\"hunter2 \\u0001\": \"x\"}",
            "{\"Content-Length\": \"hunter2\"}",
        ] {
            let failure = format!("{:?}", parse_headers(wrong.as_bytes()).unwrap_err());
            assert!(!failure.contains("hunter2") && !failure.contains("4711"), "{failure}");
        }
    }
}
