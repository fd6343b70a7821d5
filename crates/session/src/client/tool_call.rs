//! A tool call with its options.

use std::future::IntoFuture;

use bytestring::ByteString;
use switchboard_protocol::{
    CallToolResult, EncodeError, ErrorCode, Raw, RpcError, TaskParams, TaskSupport, Tool,
};

use crate::call_option_setters;
use crate::client::CallOptions;
use crate::client::call::ClientCall;
use crate::client::live_session::LiveSession;
use crate::client::session::{ClientSession, decode};
use crate::link::BoxFuture;
use crate::request::CallError;

/// A tool call. Awaiting it sends it; dropping it while it runs cancels it.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use switchboard::{CallError, Client, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
/// let reports = Arc::new(AtomicUsize::new(0));
/// let counter = Arc::clone(&reports);
/// session
///     .call_tool("add", json!({ "a": 1, "b": 2 }))
///     .on_progress(move |_| _ = counter.fetch_add(1, Ordering::Relaxed))
///     .await?;
/// assert_eq!(reports.load(Ordering::Relaxed), 1);
///
/// let slow = session.call_tool("wait", json!({})).timeout(Duration::from_millis(10)).await;
/// assert!(matches!(slow, Err(CallError::TimedOut { .. })));
/// # demo::done() });
/// ```
#[must_use = "a call does nothing until it is awaited"]
pub struct CallTool {
    session: ClientSession,
    name: ByteString,
    arguments: Result<Raw, EncodeError>,
    options: CallOptions,
}

impl CallTool {
    pub(crate) fn new(session: ClientSession, name: ByteString, arguments: Result<Raw, EncodeError>) -> Self {
        Self { session, name, arguments, options: CallOptions::default() }
    }

    call_option_setters!(
        options,
        timeout,
        idle_timeout,
        meta,
        handler,
        on_progress,
        on_notification,
        on_log,
        number,
        as_task
    );

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
        if !self.options.interim_results
            && tool.is_some_and(runs_only_as_task)
            && live.info.capabilities.tasks.is_some()
        {
            self.options.task.get_or_insert_with(TaskParams::new);
        }
        let params = encode_params(&self.name, arguments, self.options.task.as_ref())?;
        let schema = tool.map(|tool| &tool.input_schema);
        let mut call = ClientCall {
            name: Some(&self.name),
            marked: schema.zip(arguments),
            requests_progress: true,
            options: std::mem::take(&mut self.options),
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
