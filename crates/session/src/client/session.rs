//! One session with one server: the typed requests of the protocol, independent of the era.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock, Weak};
use std::time::Duration;

use bytestring::ByteString;
use parking_lot::Mutex;
use serde_core::Serialize;
use switchboard_protocol::{
    CompleteParams, CompleteResult, FromRaw, GetPromptParams, GetPromptResult, Level, ListenFilter, Method,
    OrderedMap, Prompt, Raw, ReadResourceParams, ReadResourceResult, Resource, ResourceTemplate, Root,
    SetLevelParams, Tool,
};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::client::cache::Cache;
use crate::client::call::ClientCall;
use crate::client::change_stream::Hub;
use crate::client::deadline::SharedClock;
use crate::client::lists::{
    Freshness, ListCache, ListEntry, ListMethod, PROMPTS, RESOURCES, TEMPLATES, TOOLS,
};
use crate::client::live_session::LiveSession;
use crate::client::state::StateCell;
use crate::client::timer_pool::TimerPool;
use crate::client::upcalls::{self, UpcallTasks};
use crate::client::{CallTool, ChangeStream, ClientHandler, List, RawCall, SessionState, Subscription};
use crate::era::{self, EraHint, NegotiatedSession, SessionConfig, SessionInfo};
use crate::link::{BoxFuture, CloseOutcome, Counts, Dial, Link, OneWayMessage};
use crate::request::CallError;

/// A session with one server. Cheap to clone; the last clone to be dropped ends it.
///
/// ```
/// use switchboard::{Client, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let session = Client::new().connect(InProcess::new(&demo::server())).await?;
/// assert_eq!(session.info()?.server.as_ref().map(|server| server.name.as_str()), Some("demo"));
///
/// let result = session.call_tool("add", json!({ "a": 19, "b": 23 })).await?;
/// assert_eq!(result.text(), "42");
///
/// session.close().await;
/// assert!(!session.is_ready());
/// # demo::done() });
/// ```
#[derive(Clone)]
pub struct ClientSession {
    inner: Arc<Inner>,
}

struct Inner {
    /// Unique among all sessions; see [`ClientSession::number`].
    number: u64,
    dial: Arc<dyn Dial>,
    config: Arc<SessionConfig>,
    handler: Arc<dyn ClientHandler>,
    live: OnceLock<Arc<LiveSession>>,
    state: Arc<StateCell>,
    /// Held while the session is being opened.
    open_lock: tokio::sync::Mutex<()>,
    inbound_task: Mutex<Option<AbortHandle>>,
}

/// Why a session did not open.
enum OpenError {
    Failed(CallError),
    /// It was closed while it was being opened; its link still has to be closed.
    Closed(Arc<dyn Link>),
}

