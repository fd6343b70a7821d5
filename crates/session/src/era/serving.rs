//! The server's dialect: the era of a request, and the operations that differ by era, one match for each.

use std::sync::{Arc, LazyLock};

use switchboard_protocol::{
    CacheHints, ClientCapabilities, ElicitParams, ElicitationCapability, ErrorCode, Implementation,
    InputRequest, InputRequired, InputResponses, Level, Raw, RequestId, Revision, RootsCapability, RpcError,
    SamplingCapability, ServerResult, Settings, lower_error,
};

use switchboard_protocol::surface::{self, Direction, RequiredCapability};

use crate::era::classify::ClientMeta;
use crate::era::legacy::Session;
use crate::era::modern::{self, Driver, Questions, Replay, StateBinding};
use crate::era::{ClassifiedRequest, MessageEra, ServerChange, ServerProfile, is_extension_note};
use crate::link::BoxFuture;
use crate::request::{AskError, Caller, Reply, ReplyChannel};

/// The era of an admitted request, with its data.
#[derive(Debug, Clone)]
pub(crate) enum RequestEra {
    /// Part of the session of its pipe.
    Legacy(Arc<Session>),
    /// Self-contained.
    Modern(ModernRequest),
}

/// A self-contained request of the modern era.
#[derive(Debug, Clone)]
pub(crate) struct ModernRequest {
    revision: Revision,
    client_meta: Arc<ClientMeta>,
}

/// An admitted request: its era, and its progress token.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(crate) era: RequestEra,
    pub(crate) progress: Option<RequestId>,
}

pub use crate::era::TaskProtocol;
/// The state of a session of the legacy era. Opaque outside this module.
pub use crate::era::legacy::Session as ServerSession;
/// Answers `initialize`, and opens the session.
pub(crate) use crate::era::legacy::initialize;

/// Admits a request: by its session, or by its `_meta`. Changes nothing.
pub(crate) fn admit(
    server: &ServerProfile,
    session: &Arc<Session>,
    method: &str,
    request: ClassifiedRequest,
) -> Result<Admission, RpcError> {
    let era = match request.era {
        MessageEra::Legacy => {
            admit_legacy(server, session, method)?;
            RequestEra::Legacy(Arc::clone(session))
        }
        MessageEra::Modern(client_meta) => {
            let client_meta = client_meta?;
            let revision = modern::admit(server, &client_meta)?;
            RequestEra::Modern(ModernRequest { revision, client_meta })
        }
    };
    Ok(Admission { era, progress: request.progress })
}

fn admit_legacy(server: &ServerProfile, session: &Session, method: &str) -> Result<(), RpcError> {
    match method {
        "initialize" => Ok(()),
        "ping" if !server.revisions.legacy().is_empty() => Ok(()),
        _ if session.handshake().is_some() => Ok(()),
        // A modern-only server requires the version in every request.
        _ if server.revisions.legacy().is_empty() => {
            Err(RpcError::invalid_params("params._meta must name the protocol version of this request"))
        }
        "server/discover" => Err(unsupported_version(server, "")),
        _ => Err(server.opening.not_initialized_error()),
    }
}

impl RequestEra {
    /// Returns the session of a request that belongs to one.
    pub(crate) fn session(&self) -> Option<&Session> {
        match self {
            Self::Legacy(session) => Some(session),
            Self::Modern(_) => None,
        }
    }

    pub(crate) fn revision(&self) -> Revision {
        match self {
            Self::Legacy(session) => session.revision(),
            Self::Modern(request) => request.revision,
        }
    }

    /// Returns whether structured content may be any JSON value; in older revisions it is an object.
    pub(crate) fn allows_any_structured_content(&self) -> bool {
        self.revision() >= Revision::V2026_07_28
    }

    /// Returns whether tools have output schemas and results structured content.
    pub(crate) fn has_output_schemas(&self) -> bool {
        self.revision() >= Revision::V2025_06_18
    }

