//! A program of the user that prints headers: run once before connecting, bounded in time and in size.
//!
//! Invariants: what it prints to stdout is never shown, for it is made of secrets; it and what it started are gone when
//! this is over, unless it ended by itself.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use switchboard::protocol::OrderedMap;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use crate::failure::{Failure, Status};

/// How much it may print.
const SIZE: usize = 64 * 1024;
/// What is kept of its stderr.
const LAST_WORDS: usize = 4 * 1024;

/// Runs it in a shell, no longer than that, and gives the headers it printed.
///
/// # Errors
/// When it cannot be started, fails, takes too long, or prints anything but one JSON object of texts.
pub(crate) async fn run(command: &str, within: Duration) -> Result<Vec<(String, String)>, Failure> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = shell.process_group(0).kill_on_drop(true).spawn();
    let child = child.map_err(|error| failed(&format!("it cannot be started: {error}")))?;
    let mut family = Family { group: child.id().and_then(|id| Pid::from_raw(id.cast_signed())), child };
    match tokio::time::timeout(within, family.finish()).await {
        Ok(finished) => headers(&finished?),
        Err(_) => Err(failed(&format!("it did not end within {within:?}"))),
    }
}

/// What is said when it is at fault.
pub(crate) fn failed(why: &str) -> Failure {
    Failure::new(Status::Other, "header_helper", format!("the header helper failed: {why}"))
        .hint("it must print one JSON object and nothing else, like {\"Authorization\": \"Bearer …\"}")
}

/// The shell and what it started: one process group, ended as one when it is not let finish.
struct Family {
    group: Option<Pid>,
    child: Child,
}

impl Family {
    async fn finish(&mut self) -> Result<Vec<u8>, Failure> {
        let (Some(out), Some(err)) = (self.child.stdout.take(), self.child.stderr.take()) else {
            return Err(failed("it has no output"));
        };
        let (printed, words) =
            tokio::try_join!(all(out), last(err)).map_err(|error| failed(&error.to_string()))?;
        let status = self.child.wait().await.map_err(|error| failed(&error.to_string()))?;
        self.group = None;
        if status.success() {
            return Ok(printed);
        }
        Err(failed(&format!("{status}")).last_words(&String::from_utf8_lossy(&words)))
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // It may have ended at this moment; then there is nothing to do.
            _ = kill_process_group(group, Signal::KILL);
        }
    }
}

async fn all(out: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let mut printed = Vec::new();
    out.take(SIZE as u64 + 1).read_to_end(&mut printed).await?;
    if printed.len() > SIZE {
        Err(io::Error::other(format!("it printed more than {SIZE} bytes")))
    } else {
        Ok(printed)
    }
}

async fn last(mut err: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let (mut kept, mut chunk) = (Vec::new(), [0; 1024]);
    loop {
        match err.read(&mut chunk).await? {
            0 => return Ok(kept),
            count => kept.extend_from_slice(&chunk[..count]),
        }
        kept.drain(..kept.len().saturating_sub(LAST_WORDS));
    }
}

fn headers(printed: &[u8]) -> Result<Vec<(String, String)>, Failure> {
    // Not the parser's own words: they quote what it stumbled over.
    let object: OrderedMap<Value> =
        serde_json::from_slice(printed).map_err(|_| failed("what it printed is no JSON object"))?;
    let text = |(name, value)| match value {
        Value::String(text) => Ok((name, text)),
        _ => Err(failed("a value in what it printed is no text")),
    };
    object.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_that_does_not_end_is_ended() {
        let failure = run("sleep 600 & wait", Duration::from_millis(50)).await.unwrap_err();
        assert!(format!("{failure:?}").contains("did not end within 50ms"), "{failure:?}");
        let failure = run("yes", Duration::from_secs(10)).await.unwrap_err();
        assert!(format!("{failure:?}").contains("more than 65536 bytes"), "{failure:?}");
    }

    #[test]
    fn only_an_object_of_texts_will_do_and_nothing_of_it_is_shown() {
        assert_eq!(headers(br#"{"A": "1", "B": ""}"#).unwrap().len(), 2);
        assert!(headers(b"{}").unwrap().is_empty());
        for wrong in [
            "",
            "hunter2",
            "[\"hunter2\"]",
            "{\"A\": {\"hunter2\": 1}}",
            "{\"A\": \"hunter2\"} x",
            "{\"A\": 4711}",
        ] {
            let failure = format!("{:?}", headers(wrong.as_bytes()).unwrap_err());
            assert!(!failure.contains("hunter2") && !failure.contains("4711"), "{failure}");
        }
    }
}