impl ClientSession {
    pub(crate) fn new(
        dial: Arc<dyn Dial>,
        config: Arc<SessionConfig>,
        handler: Arc<dyn ClientHandler>,
    ) -> Self {
        let inner = Inner {
            number: next_number(),
            dial,
            config,
            handler,
            live: OnceLock::new(),
            state: Arc::new(StateCell::new()),
            open_lock: tokio::sync::Mutex::new(()),
            inbound_task: Mutex::new(None),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the number of the session: no other session of this process has it, and hardly one of another process, as the
    /// first number is random.
    pub fn number(&self) -> u64 {
        self.inner.number
    }

    /// Opens the session: starts the server, detects its era, negotiates a revision. Does nothing when it is open.
    ///
    /// # Errors
    /// When the server does not start, does not answer, or shares no revision. The session is then failed for good.
    pub async fn initialize(&self) -> Result<(), CallError> {
        let inner = &*self.inner;
        let _lock = inner.open_lock.lock().await;
        if let Some(result) = inner.open_result() {
            return result;
        }
        let ids = AtomicI64::new(1);
        let opened = era::open_session(&*inner.dial, &inner.config, &ids).await;
        match inner.finish_open(opened, ids) {
            Ok(()) => Ok(()),
            Err(OpenError::Failed(error)) => Err(error),
            Err(OpenError::Closed(link)) => {
                link.close(inner.config.limits.close).await;
                Err(CallError::Closed)
            }
        }
    }

    pub(crate) fn live(&self) -> Result<&Arc<LiveSession>, CallError> {
        if self.inner.state.is_closed() {
            return Err(CallError::Closed);
        }
        self.inner.live.get().ok_or(CallError::NotInitialized)
    }

    /// Returns what was negotiated when the session opened.
    ///
    /// # Errors
    /// When it is not open.
    pub fn info(&self) -> Result<&SessionInfo, CallError> {
        Ok(&self.live()?.info)
    }

    /// Returns the era of the server, so that the next session opens without a probe.
    ///
    /// # Errors
    /// When the session is not open.
    pub fn era_hint(&self) -> Result<EraHint, CallError> {
        Ok(self.live()?.dialect.era_hint())
    }

    /// Returns the state of the session.
    pub fn state(&self) -> SessionState {
        self.inner.state.get()
    }

    /// Returns whether the session is open.
    pub fn is_ready(&self) -> bool {
        self.inner.state.is_ready()
    }

    /// Returns a receiver of state changes.
    pub fn watch_state(&self) -> watch::Receiver<SessionState> {
        self.inner.state.watch()
    }

    /// Returns the counters of unexpected, damaged and dropped messages.
    pub fn counts(&self) -> Counts {
        let counters = self.inner.live.get().and_then(|live| live.link.counters());
        counters.map(|counters| counters.snapshot()).unwrap_or_default()
    }

    /// Returns the tools of the server. Cached until the server announces a change or their lifetime ends.
    ///
    /// Empty, without a request, when the server does not declare tools.
    ///
    /// # Errors
    /// When the server or the connection fails.
    ///
    /// # Examples
    /// ```
    /// use switchboard::{Client, InProcess};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
    /// let tools = session.list_tools().await?;
    /// let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    /// assert_eq!(names, ["add", "wait"]);
    /// # demo::done() });
    /// ```
    pub async fn list_tools(&self) -> Result<Arc<List<Tool>>, CallError> {
        self.list(|live| &live.tools, &TOOLS, Freshness::Cached).await
    }

    /// Fetches the tools, bypassing the cache.
    ///
    /// # Errors
    /// As [`Self::list_tools`].
    pub async fn refresh_tools(&self) -> Result<Arc<List<Tool>>, CallError> {
        self.list(|live| &live.tools, &TOOLS, Freshness::Fresh).await
    }

    /// Returns the resources of the server.
    ///
    /// # Errors
    /// As [`Self::list_tools`].
    pub async fn list_resources(&self) -> Result<Arc<List<Resource>>, CallError> {
        self.list(|live| &live.resources, &RESOURCES, Freshness::Cached).await
    }

    /// Fetches the resources, bypassing the cache.
    ///
    /// # Errors
    /// As [`Self::list_tools`].
    pub async fn refresh_resources(&self) -> Result<Arc<List<Resource>>, CallError> {
        self.list(|live| &live.resources, &RESOURCES, Freshness::Fresh).await
    }

    /// Returns the resource templates of the server.
    ///
    /// # Errors
    /// As [`Self::list_tools`].
    pub async fn list_resource_templates(&self) -> Result<Arc<List<ResourceTemplate>>, CallError> {
        self.list(|live| &live.templates, &TEMPLATES, Freshness::Cached).await
    }

    /// Fetches the resource templates, bypassing the cache.
    ///
    /// # Errors
    /// As [`Self::list_tools`].
    pub async fn refresh_resource_templates(&self) -> Result<Arc<List<ResourceTemplate>>, CallError> {
        self.list(|live| &live.templates, &TEMPLATES, Freshness::Fresh).await
    }

    /// Returns the prompts of the server.
    ///
    /// # Errors
    /// As [`Self::list_tools`].
    pub async fn list_prompts(&self) -> Result<Arc<List<Prompt>>, CallError> {
        self.list(|live| &live.prompts, &PROMPTS, Freshness::Cached).await
    }

    /// Fetches the prompts, bypassing the cache.
    ///
    /// # Errors
    /// As [`Self::list_tools`].
    pub async fn refresh_prompts(&self) -> Result<Arc<List<Prompt>>, CallError> {
        self.list(|live| &live.prompts, &PROMPTS, Freshness::Fresh).await
    }

    /// Returns a list; an empty one if the server does not offer it. Boxed, so that its code is not generated at every
    /// call site.
    fn list<T: ListEntry>(
        &self,
        cache: fn(&LiveSession) -> &ListCache<T>,
        what: &'static ListMethod,
        freshness: Freshness,
    ) -> BoxFuture<'_, Result<Arc<List<T>>, CallError>> {
        Box::pin(async move {
            let live = self.live()?;
            if !live.offers_list(what.kind) {
                return Ok(Arc::new(List::empty()));
            }
            cache(live).get(live, what, freshness).await
        })
    }

    /// Calls a tool. Await it directly, or set a timeout, request progress, or make it a task first.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use switchboard::{Client, InProcess, json};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
    /// let result = session.call_tool("add", json!({ "a": 1, "b": 2 })).timeout(Duration::from_secs(20)).await?;
    /// assert!(!result.is_error); // a tool that fails returns a result, not an `Err`
    /// assert_eq!(result.text(), "3");
    /// # demo::done() });
    /// ```
    pub fn call_tool(&self, name: impl Into<String>, arguments: impl Serialize) -> CallTool {
        CallTool::new(self.clone(), name.into().into(), Raw::encode(&arguments))
    }

    /// As [`Self::call_tool`], with arguments that are JSON text already and a shared name: neither is copied or encoded
    /// again.
    pub fn call_tool_raw(&self, name: impl Into<ByteString>, arguments: Raw) -> CallTool {
        CallTool::new(self.clone(), name.into(), Ok(arguments))
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// When the server does not know it, or the connection fails.
    ///
    /// # Examples
    /// ```
    /// use switchboard::protocol::ResourceBody;
    /// use switchboard::{Client, InProcess};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
    /// let read = session.read_resource("note://today").await?;
    /// assert_eq!(read.contents[0].body, ResourceBody::Text("Buy milk.".into()));
    /// # demo::done() });
    /// ```
    pub async fn read_resource(&self, uri: impl Into<String>) -> Result<ReadResourceResult, CallError> {
        let uri = uri.into();
        let params = Raw::encode(&ReadResourceParams::new(uri.as_str()))?;
        decode("resources/read", &self.live()?.read(&uri, &params).await?)
    }

    /// Gets a prompt, filled in.
    ///
    /// # Errors
    /// When the server does not know it, or the connection fails.
    ///
    /// # Examples
    /// ```
    /// use switchboard::{Client, InProcess};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
    /// let prompt = session.get_prompt("greet", [("name", "Ada")]).await?;
    /// assert_eq!(prompt.messages[0].content.as_text(), Some("Greet Ada."));
    /// # demo::done() });
    /// ```
    pub async fn get_prompt<K: Into<String>, V: Into<String>>(
        &self,
        name: impl Into<String>,
        arguments: impl IntoIterator<Item = (K, V)>,
    ) -> Result<GetPromptResult, CallError> {
        let live = self.live()?;
        live.offers(live.info.capabilities.prompts.is_some(), "prompts")?;
        let arguments: OrderedMap<String> =
            arguments.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        let name = name.into();
        let mut params = GetPromptParams::new(name.as_str());
        params.arguments = (!arguments.is_empty()).then_some(arguments);
        let params = Raw::encode(&params)?;
        let call = ClientCall::new("prompts/get", params.as_str()).about(&name).within(live.limits().read);
        decode("prompts/get", &live.call(call).await?)
    }

    /// Requests values that complete an argument.
    ///
    /// # Errors
    /// When the server does not offer completion, or the connection fails.
    pub async fn complete(&self, mut params: CompleteParams) -> Result<CompleteResult, CallError> {
        let live = self.live()?;
        let meta = params.meta.take();
        let offered =
            live.info.capabilities.completions.is_some() || !live.dialect.has_completions_capability();
        live.offers(offered, "completions")?;
        let params = Raw::encode(&params)?;
        let mut call = ClientCall::new("completion/complete", params.as_str()).within(live.limits().complete);
        call.options.meta = meta;
        decode("completion/complete", &live.call(call).await?)
    }

    /// Sends any request of the protocol and decodes its result into the type of the method.
    ///
    /// # Errors
    /// When the server or the connection fails, or the result cannot be decoded.
    ///
    /// # Examples
    /// ```
    /// use switchboard::protocol::PageParams;
    /// use switchboard::protocol::method::ListPrompts;
    /// use switchboard::{Client, InProcess};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
    /// let page = session.request::<ListPrompts>(&PageParams::new()).await?;
    /// assert_eq!(page.prompts[0].name, "greet");
    /// # demo::done() });
    /// ```
    pub async fn request<M: Method>(&self, params: &M::Params) -> Result<M::Result, CallError> {
        let result = self.request_raw(M::NAME, Raw::encode(params)?).await?;
        result.decode().map_err(|error| CallError::protocol(M::NAME, error))
    }

    /// Sends any request, and returns its result as text. The parameters are an object, `_meta` included.
    ///
    /// # Errors
    /// When the server or the connection fails.
    pub async fn request_raw(&self, method: &str, params: Raw) -> Result<Raw, CallError> {
        self.raw_call(method, params).await
    }

    /// As [`Self::request_raw`], with options that can be set before it is awaited.
    pub fn raw_call(&self, method: impl Into<String>, params: Raw) -> RawCall {
        RawCall::new(self.clone(), method.into(), params)
    }

    /// Sends any notification unchanged: for extensions, and for methods without a typed function.
    ///
    /// # Errors
    /// When the session is not open or the connection is gone.
    pub fn notify(&self, method: &str, params: Option<&Raw>) -> Result<(), CallError> {
        Ok(self.live()?.link.post(OneWayMessage::Notification { method, params: params.map(Raw::as_str) })?)
    }

    /// Checks whether the server responds.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<(), CallError> {
        let live = self.live()?;
        live.call(ClientCall::new(live.dialect.ping_method(), "{}").within(live.limits().read))
            .await
            .map(drop)
    }

    /// Sets the minimum level of log messages that the server sends.
    ///
    /// # Errors
    /// When the server does not offer logging, or the connection fails.
    pub async fn set_log_level(&self, level: Level) -> Result<(), CallError> {
        let live = self.live()?;
        live.offers(live.info.capabilities.logging.is_some(), "logging")?;
        let Some(method) = live.dialect.set_log_level(level) else { return Ok(()) };
        let params = Raw::encode(&SetLevelParams::new(level))?;
        live.call(ClientCall::new(method, params.as_str()).within(live.limits().read)).await.map(drop)
    }

    /// Sets the roots of this session, and notifies the server where the revision has a notification for that.
    ///
    /// # Errors
    /// When the session is not open or the connection is gone.
    pub fn set_roots(&self, roots: impl Into<Vec<Root>>) -> Result<(), CallError> {
        let live = self.live()?;
        *live.roots.lock() = roots.into();
        if live.dialect.announces_roots() && self.inner.config.legacy_capabilities.roots.is_some() {
            live.link.post(OneWayMessage::Notification {
                method: "notifications/roots/list_changed",
                params: None,
            })?;
        }
        Ok(())
    }

    /// Returns the stream of changes that the server announces, from now on. In the modern era it announces only those that
    /// a [subscription](Self::listen) requests.
    ///
    /// # Errors
    /// When the session is not open.
    pub fn changes(&self) -> Result<ChangeStream, CallError> {
        Ok(ChangeStream { receiver: self.live()?.changes.subscribe() })
    }

    /// Subscribes to changes of lists and resources. Drop the subscription to end it.
    ///
    /// # Errors
    /// When the server does not offer it, or the connection fails.
    ///
    /// # Examples
    /// ```
    /// use switchboard::client::Change;
    /// use switchboard::protocol::ListenFilter;
    /// use switchboard::{Client, InProcess};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// # let server = demo::server();
    /// # let session = Client::new().connect(InProcess::new(&server)).await?;
    /// let mut changes = session.listen(ListenFilter::new().with_tools_list_changed(true)).await?;
    /// server.publisher().tools_changed(); // on the other side
    /// assert!(matches!(changes.next().await, Some(Change::Tools)));
    /// # demo::done() });
    /// ```
    pub async fn listen(&self, filter: ListenFilter) -> Result<Subscription, CallError> {
        self.live()?.listen(filter).await
    }

    /// Subscribes to updates of one resource. Drop the subscription to end it.
    ///
    /// # Errors
    /// As [`Self::listen`].
    ///
    /// # Examples
    /// ```
    /// use switchboard::client::Change;
    /// use switchboard::{Client, InProcess};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// # let server = demo::server();
    /// # let session = Client::new().connect(InProcess::new(&server)).await?;
    /// let mut updates = session.subscribe("note://today").await?;
    /// server.publisher().resource_updated("note://today"); // on the other side
    /// assert!(matches!(updates.next().await, Some(Change::Resource { uri }) if uri == "note://today"));
    /// # demo::done() });
    /// ```
    pub async fn subscribe(&self, uri: impl Into<String>) -> Result<Subscription, CallError> {
        let mut filter = ListenFilter::new();
        filter.resource_subscriptions.push(uri.into());
        self.listen(filter).await
    }

    /// Closes the session gracefully, and returns how the server ended. Calls in flight fail with [`CallError::Closed`].
    ///
    /// ```
    /// use switchboard::{CallError, Client, InProcess, json};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
    /// session.close().await;
    /// let call = session.call_tool("add", json!({ "a": 1, "b": 2 })).await;
    /// assert!(matches!(call, Err(CallError::Closed)));
    /// # demo::done() });
    /// ```
    pub async fn close(&self) -> CloseOutcome {
        self.close_within(self.inner.config.limits.close).await
    }

    /// Closes the session within this time.
    pub async fn close_within(&self, within: Duration) -> CloseOutcome {
        self.inner.state.change(|_| true, SessionState::Closed);
        let ended = match self.inner.live.get() {
            Some(live) => live.link.close(within).await,
            None => CloseOutcome::Left,
        };
        self.inner.stop();
        ended
    }

    /// As [`Self::close`], for a program that is about to exit: the supervisor of a server process stops it gracefully, and
    /// this does not wait for that. Where there is no supervisor (see `switchboard::run_supervisor_if_requested`), this is [`Self::close`].
    pub async fn close_detached(&self) -> CloseOutcome {
        self.inner.state.change(|_| true, SessionState::Closed);
        let ended = match self.inner.live.get() {
            Some(live) => live.link.close_detached(self.inner.config.limits.close).await,
            None => CloseOutcome::Left,
        };
        self.inner.stop();
        ended
    }
}

impl Inner {
    /// Returns the result of opening the session, if that was attempted.
    fn open_result(&self) -> Option<Result<(), CallError>> {
        match self.state.get() {
            SessionState::Closed => Some(Err(CallError::Closed)),
            _ if self.live.get().is_some() => Some(Ok(())),
            SessionState::Failed(error) => Some(Err(error)),
            SessionState::Created | SessionState::Ready => None,
        }
    }