    pub(crate) fn client(&self) -> Option<Implementation> {
        match self {
            Self::Legacy(session) => session.handshake().map(|handshake| handshake.client.clone()),
            Self::Modern(request) => request.client_meta.client(),
        }
    }

    /// Returns the client's capabilities; none before the handshake.
    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        static NONE: LazyLock<ClientCapabilities> = LazyLock::new(ClientCapabilities::new);
        match self {
            Self::Legacy(session) => session.handshake().map_or(&NONE, |handshake| &handshake.capabilities),
            Self::Modern(request) => request.client_meta.capabilities(),
        }
    }

    /// Returns whether the client wants log messages of this level.
    pub(crate) fn wants_log(&self, level: Level) -> bool {
        match self {
            // The default until the client sets a level.
            Self::Legacy(session) => level >= session.log_level().unwrap_or(Level::Info),
            // Without a level in the request, nothing may be sent.
            Self::Modern(request) => request.client_meta.log_level.is_some_and(|least| level >= least),
        }
    }

    /// Returns the level of log messages that the client has asked for.
    pub(crate) fn log_level(&self) -> Option<Level> {
        match self {
            Self::Legacy(session) => session.log_level(),
            Self::Modern(request) => request.client_meta.log_level,
        }
    }

    /// Returns whether a result of another revision must be read and lowered for this client.
    pub(crate) fn must_lower(&self, from: Revision) -> bool {
        self.revision() < from
    }

    /// Returns whether a question ends the run of a handler, which runs again with the answer.
    pub(crate) fn replays_handler(&self) -> bool {
        matches!(self, Self::Modern(_))
    }

    /// Returns whether invalid tool arguments are reported in a failed result, which the model reads (SEP-1303).
    pub(crate) fn reports_invalid_arguments_in_results(&self) -> bool {
        self.revision() >= Revision::V2025_11_25
    }

    /// Sends an input request to the client, and returns its answer as text.
    pub(crate) async fn ask(
        &self,
        channel: &dyn ReplyChannel,
        questions: &Questions,
        key: &str,
        mut request: InputRequest,
    ) -> Result<Raw, AskError> {
        let missing = undeclared_capability(self.capabilities(), &request);
        request.lower(self.revision()).map_err(|_| AskError::Unavailable)?;
        match self {
            Self::Legacy(_) => match missing {
                Some((what, _)) => Err(AskError::Undeclared(what)),
                None => send_question(channel, &request).await,
            },
            Self::Modern(_) => match missing {
                Some((_, required)) => questions.get().reject(modern::missing_capability(&required)).await,
                None => questions.get().ask(key, request).await,
            },
        }
    }

    /// Answers a request with the questions of another server. Returns only if that is impossible.
    pub(crate) async fn relay_questions(&self, questions: &Questions, input: InputRequired) -> AskError {
        let Self::Modern(_) = self else { return AskError::Unavailable };
        let InputRequired { input_requests, request_state, .. } = input;
        let mut asked = input_requests.unwrap_or_default();
        let undeclared =
            asked.iter().find_map(|(_, request)| undeclared_capability(self.capabilities(), request));
        let suspended = match undeclared {
            Some((_, required)) => questions.get().reject(modern::missing_capability(&required)).await,
            None => {
                if asked.iter_mut().any(|(_, request)| request.lower(self.revision()).is_err()) {
                    return AskError::Unavailable;
                }
                questions.get().relay(asked, request_state).await
            }
        };
        suspended.err().unwrap_or(AskError::Suspended)
    }

    /// Returns the answers to relayed questions and the state that came with them.
    pub(crate) fn relayed_answers(&self, questions: &Questions) -> Option<(InputResponses, Option<String>)> {
        match self {
            Self::Legacy(_) => None,
            Self::Modern(_) => questions.get().relayed_answers(),
        }
    }

    /// Checks that this client can be asked a question, and lowers it to the revision.
    pub(crate) fn check_question(&self, mut request: InputRequest) -> Result<InputRequest, AskError> {
        if let Some((what, _)) = undeclared_capability(self.capabilities(), &request) {
            return Err(AskError::Undeclared(what));
        }
        request.lower(self.revision()).map_err(|_| AskError::Unavailable)?;
        Ok(request)
    }

    /// Returns whether detached work may send notifications after the response.
    pub(crate) fn allows_notes_after_answer(&self) -> bool {
        matches!(self, Self::Legacy(_))
    }

    /// Returns a unique key of the request's session.
    pub(crate) fn session_key(&self) -> Option<String> {
        match self {
            Self::Legacy(session) => session.key(),
            Self::Modern(_) => None,
        }
    }

    /// Waits until the session of the request has ended.
    pub(crate) async fn session_ended(&self) {
        match self {
            Self::Legacy(session) => session.ended().await,
            Self::Modern(_) => std::future::pending().await,
        }
    }

    /// Returns the protocol of tasks, where the revision has tasks.
    pub(crate) fn task_protocol(&self) -> Option<TaskProtocol> {
        match self {
            Self::Legacy(_) => (self.revision() >= Revision::V2025_11_25).then_some(TaskProtocol::Core),
            Self::Modern(_) => Some(TaskProtocol::Extension),
        }
    }

    /// Sends a request with any method to the client.
    pub(crate) async fn request(
        &self,
        channel: &dyn ReplyChannel,
        method: &str,
        params: &Raw,
    ) -> Result<Raw, AskError> {
        let Self::Legacy(_) = self else { return Err(AskError::Unavailable) };
        if let Some(row) = surface::find_in(method, self.revision()) {
            let needs = match row.needs {
                Some(RequiredCapability::ByClient(path) | RequiredCapability::ByReceiver(path)) => Some(path),
                _ => None,
            };
            if let Some(path) = needs.filter(|path| !self.capabilities().declares(path)) {
                return Err(AskError::Undeclared(path));
            }
        }
        if !self.allows_message(method) {
            return Err(AskError::Unavailable);
        }
        let mut exchange = channel.ask(method, params).ok_or(AskError::Gone)?;
        exchange.done().await.map_err(|_| AskError::Gone)?.map_err(AskError::Refused)
    }

    /// Returns whether a message with this method may be sent to the client. A method that no revision defines belongs to
    /// an extension and is allowed; if its name has the prefix of an extension, as in `notifications/com.example/event`,
    /// the client must have declared an extension with that prefix.
    pub(crate) fn allows_message(&self, method: &str) -> bool {
        if !is_extension_note(method) {
            return surface::exists(method, self.revision(), Direction::ServerToClient);
        }
        let extension = method.strip_prefix("notifications/").and_then(|name| name.split_once('/'));
        // Prefixes of extensions are domain names.
        let Some((prefix, _)) = extension.filter(|(prefix, _)| prefix.contains('.')) else { return true };
        let has_prefix = |id: &str| id.split_once('/').is_some_and(|(own, _)| own == prefix);
        self.capabilities().extensions.as_ref().is_some_and(|declared| declared.keys().any(has_prefix))
    }

    /// Checks that the client declared an extension; in the modern era in the request itself.
    pub(crate) fn require_extension(&self, id: &str) -> Result<(), RpcError> {
        if self.capabilities().has_extension(id) {
            return Ok(());
        }
        let mut required = ClientCapabilities::new();
        required.extensions.get_or_insert_default().insert(id, Raw::empty_object());
        Err(modern::missing_capability(&required))
    }

    pub(crate) fn step(&self, questions: &Questions, key: &str) -> Option<Raw> {
        match self {
            Self::Legacy(_) => None,
            Self::Modern(_) => questions.get().step(key),
        }
    }

    pub(crate) fn remember(&self, questions: &Questions, key: &str, result: Raw) {
        match self {
            // The handler runs only once.
            Self::Legacy(_) => {}
            Self::Modern(_) => questions.get().remember(key, result),
        }
    }

    /// Creates the questions of a request, with the answers of a retry.
    ///
    /// # Errors
    /// When the state was changed, is bound to something else, has expired, or was used before.
    pub(crate) fn resume_questions(
        &self,
        server: &ServerProfile,
        round: RetryParams<'_>,
    ) -> Result<Questions, RpcError> {
        let RetryParams { method, params, responses, state, caller } = round;
        if matches!(self, Self::Legacy(_)) || responses.is_none() && state.is_none() {
            return Ok(Questions::default());
        }
        let carried = match state {
            Some(state) => {
                let principal = caller.map(Caller::principal);
                let binding = StateBinding::new(&server.info.name, principal, method, params)?;
                Some(modern::open(&server.state_keys, &server.used_states, &binding, state)?)
            }
            None => None,
        };
        Ok(Questions::with_answers(Replay::new(carried, responses.cloned().unwrap_or_default())))
    }

    /// Runs a handler that may ask for input. In the modern era a question ends the run and becomes the reply.
    pub(crate) fn run(
        &self,
        server: &Arc<ServerProfile>,
        (method, params, principal): (&str, Raw, Option<String>),
        handler: BoxFuture<'static, Reply>,
        owner: impl AsRef<Questions> + Send + Unpin + 'static,
    ) -> BoxFuture<'static, Reply> {
        match self {
            Self::Legacy(_) => handler,
            Self::Modern(_) => {
                let driver = Driver::new(handler, owner);
                let (server, method) = (Arc::clone(server), method.to_owned());
                Box::pin(async move {
                    let outcome = driver.await;
                    let binding = || StateBinding::new(&server.info.name, principal, &method, &params);
                    modern::reply_of_run(&server, binding, outcome)
                })
            }
        }
    }

    /// Lowers an error to the revision.
    pub(crate) fn lower_error(&self, mut error: RpcError) -> RpcError {
        lower_error(&mut error, self.revision());
        error
    }

    /// Encodes a reply: lowered to the revision, with the additional members of the modern era.
    pub(crate) fn encode_reply(&self, server: &ServerProfile, reply: Reply) -> Result<Raw, RpcError> {
        let revision = self.revision();
        let mut result = reply.map_err(|error| self.lower_error(error))?;
        match self {
            Self::Legacy(_) => {
                result.lower(revision);
                Raw::encode_sized(&result, result.size_hint())
                    .map_err(|error| RpcError::internal(error.to_string()))
            }
            Self::Modern(_) => {
                apply_cache_hints(&mut result, server.hints);
                result.lower(revision);
                modern::encode_result(server, result)
            }
        }
    }
}

