//! How a client is measured: opened, warmed, asked what the server has used, driven, asked again, closed.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Semaphore;

use crate::args::{ClientArgs, Target, Watched, Work};
use crate::meter::{Mark, Usage, ticks};
use crate::report::Report;
use crate::{Fail, fixture};

/// A session with one server, as each make opens it.
pub trait Session: Sized + Send + Sync + 'static {
    /// Starts or reaches the server and gets ready to call.
    fn open(args: &ClientArgs) -> impl Future<Output = Result<Self, Fail>> + Send;

    /// Calls `echo`, and says how long the text was that came back.
    fn echo(&self, text: &str) -> impl Future<Output = Result<usize, Fail>> + Send;

    /// Calls `big`, and says how long the text was that came back.
    fn big(&self) -> impl Future<Output = Result<usize, Fail>> + Send;

    /// Lists the tools anew, and says how many there are.
    fn list(&self) -> impl Future<Output = Result<usize, Fail>> + Send;

    /// Calls `usage`, and gives the text.
    fn usage(&self) -> impl Future<Output = Result<String, Fail>> + Send;

    /// Ends the session, and its server where it started one.
    fn close(self) -> impl Future<Output = Result<(), Fail>> + Send;

    /// The process that the session has started.
    fn child(&self) -> Option<i32> {
        None
    }

    /// Makes many calls, and says how long each took.
    fn many(sessions: &Arc<Vec<Self>>, calls: Calls) -> impl Future<Output = Result<Vec<u32>, Fail>> + Send {
        spread(sessions, calls)
    }
}

/// Which calls are made.
#[derive(Debug, Clone, Copy)]
pub struct Calls {
    pub work: Work,
    pub count: usize,
    pub in_flight: usize,
    pub tools: Option<usize>,
}

impl Calls {
    /// Checks the size of an answer: the length of its text, or how many tools it lists.
    pub fn check(&self, size: usize) -> Result<(), Fail> {
        let expected = match self.work {
            Work::Echo => fixture::TEXT.len(),
            Work::Big => fixture::BIG_BYTES,
            Work::List | Work::Connect => self.tools.unwrap_or(size),
        };
        if size == expected {
            return Ok(());
        }
        Err(format!("the answer to {:?} has the size {size}, not {expected}", self.work).into())
    }
}

/// Makes calls from as many tasks as may be in flight, going round the sessions.
pub async fn spread<S: Session>(sessions: &Arc<Vec<S>>, calls: Calls) -> Result<Vec<u32>, Fail> {
    let worker = |first: usize| {
        let sessions = Arc::clone(sessions);
        async move {
            let mut times = Vec::with_capacity(calls.count.div_ceil(calls.in_flight));
            for number in (first..calls.count).step_by(calls.in_flight) {
                let began = Instant::now();
                one(&sessions[number % sessions.len()], calls).await?;
                times.push(ticks(began.elapsed()));
            }
            Ok::<_, Fail>(times)
        }
    };
    let workers: Vec<_> = (0..calls.in_flight).map(|first| tokio::spawn(worker(first))).collect();
    let mut times = Vec::new();
    for worker in workers {
        let found = worker.await??;
        if times.is_empty() { times = found } else { times.extend(found) }
    }
    Ok(times)
}

/// Makes one call and checks its answer.
async fn one<S: Session>(session: &S, calls: Calls) -> Result<(), Fail> {
    let size = match calls.work {
        Work::Echo => session.echo(fixture::TEXT).await?,
        Work::Big => session.big().await?,
        Work::List | Work::Connect => session.list().await?,
    };
    calls.check(size)
}

/// Opens one session; where connecting is the work, the tools are listed too. Says how long it took.
async fn connect<S: Session>(
    turns: Arc<Semaphore>,
    args: Arc<ClientArgs>,
    began: Instant,
) -> Result<(S, u32), Fail> {
    let _turn = turns.acquire().await;
    let session = S::open(&args).await?;
    if args.work == Work::Connect {
        // Not `one`, which has room for every kind of call: what is measured here is memory.
        calls(&args, 1).check(session.list().await?)?;
    }
    Ok((session, ticks(began.elapsed())))
}

