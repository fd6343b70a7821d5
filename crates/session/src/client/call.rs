//! One call, from its parameters to its result: rounds of input, tasks, progress and timeouts included.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_core::Serialize;
use switchboard_protocol::{
    ClientCapabilities, FromRaw, InputRequest, InputRequired, LogMessage, OrderedMap, ProgressParams, Raw,
    RequestId, RpcError,
};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::client::ClientHandler;
use crate::client::call_options::{CallOptions, LogCallback, NotificationCallback, ProgressCallback};
use crate::client::deadline::{CallClock, CallDeadline, CallTimeouts, DeadlineState};
use crate::client::live_session::LiveSession;
use crate::client::upcalls::{AskingCall, InputError, InputOrigin};
use crate::era::{Extras, ResultKind, Round, TaskTicket, is_extension_note};
use crate::link::{
    BoxFuture, CallNumber, Exchange, ExchangeEvent, ExchangeKind, InboundNotification, Mirror,
    OutgoingRequest,
};
use crate::request::CallError;

/// One call: its method, parameters and options.
pub(crate) struct ClientCall<'a> {
    pub(crate) method: &'a str,
    /// The text of an object without `_meta`.
    pub(crate) body: String,
    /// The name or URI that the request is about.
    pub(crate) name: Option<&'a str>,
    /// The input schema of the tool that is called, and the arguments.
    pub(crate) marked: Option<(&'a Raw, &'a Raw)>,
    /// Whether the request carries a progress token.
    pub(crate) requests_progress: bool,
    pub(crate) options: CallOptions,
}

impl<'a> ClientCall<'a> {
    pub(crate) fn new(method: &'a str, body: impl Into<String>) -> Self {
        Self {
            method,
            body: body.into(),
            name: None,
            marked: None,
            requests_progress: false,
            options: CallOptions::default(),
        }
    }

    pub(crate) fn about(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }

    pub(crate) fn within(mut self, time: Duration) -> Self {
        self.options.timeout = Some(time);
        self
    }

    /// Sets the number of the call that this one is part of.
    pub(crate) fn part_of(mut self, call: Option<CallNumber>) -> Self {
        self.options.number = call;
        self
    }
}

/// What a request without options is sent for.
#[derive(Clone, Copy, Default)]
pub(crate) struct RequestOrigin<'a> {
    /// The capabilities declared with it, instead of those of the session.
    pub(crate) capabilities: Option<&'a ClientCapabilities>,
    /// The call it is part of.
    pub(crate) call: Option<CallNumber>,
}

impl fmt::Debug for ClientCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCall").field("method", &self.method).finish_non_exhaustive()
    }
}

/// The result of a call.
pub(crate) struct CallOutcome {
    pub(crate) result: Raw,
    /// Whether it took input from the user: then the result must not be cached.
    pub(crate) took_input: bool,
}

/// The next step after a response that is not the final result.
enum FollowUp<'a> {
    Round(BoxFuture<'a, Result<Round, CallError>>),
    Task(TaskTicket),
}

impl LiveSession {
    /// Makes a call and waits for its result.
    pub(crate) async fn call(&self, mut call: ClientCall<'_>) -> Result<Raw, CallError> {
        // By reference: a future holds its arguments twice.
        self.run_call(&mut call).await.map(|finished| finished.result)
    }

    /// As [`Self::call`], boxed, so that the code of a call is generated only once.
    pub(crate) fn call_boxed<'a>(&'a self, call: ClientCall<'a>) -> BoxFuture<'a, Result<Raw, CallError>> {
        Box::pin(self.call(call))
    }