/// The answers and the state of a retry.
pub(crate) struct RetryParams<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: &'a Raw,
    pub(crate) responses: Option<&'a switchboard_protocol::InputResponses>,
    pub(crate) state: Option<&'a str>,
    pub(crate) caller: Option<&'a Caller>,
}

/// Adds the default cache hints to lists and resources.
fn apply_cache_hints(result: &mut ServerResult, hints: CacheHints) {
    let (ttl, scope) = match result {
        ServerResult::Discover(result) => (&mut result.ttl_ms, &mut result.cache_scope),
        ServerResult::ListTools(result) => (&mut result.ttl_ms, &mut result.cache_scope),
        ServerResult::ListResources(result) => (&mut result.ttl_ms, &mut result.cache_scope),
        ServerResult::ListResourceTemplates(result) => (&mut result.ttl_ms, &mut result.cache_scope),
        ServerResult::ReadResource(result) => (&mut result.ttl_ms, &mut result.cache_scope),
        ServerResult::ListPrompts(result) => (&mut result.ttl_ms, &mut result.cache_scope),
        _ => return,
    };
    *ttl = ttl.or(hints.ttl_ms);
    *scope = scope.or(hints.cache_scope);
}

/// Returns the capability that the client has not declared and would need for this question.
fn undeclared_capability(
    has: &ClientCapabilities,
    request: &InputRequest,
) -> Option<(&'static str, ClientCapabilities)> {
    let mut required = ClientCapabilities::new();
    match request {
        InputRequest::Elicit(params) => {
            let is_url = matches!(&**params, ElicitParams::Url(_));
            let allowed = has.elicitation.as_ref().is_some_and(|elicitation| {
                if is_url { elicitation.allows_url() } else { elicitation.allows_form() }
            });
            let mut elicitation = ElicitationCapability::new();
            if is_url {
                elicitation.url = Some(Settings::new());
            } else {
                elicitation.form = Some(Settings::new());
            }
            required.elicitation = Some(elicitation);
            (!allowed).then_some((if is_url { "elicitation.url" } else { "elicitation" }, required))
        }
        InputRequest::Sample(params) => {
            let with_tools = params.tools.is_some();
            let allowed =
                has.sampling.as_ref().is_some_and(|sampling| !with_tools || sampling.tools.is_some());
            let mut sampling = SamplingCapability::new();
            sampling.tools = with_tools.then(Settings::new);
            required.sampling = Some(sampling);
            (!allowed).then_some((if with_tools { "sampling.tools" } else { "sampling" }, required))
        }
        InputRequest::Roots(_) => {
            required.roots = Some(RootsCapability::new());
            has.roots.is_none().then_some(("roots", required))
        }
        _ => Some(("this question", required)),
    }
}

