//! One call, from its parameters to its result: rounds of input, tasks, progress and time included.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use switchboard_protocol::{
    FromRaw, InputRequest, InputRequired, Meta, OrderedMap, ProgressParams, Raw, RequestId, RpcError,
};
use tokio::time::Instant;

use crate::client::ClientHandler;
use crate::client::clock::{Bounds, Reading, Watch};
use crate::client::live::Live;
use crate::era::{Extras, Round, Settled, TaskTicket, is_extension_note};
use crate::link::{Ask, BoxFuture, Event, Exchange, Life, Mirror, Note};
use crate::request::CallError;

/// Is told of progress.
pub(crate) type OnProgress = Box<dyn FnMut(ProgressParams) + Send>;

/// Is told what an extension says about a call.
pub(crate) type OnNote = Box<dyn FnMut(&str, Raw) + Send>;

/// What is called, and how.
pub(crate) struct Call<'a> {
    pub(crate) method: &'a str,
    /// The text of an object without `_meta`.
    pub(crate) body: String,
    pub(crate) meta: Option<&'a Meta>,
    /// What the request is about.
    pub(crate) name: Option<&'a str>,
    /// The input schema of the tool that is called, and the arguments.
    pub(crate) marked: Option<(&'a Raw, &'a Raw)>,
    pub(crate) idle: Option<Duration>,
    pub(crate) total: Option<Duration>,
    /// Whether progress is asked for.
    pub(crate) tracked: bool,
    pub(crate) on_progress: Option<OnProgress>,
    pub(crate) on_note: Option<OnNote>,
    /// Whether the parameters ask for a task (2025-11-25).
    pub(crate) as_task: bool,
    /// Who answers what the server asks within this call; without one, whoever answers for the session.
    pub(crate) answers: Option<Arc<dyn ClientHandler>>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(method: &'a str, body: impl Into<String>) -> Self {
        Self {
            method,
            body: body.into(),
            meta: None,
            name: None,
            marked: None,
            idle: None,
            total: None,
            tracked: false,
            on_progress: None,
            on_note: None,
            as_task: false,
            answers: None,
        }
    }

    pub(crate) fn about(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }

    pub(crate) fn within(mut self, time: Duration) -> Self {
        self.idle = Some(time);
        self.total = Some(time);
        self
    }
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("method", &self.method).finish_non_exhaustive()
    }
}

/// How a call ended.
pub(crate) struct Finished {
    pub(crate) result: Raw,
    /// Whether it took input from the user: then the result is for this call alone.
    pub(crate) took_input: bool,
}

/// What a result may ask for before there is another.
enum FollowUp<'a> {
    Round(BoxFuture<'a, Result<Round, CallError>>),
    Task(TaskTicket),
}

impl Live {
    /// Makes a call and waits for its result.
    pub(crate) async fn call(&self, mut call: Call<'_>) -> Result<Raw, CallError> {
        // By reference: what is handed to a future stands in it twice.
        self.call_through(&mut call).await.map(|finished| finished.result)
    }

    /// As [`Self::call`], where nothing is gained by having it in line: the code of a call is there once.
    pub(crate) fn call_boxed<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Raw, CallError>> {
        Box::pin(self.call(call))
    }

