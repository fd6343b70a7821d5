//! The options of a call, shared by tool calls, raw calls, calls through a host and calls of a typed client.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::{ClientCapabilities, LogMessage, Meta, ProgressParams, Raw, Task, TaskParams};

use crate::client::ClientHandler;
use crate::link::CallNumber;

/// A callback for progress. Shared by the clones of its options; one call at a time runs it.
pub(crate) type ProgressCallback = Arc<Mutex<dyn FnMut(ProgressParams) + Send>>;

/// A callback for notifications of an extension.
pub(crate) type NotificationCallback = Arc<Mutex<dyn FnMut(&str, Raw) + Send>>;

/// A callback for log messages.
pub(crate) type LogCallback = Arc<Mutex<dyn FnMut(LogMessage) + Send>>;

/// A callback for the states of a task.
pub(crate) type TaskCallback = Arc<Mutex<dyn FnMut(&Task) + Send>>;

/// The options of a call. The setters of every call are the setters of this type.
///
/// ```
/// use std::time::Duration;
///
/// use switchboard::client::CallOptions;
/// use switchboard::protocol::Raw;
/// use switchboard::{Client, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
/// let options = CallOptions::new().timeout(Duration::from_secs(5)).on_progress(|report| println!("{}", report.progress));
/// let result = session.raw_call("tools/list", Raw::empty_object()).options(options.clone()).await?;
/// assert!(result.is_object());
/// assert!(options.wants_progress());
/// # demo::done() });
/// ```
#[derive(Clone, Default)]
#[must_use]
#[non_exhaustive]
pub struct CallOptions {
    /// The total timeout.
    pub timeout: Option<Duration>,
    /// The timeout between two progress reports.
    pub idle_timeout: Option<Duration>,
    /// Additional members of `_meta`.
    pub meta: Option<Meta>,
    /// The handler of input requests within the call, instead of the handler of the session.
    pub handler: Option<Arc<dyn ClientHandler>>,
    /// Asks a server of 2025-11-25 to run the tool as a task.
    pub task: Option<TaskParams>,
    /// The capabilities declared with the call, instead of those of the session (modern era).
    pub capabilities: Option<ClientCapabilities>,
    /// Whether a result that is not final is returned as it is.
    pub interim_results: bool,
    /// The answers to the questions of an earlier result (modern era).
    pub input_responses: Option<Raw>,
    /// The state of an earlier result, sent back unchanged (modern era).
    pub request_state: Option<String>,
    /// The number of the call, for [observers](crate::link::TrafficObserver) of its messages.
    pub number: Option<CallNumber>,
    pub(crate) on_progress: Option<ProgressCallback>,
    pub(crate) on_notification: Option<NotificationCallback>,
    pub(crate) on_log: Option<LogCallback>,
    pub(crate) on_shared_log: Option<LogCallback>,
    pub(crate) on_task: Option<TaskCallback>,
}

impl CallOptions {
    /// Creates options without a value: the limits of the session apply.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the total timeout, independent of progress. Also the idle timeout, unless that is set.
    pub fn timeout(mut self, total: Duration) -> Self {
        self.timeout = Some(total);
        self
    }

    /// Sets the timeout between two progress reports.
    pub fn idle_timeout(mut self, idle: Duration) -> Self {
        self.idle_timeout = Some(idle);
        self
    }

    /// Sets additional members of `_meta`.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Sets the handler of input requests within the call. A server of the legacy era names the call of a request only by the
    /// HTTP stream it sends the request on; over a pipe its requests go to the handler of the session.
    pub fn handler(mut self, handler: Arc<dyn ClientHandler>) -> Self {
        self.handler = Some(handler);
        self
    }

    /// Sets the callback for progress: in order, before the result.
    pub fn on_progress(mut self, callback: impl FnMut(ProgressParams) + Send + 'static) -> Self {
        self.on_progress = Some(Arc::new(Mutex::new(callback)));
        self
    }

    /// Sets the callback for notifications of extensions that belong to the call: method and parameters, in order, before
    /// the result. Declare the extension with [`Client::with_extension`](crate::Client::with_extension): without that,
    /// servers send none.
    pub fn on_notification(mut self, callback: impl FnMut(&str, Raw) + Send + 'static) -> Self {
        self.on_notification = Some(Arc::new(Mutex::new(callback)));
        self
    }

    /// Sets the callback for log messages that belong to the call: in order, before the result. Over a pipe a log message
    /// belongs to the call that is alone in flight; with several in flight it belongs to none.
    pub fn on_log(mut self, callback: impl FnMut(LogMessage) + Send + 'static) -> Self {
        self.on_log = Some(Arc::new(Mutex::new(callback)));
        self
    }

