//! A tool call with its options.

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use bytestring::ByteString;
use switchboard_protocol::{
    CallToolResult, EncodeError, ErrorCode, Meta, ProgressParams, Raw, RpcError, TaskParams, TaskSupport,
    Tool,
};

use crate::client::ClientHandler;
use crate::client::call::{ClientCall, OnNote, OnProgress};
use crate::client::live_session::LiveSession;
use crate::client::session::{ClientSession, decode};
use crate::link::BoxFuture;
use crate::request::CallError;

/// A tool call. Awaiting it sends it; dropping it while it runs cancels it.
pub struct CallTool {
    session: ClientSession,
    name: ByteString,
    arguments: Result<Raw, EncodeError>,
    meta: Option<Meta>,
    idle: Option<Duration>,
    total: Option<Duration>,
    on_progress: Option<OnProgress>,
    on_note: Option<OnNote>,
    task: Option<TaskParams>,
    handler: Option<Arc<dyn ClientHandler>>,
}

impl CallTool {
    pub(crate) fn new(session: ClientSession, name: ByteString, arguments: Result<Raw, EncodeError>) -> Self {
        Self {
            session,
            name,
            arguments,
            meta: None,
            idle: None,
            total: None,
            on_progress: None,
            on_note: None,
            task: None,
            handler: None,
        }
    }

    /// Sets the total timeout, independent of progress.
    #[must_use]
    pub fn timeout(mut self, total: Duration) -> Self {
        self.total = Some(total);
        self.idle = self.idle.or(Some(total));
        self
    }

    /// Sets the timeout between two progress reports.
    #[must_use]
    pub fn idle_timeout(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Sets the callback for progress: in order, before the result.
    #[must_use]
    pub fn on_progress(mut self, callback: impl FnMut(ProgressParams) + Send + 'static) -> Self {
        self.on_progress = Some(Box::new(callback));
        self
    }

    /// Sets the callback for notifications of extensions that belong to this call: method and parameters, in order, before the
    /// result. Declare the extension with [`Client::with_extension`](crate::Client::with_extension): without that, servers
    /// send none.
    #[must_use]
    pub fn on_note(mut self, callback: impl FnMut(&str, Raw) + Send + 'static) -> Self {
        self.on_note = Some(Box::new(callback));
        self
    }

    /// Sets additional members of `_meta`.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Sets the handler of input requests within this call. A server of the legacy era does not name the call of a request;
    /// its requests go to the handler of the session.
    #[must_use]
    pub fn answers(mut self, answers: Arc<dyn ClientHandler>) -> Self {
        self.handler = Some(answers);
        self
    }

    /// Asks a server of 2025-11-25 to run the tool as a task, which is then polled until its result.
    #[must_use]
    pub fn as_task(mut self, params: TaskParams) -> Self {
        self.task = Some(params);
        self
    }

    /// Sends the call and returns the result as the server encoded it.
    ///
    /// # Errors
    /// When the server or the connection fails.
    #[expect(clippy::manual_async_fn, reason = "that would hold the call twice")]
    pub fn raw(mut self) -> impl Future<Output = Result<Raw, CallError>> + Send {
        async move { self.run().await }
    }

    /// Sends the call. By reference: a future holds its arguments twice.
    async fn run(&mut self) -> Result<Raw, CallError> {
        let live = self.session.live()?;
        live.offers(live.info.capabilities.tools.is_some(), "tools")?;
        let arguments = std::mem::replace(&mut self.arguments, Ok(Raw::null()))?;
        if !arguments.is_object() && !arguments.is_null() {
            return Err(CallError::Parameters("the arguments of a tool are a JSON object".into()));
        }
        let arguments = Some(&arguments).filter(|arguments| arguments.is_object());
        let cached = live.tools.last();
        let tool = cached.as_ref().and_then(|tools| tools.by_name(&self.name));
        // A tool that requires a task rejects every other call (2025-11-25).
        if tool.is_some_and(runs_only_as_task) && live.info.capabilities.tasks.is_some() {
            self.task.get_or_insert_with(TaskParams::new);
        }
        let params = encode_params(&self.name, arguments, self.task.as_ref())?;
        let schema = tool.map(|tool| &tool.input_schema);
        let mut call = ClientCall {
            meta: self.meta.as_ref(),
            name: Some(&self.name),
            marked: schema.zip(arguments),
            idle: self.idle,
            total: self.total,
            tracked: true,
            on_progress: self.on_progress.take(),
            on_note: self.on_note.take(),
            as_task: self.task.is_some(),
            handler: self.handler.take(),
            ..ClientCall::new("tools/call", params)
        };
        let rejected = match live.run_call(&mut call).await {
            Err(CallError::Remote(error)) if error.code == ErrorCode::HEADER_MISMATCH => error,
            outcome => return outcome.map(|finished| finished.result),
        };
        // Boxed: a rare retry must not enlarge the future of every call.
        Box::pin(retry_with_fresh_schema(&self.session, live, call, arguments, rejected)).await
    }
}

/// Retries a call that was rejected for its mirrored headers, and so was not carried out: the cached schema of the tool is
/// stale.
async fn retry_with_fresh_schema(
    session: &ClientSession,
    live: &LiveSession,
    call: ClientCall<'_>,
    arguments: Option<&Raw>,
    rejected: RpcError,
) -> Result<Raw, CallError> {
    let tools = session.refresh_tools().await?;
    let Some(tool) = call.name.and_then(|name| tools.by_name(name)) else {
        return Err(CallError::Remote(rejected));
    };
    live.call(ClientCall { marked: Some(&tool.input_schema).zip(arguments), ..call }).await
}

fn runs_only_as_task(tool: &Tool) -> bool {
    tool.execution.as_ref().is_some_and(|execution| execution.task_support == Some(TaskSupport::Required))
}

/// The capacity for everything besides the name and the arguments, including the `_meta` of a modern request.
const EXTRA_CAPACITY: usize = 360;

/// Encodes the parameters of a call, without `_meta`. The arguments are copied unchanged.
fn encode_params(
    name: &str,
    arguments: Option<&Raw>,
    task: Option<&TaskParams>,
) -> Result<String, EncodeError> {
    let mut text = String::with_capacity(EXTRA_CAPACITY + name.len() + arguments.map_or(0, Raw::len));
    text.push_str("{\"name\":");
    Raw::write(&mut text, name)?;
    if let Some(arguments) = arguments {
        text.push_str(",\"arguments\":");
        text.push_str(arguments.as_str());
    }
    if let Some(task) = task {
        text.push_str(",\"task\":");
        text.push_str(Raw::encode(task)?.as_str());
    }
    text.push('}');
    Ok(text)
}

impl IntoFuture for CallTool {
    type Output = Result<CallToolResult, CallError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            let result = self.run().await?;
            decode("tools/call", &result)
        })
    }
}

impl std::fmt::Debug for CallTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallTool").field("name", &self.name).finish_non_exhaustive()
    }
}