    pub(crate) async fn call_through(&self, call: &mut Call<'_>) -> Result<Finished, CallError> {
        let bounds = Bounds {
            idle: call.idle.unwrap_or(self.limits().call_idle),
            total: call.total.unwrap_or(self.limits().call_total),
        };
        let mut watch = Watch::start(&self.clock, bounds);
        let mut teller = Teller::new(call.on_progress.take(), self.limits().progress_per_second);
        teller.on_note = call.on_note.take();
        let mut round: Option<Round> = None;
        let mut rounds = 0;
        loop {
            let mut exchange = self.open(call, round.as_ref());
            let outcome = self.wait(&mut exchange, &mut watch, &mut teller).await?;
            drop(exchange);
            let result = outcome.map_err(CallError::Remote)?;
            // Boxed, and nothing of it held beside the box: what happens seldom must not make every call larger.
            let seldom: FollowUp<'_> = match self.dialect.settle(call.method, result, call.as_task)? {
                Settled::Done(result) => return Ok(Finished { result, took_input: round.is_some() }),
                Settled::Ask(asked) => {
                    rounds += 1;
                    if rounds > self.limits().rounds {
                        return Err(CallError::TooManyRounds { rounds: self.limits().rounds });
                    }
                    let answers = call.answers.as_ref().unwrap_or(&self.answers);
                    FollowUp::Round(self.round(asked, rounds, &**answers))
                }
                Settled::Task(ticket) => FollowUp::Task(ticket),
            };
            match seldom {
                FollowUp::Round(answered) => round = Some(answered.await?),
                FollowUp::Task(ticket) => {
                    let result = self.follow(ticket, &mut watch).await?;
                    return Ok(Finished { result, took_input: true });
                }
            }
            watch.word();
        }
    }

    pub(crate) fn next_id(&self) -> RequestId {
        RequestId::Number(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    fn open(&self, call: &mut Call<'_>, round: Option<&Round>) -> Exchange {
        let id = self.next_id();
        let progress = call.tracked.then_some(&id);
        let dressed = self.dialect.dress(&mut call.body, &Extras { progress, meta: call.meta, round });
        let mirror = self.mirror(call.name, call.marked);
        let ask = Ask { id, method: call.method, params: &call.body, mirror, life: Life::Call };
        let exchange = self.link.open(ask);
        dressed.undo(&mut call.body);
        exchange
    }

    pub(crate) fn mirror<'a>(&self, name: Option<&'a str>, marked: Option<(&'a Raw, &'a Raw)>) -> Mirror<'a> {
        Mirror { revision: self.dialect.says_revision(), name, marked }
    }

    /// Waits for the answer of one exchange. The exchange cancels itself when it is dropped by an early return.
    pub(crate) async fn wait(
        &self,
        exchange: &mut Exchange,
        watch: &mut Watch<'_>,
        teller: &mut Teller,
    ) -> Result<Result<Raw, RpcError>, CallError> {
        // It was started, or there was a word, just now.
        let mut alarm = self.alarms.set(self.look_at(watch.at_last_word(), teller)?);
        loop {
            // The answer first: a call that is answered in time has been answered, however late anybody looks.
            let stirred = poll_fn(|cx| match exchange.poll_event(cx) {
                Poll::Ready(event) => Poll::Ready(Some(event)),
                Poll::Pending => alarm.poll(cx).map(|()| None),
            });
            match stirred.await {
                Some(event) => match event? {
                    Event::Done(outcome) => {
                        teller.finish();
                        return Ok(outcome);
                    }
                    Event::Note(note) if &*note.method == "notifications/progress" => {
                        watch.word();
                        teller.hear(&note);
                        // Looked at with every word: a flood of them must not outrun the total.
                        alarm.reset(self.next_look(watch, teller)?);
                    }
                    Event::Note(note) if teller.on_note.is_some() && is_extension_note(&note.method) => {
                        watch.word();
                        teller.pass_on(note);
                        alarm.reset(self.next_look(watch, teller)?);
                    }
                    Event::Note(note) => _ = self.heard(note),
                    Event::Upcall(upcall) => self.refuse_upcall(&upcall),
                },
                None => {
                    teller.tell_held();
                    alarm.reset(self.next_look(watch, teller)?);
                }
            }
        }
    }

    /// When to look at the watch again, or that the time is up.
    fn next_look(&self, watch: &Watch<'_>, teller: &Teller) -> Result<Instant, CallError> {
        self.look_at(watch.read(), teller)
    }

    fn look_at(&self, reading: Reading, teller: &Teller) -> Result<Instant, CallError> {
        match reading {
            Reading::Until(at) => Ok(teller.due().map_or(at, |due| due.min(at))),
            Reading::Expired(phase, after) => {
                Err(CallError::TimedOut { phase, after, hint: self.link.hint() })
            }
        }
    }

    /// Gets the answers to all that was asked, and what to send back with them. Boxed here, so that it is made once.
    fn round<'a>(
        &'a self,
        asked: InputRequired,
        rounds: usize,
        answers: &'a dyn ClientHandler,
    ) -> BoxFuture<'a, Result<Round, CallError>> {
        Box::pin(async move {
            let responses = match asked.input_requests {
                Some(requests) => Some(self.inputs(requests, answers).await?),
                None => {
                    // Only a state to hand back: the server sheds load. Back off before trying again.
                    let doubled = 50u64.saturating_mul(1 << rounds.min(10));
                    tokio::time::sleep(Duration::from_millis(doubled / 2)).await;
                    None
                }
            };
            Ok(Round { responses, state: asked.request_state })
        })
    }

    /// Answers every question, all at the same time.
    pub(crate) async fn inputs(
        &self,
        requests: OrderedMap<InputRequest>,
        answers: &dyn ClientHandler,
    ) -> Result<Raw, CallError> {
        let mut inputs: Vec<_> = requests
            .into_iter()
            .map(|(key, request)| (key, Input::Asked(self.input(request, None, answers))))
            .collect();
        poll_fn(|cx| poll_all(&mut inputs, cx)).await?;
        // In the order they were asked.
        let answered = inputs.into_iter().filter_map(|(key, input)| match input {
            Input::Asked(_) => None,
            Input::Given(answer) => Some((key, answer)),
        });
        Ok(Raw::encode(&answered.collect::<OrderedMap<Raw>>())?)
    }
}

