//! A session with a child process over its pipes: many calls are kept in flight by one loop, with no task for each.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bench_kit::{Calls, ClientArgs, Era, Fail, Session, Target, Work, spread, ticks};
use rustix::fd::OwnedFd;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::Mutex;

use crate::ask::{Ask, Asks, INITIALIZED};
use crate::lines::Lines;
use crate::pipes::widen;
use crate::scan;

/// How long a server may take to end by itself.
const LEAVING: Duration = Duration::from_secs(30);

/// A server in a child process.
#[derive(Debug)]
pub struct OverPipes {
    talk: Mutex<Talk>,
    child: Child,
    era: Era,
    asks: Asks,
}

/// What is said over the pipes, and the id of the next request.
#[derive(Debug)]
struct Talk {
    lines: Lines<Receiver, Sender>,
    next: usize,
}

impl OverPipes {
    /// Makes one call, and gives a view of the answer.
    async fn call<T>(&self, ask: &Ask, view: impl FnOnce(&[u8]) -> T + Send) -> Result<T, Fail> {
        let mut talk = self.talk.lock().await;
        let id = talk.next;
        talk.next += 1;
        ask.write(id, &mut talk.lines.out);
        talk.lines.out.push(b'\n');
        loop {
            while let Some(line) = talk.lines.line() {
                let answer = talk.lines.bytes(line);
                if scan::id(answer).and_then(scan::number) == Some(id) {
                    scan::refuse_error(answer)?;
                    return Ok(view(answer));
                }
            }
            talk.lines.wait().await?;
        }
    }

    /// Keeps calls in flight until all are answered.
    async fn pipeline(&self, calls: Calls) -> Result<Vec<u32>, Fail> {
        let mut talk = self.talk.lock().await;
        let Talk { lines, next } = &mut *talk;
        let first = *next;
        *next += calls.count;
        let start = Instant::now();
        let now = || ticks(start.elapsed());
        let mut times: Vec<u32> = Vec::with_capacity(calls.count);
        let (mut answered, mut size) = (0, None);
        loop {
            while times.len() < calls.count && times.len() - answered < calls.in_flight {
                let ask = self.asks.of(calls.work, times.len());
                ask.write(first + times.len(), &mut lines.out);
                lines.out.push(b'\n');
                times.push(now());
            }
            lines.wait().await?;
            while let Some(line) = lines.line() {
                let answer = lines.bytes(line);
                let Some(id) = scan::id(answer) else { continue };
                let number = scan::number(id).and_then(|id| id.checked_sub(first));
                let Some(sent) = number.and_then(|number| times.get_mut(number)) else { continue };
                *sent = now().wrapping_sub(*sent);
                answered += 1;
                // All answers are the same but for the id, so that checking the first checks them all.
                let length = answer.len() - id.len();
                if *size.get_or_insert(length) != length || answered == 1 {
                    scan::refuse_error(answer)?;
                    calls.check(scan::content_size(answer, calls.work))?;
                    size = Some(length);
                }
            }
            if answered == calls.count {
                return Ok(times);
            }
        }
    }
}

impl Session for OverPipes {
    async fn open(args: &ClientArgs) -> Result<Self, Fail> {
        let Target::Command(words) = &args.target else { return Err("pipes need a command".into()) };
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{} did not start: {error}", words[0]))?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the child has no pipes".into());
        };
        if args.form == "wide" {
            widen(&to);
            widen(&from);
        }
        let from = Receiver::from_owned_fd(OwnedFd::from(from))?;
        let to = Sender::from_owned_fd(OwnedFd::from(to))?;
        let talk = Mutex::new(Talk { lines: Lines::new(from, to), next: 1 });
        let session = Self { talk, child, era: args.era, asks: Asks::new(args) };
        session.call(&Ask::opening(args.era), |_| ()).await?;
        if args.era == Era::Legacy {
            let mut talk = session.talk.lock().await;
            talk.lines.out.extend_from_slice(INITIALIZED.as_bytes());
            talk.lines.out.push(b'\n');
            talk.lines.flush().await?;
        }
        Ok(session)
    }

    async fn echo(&self, _: &str) -> Result<usize, Fail> {
        self.call(self.asks.of(Work::Echo, 0), |answer| scan::content_size(answer, Work::Echo)).await
    }

    async fn big(&self) -> Result<usize, Fail> {
        self.call(&self.asks.big, |answer| scan::content_size(answer, Work::Big)).await
    }

    async fn list(&self) -> Result<usize, Fail> {
        let look = |answer: &[u8]| (scan::content_size(answer, Work::List), scan::next_page(answer));
        let (mut size, mut next) = self.call(&self.asks.list, look).await?;
        while let Some(page) = next {
            let (more, after) = self.call(&Ask::page(&page, self.era), look).await?;
            (size, next) = (size + more, after);
        }
        Ok(size)
    }

    async fn usage(&self) -> Result<String, Fail> {
        self.call(&self.asks.usage, |answer| String::from_utf8_lossy(answer).into_owned()).await
    }

    fn child(&self) -> Option<i32> {
        i32::try_from(self.child.id()).ok()
    }

    async fn close(mut self) -> Result<(), Fail> {
        self.talk.get_mut().lines.hang_up();
        let until = Instant::now() + LEAVING;
        loop {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server ended with {status}").into()),
                None if Instant::now() > until => {
                    self.child.kill()?;
                    return Err("the server did not end with its input".into());
                }
                None => tokio::time::sleep(Duration::from_millis(2)).await,
            }
        }
    }

    async fn many(sessions: &Arc<Vec<Self>>, calls: Calls) -> Result<Vec<u32>, Fail> {
        let pages = calls.work == Work::List && calls.tools.is_some_and(|tools| tools > 1_000);
        if sessions.len() > 1 || calls.count == 0 || pages {
            return spread(sessions, calls).await;
        }
        let sessions = Arc::clone(sessions);
        tokio::spawn(async move { sessions[0].pipeline(calls).await }).await?
    }
}