/// Sends a question to the client as a request.
async fn send_question(channel: &dyn ReplyChannel, request: &InputRequest) -> Result<Raw, AskError> {
    #[derive(serde::Deserialize)]
    struct EncodedQuestion {
        params: Option<Raw>,
    }
    let encoded = Raw::encode(request).map_err(|error| AskError::Invalid(error.to_string()))?;
    let EncodedQuestion { params } =
        encoded.decode().map_err(|error| AskError::Invalid(error.to_string()))?;
    let params = params.unwrap_or_else(Raw::empty_object);
    let mut exchange = channel.ask(request.method(), &params).ok_or(AskError::Gone)?;
    exchange.done().await.map_err(|_| AskError::Gone)?.map_err(AskError::Refused)
}

/// Returns whether a change is announced to this session.
pub(crate) fn wants_change(session: &Session, server: &ServerProfile, change: &ServerChange) -> bool {
    let offered = &server.capabilities;
    let changes = |list: Option<bool>| list == Some(true);
    session.handshake().is_some()
        && match change {
            ServerChange::Tools => changes(offered.tools.as_ref().and_then(|tools| tools.list_changed)),
            ServerChange::Prompts => {
                changes(offered.prompts.as_ref().and_then(|prompts| prompts.list_changed))
            }
            ServerChange::Resources => {
                changes(offered.resources.as_ref().and_then(|resources| resources.list_changed))
            }
            ServerChange::Resource { uri, scope } => session.is_subscribed(uri, scope.as_deref()),
            // Legacy tasks belong to their connection: their handler sends the notification.
            ServerChange::Task(_) => false,
            ServerChange::Notification { owner, method, .. } => {
                session.key().is_some_and(|key| key == *owner)
                    && surface::exists(method, session.revision(), Direction::ServerToClient)
            }
        }
}

/// Creates the result of `server/discover` for a caller.
pub(crate) fn discover(
    server: &ServerProfile,
    caller: Option<&Caller>,
) -> switchboard_protocol::DiscoverResult {
    let versions: Vec<String> = server.revisions.all().iter().map(|revision| revision.to_string()).collect();
    let mut result = switchboard_protocol::DiscoverResult::new(versions, server.capabilities_for(caller));
    result.instructions = server.instructions.get(caller);
    let hints = server.hints;
    (result.ttl_ms, result.cache_scope) = (hints.ttl_ms, hints.cache_scope);
    result
}

/// Creates the error for an unsupported version, with the supported ones and the requested one.
pub(crate) fn unsupported_version(server: &ServerProfile, requested: &str) -> RpcError {
    let supported: Vec<_> = server.revisions.all().iter().map(|revision| revision.as_str()).collect();
    let data = serde_json::json!({ "supported": supported, "requested": requested });
    let message =
        format!("Unsupported protocol version {requested:?}; this server speaks {}", supported.join(", "));
    RpcError::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, message).with_data(data)
}