    pub(crate) async fn run_call(&self, call: &mut ClientCall<'_>) -> Result<CallOutcome, CallError> {
        let CallOptions { timeout, idle_timeout, .. } = call.options;
        let timeouts = CallTimeouts {
            idle: idle_timeout.or(timeout).unwrap_or(self.limits().call_idle),
            total: timeout.unwrap_or(self.limits().call_total),
            shared_pause: self.limits().shared_pause,
        };
        let mut deadline = CallDeadline::start(&self.clock, timeouts);
        let mut observer = CallObserver::new(&call.options, self.limits().progress_per_second);
        let mut round = first_round(&mut call.options);
        let mut rounds = 0;
        loop {
            let mut exchange = self.open_exchange(call, round.as_ref());
            let outcome = self.wait_for_response(&mut exchange, &mut deadline, &mut observer).await?;
            drop(exchange);
            let result = outcome.map_err(CallError::Remote)?;
            // Boxed: a rare follow-up must not enlarge the future of every call.
            let as_task = call.options.task.is_some();
            let as_written = call.options.interim_results.then(|| result.clone());
            let follow_up: FollowUp<'_> =
                match (self.dialect.classify_result(call.method, result, as_task)?, as_written) {
                    (ResultKind::InputRequired(_) | ResultKind::Task(_), Some(result)) => {
                        return Ok(CallOutcome { result, took_input: true });
                    }
                    (ResultKind::Done(result), _) => {
                        return Ok(CallOutcome { result, took_input: round.is_some() });
                    }
                    (ResultKind::InputRequired(asked), None) => {
                        rounds += 1;
                        if rounds > self.limits().rounds {
                            return Err(CallError::TooManyRounds { rounds: self.limits().rounds });
                        }
                        let handler = call.options.handler.as_ref().unwrap_or(&self.handler);
                        FollowUp::Round(self.answer_round(asked, rounds, &**handler, deadline.call_clock()))
                    }
                    (ResultKind::Task(ticket), None) => FollowUp::Task(ticket),
                };
            match follow_up {
                FollowUp::Round(answered) => round = Some(answered.await?),
                FollowUp::Task(ticket) => {
                    let result = self.follow_task(ticket, &call.options, &mut deadline).await?;
                    return Ok(CallOutcome { result, took_input: true });
                }
            }
            deadline.record_activity();
        }
    }

    fn next_id(&self) -> RequestId {
        RequestId::Number(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    fn open_exchange(&self, call: &mut ClientCall<'_>, round: Option<&Round>) -> Exchange {
        let id = self.next_id();
        let progress = call.requests_progress.then_some(&id);
        let extras = Extras {
            progress,
            meta: call.options.meta.as_ref(),
            capabilities: call.options.capabilities.as_ref(),
            round,
        };
        let splice_point = self.dialect.add_meta(&mut call.body, &extras);
        let mirror = self.mirror(call.name, call.marked);
        let (kind, number) = (ExchangeKind::Call, call.options.number);
        let ask = OutgoingRequest { id, method: call.method, params: &call.body, mirror, kind, call: number };
        let exchange = self.link.open(ask);
        splice_point.undo(&mut call.body);
        exchange
    }

    /// Opens an exchange for a request without options.
    pub(crate) fn open_request(
        &self,
        method: &str,
        params: &impl Serialize,
        name: Option<&str>,
        kind: ExchangeKind,
    ) -> Result<Exchange, CallError> {
        self.open_request_with(method, params, name, kind, RequestOrigin::default())
    }

    /// As [`Self::open_request`], with capabilities and the number of a call.
    pub(crate) fn open_request_with(
        &self,
        method: &str,
        params: &impl Serialize,
        name: Option<&str>,
        kind: ExchangeKind,
        RequestOrigin { capabilities, call }: RequestOrigin<'_>,
    ) -> Result<Exchange, CallError> {
        let mut params = Raw::encode(params)?.as_str().to_owned();
        self.dialect.add_meta(&mut params, &Extras { capabilities, ..Extras::default() });
        let (id, mirror) = (self.next_id(), self.mirror(name, None));
        Ok(self.link.open(OutgoingRequest { id, method, params: &params, mirror, kind, call }))
    }

    fn mirror<'a>(&self, name: Option<&'a str>, marked: Option<(&'a Raw, &'a Raw)>) -> Mirror<'a> {
        Mirror { revision: self.dialect.revision_per_request(), name, marked }
    }