    /// Sets the callback for log messages that arrive over a pipe while several calls are in flight: each may belong to any of
    /// them, and each of them gets a copy.
    pub fn on_shared_log(mut self, callback: impl FnMut(LogMessage) + Send + 'static) -> Self {
        self.on_shared_log = Some(Arc::new(Mutex::new(callback)));
        self
    }

    /// Sets the callback for the states of the task that the call becomes: when it is created, and after every poll.
    pub fn on_task(mut self, callback: impl FnMut(&Task) + Send + 'static) -> Self {
        self.on_task = Some(Arc::new(Mutex::new(callback)));
        self
    }

    /// Passes the state of a task to the callback.
    pub(crate) fn report_task(&self, task: &Task) {
        if let Some(callback) = &self.on_task {
            (*callback.lock())(task);
        }
    }

    /// Asks a server of 2025-11-25 to run the tool as a task, which is then polled until its result.
    pub fn as_task(mut self, params: TaskParams) -> Self {
        self.task = Some(params);
        self
    }

    /// Declares these capabilities with the call, instead of those of the session. A server of the legacy era learns the
    /// capabilities when the session opens.
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Returns a result that requires input, or a task, as the server wrote it, instead of answering the questions or polling
    /// the task: for a caller that passes it on.
    pub fn interim_results(mut self) -> Self {
        self.interim_results = true;
        self
    }

    /// Repeats a call with the answers to the questions of its earlier result, and with the state of that result.
    pub fn retry(mut self, responses: Option<Raw>, state: Option<String>) -> Self {
        (self.input_responses, self.request_state) = (responses, state);
        self
    }

    /// Sets the number that [observers](crate::link::TrafficObserver) see with all messages of the call.
    pub fn number(mut self, number: CallNumber) -> Self {
        self.number = Some(number);
        self
    }

    /// Returns whether there is a callback for progress.
    pub fn wants_progress(&self) -> bool {
        self.on_progress.is_some()
    }

    /// Passes progress to the callback.
    pub fn report_progress(&self, progress: ProgressParams) {
        if let Some(callback) = &self.on_progress {
            (*callback.lock())(progress);
        }
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("idle_timeout", &self.idle_timeout)
            .finish_non_exhaustive()
    }
}

/// Defines the named setters on a type with a field `options` of type [`CallOptions`].
#[doc(hidden)]
#[macro_export]
macro_rules! call_option_setters {
    ($($name:ident),+ $(,)?) => { $($crate::call_option_setters!(@ $name);)+ };
    (@ options) => {
        /// Replaces all options of the call.
        pub fn options(mut self, options: $crate::client::CallOptions) -> Self {
            self.options = options;
            self
        }
    };
    (@ timeout) => {
        $crate::call_option_setters!(@ timeout(total: ::std::time::Duration), "Sets the total timeout, independent of progress.");
    };
    (@ idle_timeout) => {
        $crate::call_option_setters!(@ idle_timeout(idle: ::std::time::Duration), "Sets the timeout between two progress reports.");
    };
    (@ meta) => {
        $crate::call_option_setters!(@ meta(meta: ::switchboard_protocol::Meta), "Sets additional members of `_meta`.");
    };
    (@ handler) => {
        $crate::call_option_setters!(
            @ handler(handler: ::std::sync::Arc<dyn $crate::client::ClientHandler>),
            "Sets the handler of the server's input requests within this call."
        );
    };
    (@ on_progress) => {
        $crate::call_option_setters!(
            @ on_progress(callback: impl FnMut(::switchboard_protocol::ProgressParams) + Send + 'static),
            "Sets the callback for progress: in order, before the result."
        );
    };
    (@ on_notification) => {
        $crate::call_option_setters!(
            @ on_notification(callback: impl FnMut(&str, ::switchboard_protocol::Raw) + Send + 'static),
            "Sets the callback for notifications of extensions that belong to this call: method and parameters, in order."
        );
    };
    (@ on_log) => {
        $crate::call_option_setters!(
            @ on_log(callback: impl FnMut(::switchboard_protocol::LogMessage) + Send + 'static),
            "Sets the callback for log messages that belong to this call: in order, before the result."
        );
    };
    (@ number) => {
        $crate::call_option_setters!(
            @ number(number: $crate::link::CallNumber),
            "Sets the number that observers of the traffic see with all messages of this call."
        );
    };
    (@ as_task) => {
        $crate::call_option_setters!(
            @ as_task(params: ::switchboard_protocol::TaskParams),
            "Asks a server whose revision has core tasks to run the tool as a task, which is then polled until its result."
        );
    };
    (@ $name:ident($value:ident: $type:ty), $summary:literal) => {
        #[doc = $summary]
        pub fn $name(mut self, $value: $type) -> Self {
            self.options = self.options.$name($value);
            self
        }
    };
}