/// The answer to one question of several.
enum Input<'a> {
    Asked(BoxFuture<'a, Result<Raw, CallError>>),
    Given(Raw),
}

/// Polled together: a question answered late does not keep the others waiting.
fn poll_all(inputs: &mut [(String, Input<'_>)], cx: &mut Context<'_>) -> Poll<Result<(), CallError>> {
    let mut all = Poll::Ready(Ok(()));
    for (_, input) in inputs {
        if let Input::Asked(asked) = input {
            match asked.as_mut().poll(cx)? {
                Poll::Ready(answer) => *input = Input::Given(answer),
                Poll::Pending => all = Poll::Pending,
            }
        }
    }
    all
}

/// Tells a caller of progress and of what extensions say, where one wants to be told.
pub(crate) struct Teller {
    telling: Option<Box<Telling>>,
    on_note: Option<OnNote>,
}

/// In order, never backwards, not too often, the latest before the result.
struct Telling {
    tell: OnProgress,
    gap: Duration,
    last: f64,
    told_at: Option<Instant>,
    held: Option<ProgressParams>,
}

impl Teller {
    pub(crate) fn new(tell: Option<OnProgress>, per_second: u32) -> Self {
        let telling = tell.map(|tell| {
            let gap = Duration::from_secs(1) / per_second.max(1);
            Box::new(Telling { tell, gap, last: f64::NEG_INFINITY, told_at: None, held: None })
        });
        Self { telling, on_note: None }
    }

    /// Hears of progress.
    fn hear(&mut self, note: &Note) {
        let Some(telling) = &mut self.telling else { return };
        let Some(Ok(progress)) = note.params.as_ref().map(ProgressParams::from_raw) else { return };
        if progress.progress <= telling.last {
            return;
        }
        telling.last = progress.progress;
        telling.held = Some(progress);
        self.tell_held();
    }

    /// Hears what an extension says.
    fn pass_on(&mut self, note: Note) {
        if let Some(tell) = &mut self.on_note {
            tell(&note.method, note.params.unwrap_or_else(Raw::empty_object));
        }
    }

    /// When what is held back may be told.
    fn due(&self) -> Option<Instant> {
        let telling = self.telling.as_ref().filter(|telling| telling.held.is_some())?;
        Some(telling.told_at.map_or_else(Instant::now, |at| at + telling.gap))
    }

    fn tell_held(&mut self) {
        if self.due().is_some_and(|due| due <= Instant::now()) {
            self.finish();
        }
    }

    /// Tells what is held back, now.
    fn finish(&mut self) {
        if let Some(telling) = &mut self.telling
            && let Some(progress) = telling.held.take()
        {
            (telling.tell)(progress);
            telling.told_at = Some(Instant::now());
        }
    }
}