    /// Waits for the response of one exchange. The exchange cancels itself when it is dropped by an early return.
    pub(crate) async fn wait_for_response(
        &self,
        exchange: &mut Exchange,
        deadline: &mut CallDeadline<'_>,
        observer: &mut CallObserver,
    ) -> Result<Result<Raw, RpcError>, CallError> {
        // The call was started, or had activity, just now: no need to read the clock again.
        let mut timer = self.timers.acquire(self.wakeup_at(deadline.at_last_activity(), observer)?);
        loop {
            // The response first: one that has arrived counts, however late this task is polled.
            let wakeup = poll_fn(|cx| match exchange.poll_event(cx) {
                Poll::Ready(event) => Poll::Ready(Some(event)),
                Poll::Pending => timer.poll(cx).map(|()| None),
            });
            match wakeup.await {
                Some(event) => match event? {
                    ExchangeEvent::Done(outcome) => {
                        observer.flush();
                        return Ok(outcome);
                    }
                    ExchangeEvent::Notification(note) if &*note.method == "notifications/progress" => {
                        deadline.record_activity();
                        observer.push_progress(&note);
                        // Checked with every notification: a flood of them must not outrun the total timeout.
                        timer.reset(self.next_wakeup(deadline, observer)?);
                    }
                    ExchangeEvent::Notification(note)
                        if observer.on_notification.is_some() && is_extension_note(&note.method) =>
                    {
                        deadline.record_activity();
                        observer.forward_note(note);
                        timer.reset(self.next_wakeup(deadline, observer)?);
                    }
                    ExchangeEvent::Notification(note) => {
                        observer.forward_log(&note);
                        _ = self.apply_note(note);
                    }
                    ExchangeEvent::Observed(note) => observer.forward_log(&note),
                    ExchangeEvent::ObservedByAll(note) => observer.forward_shared_log(&note),
                    ExchangeEvent::Upcall(upcall) => {
                        let call =
                            AskingCall { handler: observer.handler.clone(), clock: deadline.call_clock() };
                        let task = self.answer_on_exchange(upcall, call);
                        observer.upcalls.extend(task);
                    }
                },
                None => {
                    observer.flush_if_due();
                    timer.reset(self.next_wakeup(deadline, observer)?);
                }
            }
        }
    }

    /// Returns when to check the deadline again.
    ///
    /// # Errors
    /// When the call has timed out.
    fn next_wakeup(
        &self,
        deadline: &CallDeadline<'_>,
        observer: &CallObserver,
    ) -> Result<Instant, CallError> {
        self.wakeup_at(deadline.check(), observer)
    }

    fn wakeup_at(&self, reading: DeadlineState, observer: &CallObserver) -> Result<Instant, CallError> {
        match reading {
            DeadlineState::Until(at) => Ok(observer.next_due().map_or(at, |due| due.min(at))),
            DeadlineState::Expired(kind, after) => {
                Err(CallError::TimedOut { kind, after, hint: self.link.hint() })
            }
        }
    }

    /// Gets the responses to all input requests, and the state to send back with them. Boxed, so that its code is generated
    /// once.
    fn answer_round<'a>(
        &'a self,
        asked: InputRequired,
        rounds: usize,
        handler: &'a dyn ClientHandler,
        clock: Arc<CallClock>,
    ) -> BoxFuture<'a, Result<Round, CallError>> {
        Box::pin(async move {
            let responses = match asked.input_requests {
                Some(requests) => Some(self.answer_inputs(requests, handler, &clock).await?),
                None => {
                    // Only a state to send back: the server sheds load. Back off before the retry.
                    let doubled = 50u64.saturating_mul(1 << rounds.min(10));
                    tokio::time::sleep(Duration::from_millis(doubled / 2)).await;
                    None
                }
            };
            Ok(Round { responses, state: asked.request_state })
        })
    }

    /// Answers all input requests of a call concurrently.
    pub(crate) async fn answer_inputs(
        &self,
        requests: OrderedMap<InputRequest>,
        handler: &dyn ClientHandler,
        clock: &Arc<CallClock>,
    ) -> Result<Raw, CallError> {
        let mut inputs: Vec<_> = requests
            .into_iter()
            .map(|(key, request)| {
                let (key_of_request, clock) = (Some(key.clone()), Some(Arc::clone(clock)));
                let origin = InputOrigin { token: None, key: key_of_request, names_call: true, clock };
                (key, InputState::Pending(self.answer_input(request, origin, handler)))
            })
            .collect();
        poll_fn(|cx| poll_all(&mut inputs, cx)).await?;
        // In the order of the requests.
        let answered = inputs.into_iter().filter_map(|(key, input)| match input {
            InputState::Pending(_) => None,
            InputState::Answered(answer) => Some((key, answer)),
        });
        Ok(Raw::encode(&answered.collect::<OrderedMap<Raw>>())?)
    }
}

/// Returns the answers and the state that a call begins with.
fn first_round(options: &mut CallOptions) -> Option<Round> {
    let round = Round { responses: options.input_responses.take(), state: options.request_state.take() };
    (round.responses.is_some() || round.state.is_some()).then_some(round)
}