    fn finish_open(
        &self,
        opened: Result<NegotiatedSession, CallError>,
        ids: AtomicI64,
    ) -> Result<(), OpenError> {
        match opened {
            Ok(opened) => self.go_live(opened, ids),
            Err(error) => {
                let is_created = |state: &SessionState| matches!(state, SessionState::Created);
                self.state.change(is_created, SessionState::Failed(error.clone()));
                Err(OpenError::Failed(error))
            }
        }
    }

    fn go_live(&self, opened: NegotiatedSession, ids: AtomicI64) -> Result<(), OpenError> {
        let NegotiatedSession { link, dialect, info, inbound, early } = opened;
        let live = Arc::new_cyclic(|me| LiveSession {
            me: Weak::clone(me),
            link,
            dialect,
            info: *info,
            ids,
            config: Arc::clone(&self.config),
            clock: SharedClock::default(),
            timers: TimerPool::default(),
            handler: Arc::clone(&self.handler),
            upcall_tasks: UpcallTasks::default(),
            roots: Mutex::new(self.config.roots.clone()),
            tools: ListCache::default(),
            prompts: ListCache::default(),
            resources: ListCache::default(),
            templates: ListCache::default(),
            cache: Cache::default(),
            changes: Hub::new(),
            subscription_counts: Mutex::default(),
            listener_counts: Mutex::default(),
            state: Arc::clone(&self.state),
        });
        if let Some(inbound) = inbound {
            let task = tokio::spawn(upcalls::handle_inbound(Arc::downgrade(&live), inbound, early));
            *self.inbound_task.lock() = Some(task.abort_handle());
        }
        let link = Arc::clone(&live.link);
        let was_open = self.live.set(live).is_err();
        debug_assert!(!was_open, "opened by one caller at a time");
        // It may have been closed while it was being opened.
        let is_ready = self.state.change(|state| matches!(state, SessionState::Created), SessionState::Ready);
        if is_ready { Ok(()) } else { Err(OpenError::Closed(link)) }
    }

    /// Stops handling the server's messages.
    fn stop(&self) {
        if let Some(inbound_task) = self.inbound_task.lock().take() {
            inbound_task.abort();
        }
        if let Some(live) = self.live.get() {
            live.changes.close();
            live.upcall_tasks.abort_all();
        }
    }
}

/// Returns the number of a new session.
fn next_number() -> u64 {
    static NEXT: LazyLock<AtomicU64> = LazyLock::new(|| AtomicU64::new(RandomState::new().hash_one(0)));
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop();
    }
}

impl std::fmt::Debug for ClientSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientSession").field("state", &self.state()).finish_non_exhaustive()
    }
}

pub(crate) fn decode<T: FromRaw>(method: &str, raw: &Raw) -> Result<T, CallError> {
    T::from_raw(raw).map_err(|error| CallError::protocol(method, error))
}