fn calls(args: &ClientArgs, count: usize) -> Calls {
    Calls { work: args.work, count, in_flight: args.in_flight.min(count.max(1)), tools: args.tools }
}

/// What the servers have used: all of them where each session has its own.
async fn used<S: Session>(args: &ClientArgs, sessions: &[S]) -> Result<Usage, Fail> {
    if let Some(watched) = args.watch {
        let process = match watched {
            Watched::Process(process) => Some(process),
            Watched::Child => sessions.first().and_then(S::child),
        };
        return Usage::of(process.ok_or("the session has started no process to watch")?);
    }
    let servers = match args.target {
        Target::Url(_) => &sessions[..1],
        Target::Command(_) => sessions,
    };
    let mut all = Usage::default();
    for session in servers {
        all = all.and(Usage::read(&session.usage().await?)?);
    }
    Ok(all)
}

/// Measures a client, and gives the line to print.
pub(crate) async fn drive<S: Session>(args: ClientArgs) -> Result<String, Fail> {
    let args = Arc::new(args);
    let turns = Arc::new(Semaphore::new(at_once(&args.target)));
    let (start, began) = (Mark::now(), Instant::now());
    let opening: Vec<_> = (0..args.sessions)
        .map(|_| tokio::spawn(connect::<S>(Arc::clone(&turns), Arc::clone(&args), began)))
        .collect();
    let mut sessions = Vec::with_capacity(args.sessions);
    let mut times = Vec::with_capacity(args.sessions);
    for opening in opening {
        let (session, time) = opening.await??;
        sessions.push(session);
        times.push(time);
    }
    let sessions = Arc::new(sessions);
    let report = if args.work == Work::Connect {
        let (wall_us, cpu_us) = start.spent();
        let own = Usage { cpu_us, ..Usage::now() };
        Report { times, wall_us, own, server: used(&args, &sessions).await? }
    } else {
        if args.tools.is_some() {
            // As a host does before it calls anything, so that what a client keeps of a list is there.
            for session in sessions.iter() {
                Calls { work: Work::List, ..calls(&args, 1) }.check(session.list().await?)?;
            }
        }
        S::many(&sessions, calls(&args, args.warm)).await?;
        let before = used(&args, &sessions).await?;
        let start = Mark::now();
        let times = S::many(&sessions, calls(&args, args.calls)).await?;
        let (wall_us, cpu_us) = start.spent();
        let own = Usage { cpu_us, ..Usage::now() };
        let after = used(&args, &sessions).await?;
        let server = Usage { cpu_us: after.cpu_us.saturating_sub(before.cpu_us), ..after };
        Report { times, wall_us, own, server }
    };
    close(sessions, &turns).await?;
    Ok(report.line())
}

/// Closes all sessions.
async fn close<S: Session>(sessions: Arc<Vec<S>>, turns: &Arc<Semaphore>) -> Result<(), Fail> {
    let sessions = Arc::into_inner(sessions).ok_or("a session is still in use at the end")?;
    let closing: Vec<_> = sessions
        .into_iter()
        .map(|session| tokio::spawn(taking_turns(Arc::clone(turns), session.close())))
        .collect();
    for closing in closing {
        closing.await??;
    }
    Ok(())
}

/// How many sessions are opened or closed at a time: servers bound the connections of one client.
fn at_once(target: &Target) -> usize {
    match target {
        Target::Url(_) => 64,
        Target::Command(_) => Semaphore::MAX_PERMITS,
    }
}

async fn taking_turns<T>(turns: Arc<Semaphore>, work: impl Future<Output = T>) -> T {
    let _turn = turns.acquire().await;
    work.await
}