/// One input request of several: being answered, or answered.
enum InputState<'a> {
    Pending(BoxFuture<'a, Result<Raw, InputError>>),
    Answered(Raw),
}

/// Polls all input requests, so that a slow one does not delay the others.
fn poll_all(inputs: &mut [(String, InputState<'_>)], cx: &mut Context<'_>) -> Poll<Result<(), InputError>> {
    let mut all = Poll::Ready(Ok(()));
    for (_, input) in inputs {
        if let InputState::Pending(asked) = input {
            match asked.as_mut().poll(cx)? {
                Poll::Ready(answer) => *input = InputState::Answered(answer),
                Poll::Pending => all = Poll::Pending,
            }
        }
    }
    all
}

/// Passes progress and notifications of extensions to the callbacks of a call.
pub(crate) struct CallObserver {
    throttle: Option<Box<ProgressThrottle>>,
    on_notification: Option<NotificationCallback>,
    on_log: Option<LogCallback>,
    on_shared_log: Option<LogCallback>,
    /// The handler of requests that arrive on the exchange of the call; `None` for that of the session.
    handler: Option<Arc<dyn ClientHandler>>,
    /// The tasks that answer these requests, which end with the call.
    upcalls: Vec<AbortHandle>,
}

impl Drop for CallObserver {
    fn drop(&mut self) {
        self.upcalls.iter().for_each(AbortHandle::abort);
    }
}

/// Limits the rate of progress callbacks: in order, never backwards, the latest value before the result.
struct ProgressThrottle {
    callback: ProgressCallback,
    min_interval: Duration,
    last: f64,
    sent_at: Option<Instant>,
    pending: Option<ProgressParams>,
}

impl CallObserver {
    fn new(options: &CallOptions, per_second: u32) -> Self {
        let throttle = options.on_progress.clone().map(|callback| {
            let min_interval = Duration::from_secs(1) / per_second.max(1);
            Box::new(ProgressThrottle {
                callback,
                min_interval,
                last: f64::NEG_INFINITY,
                sent_at: None,
                pending: None,
            })
        });
        Self {
            throttle,
            on_notification: options.on_notification.clone(),
            on_log: options.on_log.clone(),
            on_shared_log: options.on_shared_log.clone(),
            handler: options.handler.clone(),
            upcalls: Vec::new(),
        }
    }

    /// Passes on a log message.
    fn forward_log(&self, note: &InboundNotification) {
        pass_log(self.on_log.as_ref(), note);
    }

    /// Passes on a log message that may belong to another call.
    fn forward_shared_log(&self, note: &InboundNotification) {
        pass_log(self.on_shared_log.as_ref(), note);
    }

    /// Takes a progress notification.
    fn push_progress(&mut self, note: &InboundNotification) {
        let Some(throttle) = &mut self.throttle else { return };
        let Some(Ok(progress)) = note.params.as_ref().map(ProgressParams::from_raw) else { return };
        if progress.progress <= throttle.last {
            return;
        }
        throttle.last = progress.progress;
        throttle.pending = Some(progress);
        self.flush_if_due();
    }

    /// Passes on a notification of an extension.
    fn forward_note(&mut self, note: InboundNotification) {
        if let Some(callback) = &self.on_notification {
            (*callback.lock())(&note.method, note.params.unwrap_or_else(Raw::empty_object));
        }
    }

    /// Returns when the pending progress may be reported.
    fn next_due(&self) -> Option<Instant> {
        let throttle = self.throttle.as_ref().filter(|throttle| throttle.pending.is_some())?;
        Some(throttle.sent_at.map_or_else(Instant::now, |at| at + throttle.min_interval))
    }

    fn flush_if_due(&mut self) {
        if self.next_due().is_some_and(|due| due <= Instant::now()) {
            self.flush();
        }
    }

    /// Reports the pending progress now.
    fn flush(&mut self) {
        if let Some(throttle) = &mut self.throttle
            && let Some(progress) = throttle.pending.take()
        {
            (*throttle.callback.lock())(progress);
            throttle.sent_at = Some(Instant::now());
        }
    }
}

/// Passes a log message to a callback.
fn pass_log(callback: Option<&LogCallback>, note: &InboundNotification) {
    let Some(callback) = callback.filter(|_| &*note.method == "notifications/message") else { return };
    if let Some(Ok(message)) = note.params.as_ref().map(LogMessage::from_raw) {
        (*callback.lock())(message);
    }
}
