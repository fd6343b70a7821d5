//! Header helper: a command of the user that prints HTTP headers. Runs once before connecting, bounded in time and size.
//!
//! Invariants: its stdout is never shown, because it contains secrets; it and its child processes are killed unless it
//! exits by itself.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use switchboard::protocol::OrderedMap;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use crate::error::{CommandError, ExitKind};

/// Maximum size of its stdout.
const MAX_OUTPUT: usize = 64 * 1024;
/// Number of bytes kept of its stderr.
const STDERR_TAIL: usize = 4 * 1024;

/// Runs the command in a shell with a timeout, and returns the headers it printed.
///
/// # Errors
/// Returns an error if it cannot be started, fails, times out, or prints anything but one JSON object of strings.
pub(crate) async fn run(command: &str, timeout: Duration) -> Result<Vec<(String, String)>, CommandError> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = shell.process_group(0).kill_on_drop(true).spawn();
    let child = child.map_err(|error| failed(&format!("it cannot be started: {error}")))?;
    let mut group = ProcessGroup { id: child.id().and_then(|id| Pid::from_raw(id.cast_signed())), child };
    match tokio::time::timeout(timeout, group.finish()).await {
        Ok(finished) => parse_headers(&finished?),
        Err(_) => Err(failed(&format!("it did not end within {timeout:?}"))),
    }
}

/// Creates an error about the header helper.
pub(crate) fn failed(why: &str) -> CommandError {
    CommandError::new(ExitKind::Other, "header_helper", format!("the header helper failed: {why}"))
        .hint("it must print one JSON object and nothing else, like {\"Authorization\": \"Bearer …\"}")
}

/// The shell and its child processes: one process group, killed on drop unless it has finished.
struct ProcessGroup {
    id: Option<Pid>,
    child: Child,
}

impl ProcessGroup {
    async fn finish(&mut self) -> Result<Vec<u8>, CommandError> {
        let (Some(out), Some(err)) = (self.child.stdout.take(), self.child.stderr.take()) else {
            return Err(failed("it has no output"));
        };
        let (printed, stderr) = tokio::try_join!(read_bounded(out), read_tail(err))
            .map_err(|error| failed(&error.to_string()))?;
        let status = self.child.wait().await.map_err(|error| failed(&error.to_string()))?;
        self.id = None;
        if status.success() {
            return Ok(printed);
        }
        Err(failed(&format!("{status}")).with_stderr(&String::from_utf8_lossy(&stderr)))
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // The process group may have ended already.
            _ = kill_process_group(id, Signal::KILL);
        }
    }
}

async fn read_bounded(out: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let mut printed = Vec::new();
    out.take(MAX_OUTPUT as u64 + 1).read_to_end(&mut printed).await?;
    if printed.len() > MAX_OUTPUT {
        Err(io::Error::other(format!("it printed more than {MAX_OUTPUT} bytes")))
    } else {
        Ok(printed)
    }
}

async fn read_tail(mut err: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let (mut kept, mut chunk) = (Vec::new(), [0; 1024]);
    loop {
        match err.read(&mut chunk).await? {
            0 => return Ok(kept),
            count => kept.extend_from_slice(&chunk[..count]),
        }
        kept.drain(..kept.len().saturating_sub(STDERR_TAIL));
    }
}

fn parse_headers(printed: &[u8]) -> Result<Vec<(String, String)>, CommandError> {
    // Not the parser's message: it quotes the input.
    let object: OrderedMap<Value> =
        serde_json::from_slice(printed).map_err(|_| failed("its output is not a JSON object"))?;
    let text = |(name, value)| match value {
        Value::String(text) => Ok((name, text)),
        _ => Err(failed("a value in its output is not a string")),
    };
    object.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_helper_that_does_not_end_is_killed() {
        let failure = run("sleep 600 & wait", Duration::from_millis(50)).await.unwrap_err();
        assert!(format!("{failure:?}").contains("did not end within 50ms"), "{failure:?}");
        let failure = run("yes", Duration::from_secs(10)).await.unwrap_err();
        assert!(format!("{failure:?}").contains("more than 65536 bytes"), "{failure:?}");
    }

    #[test]
    fn only_an_object_of_strings_is_accepted_and_never_shown() {
        assert_eq!(parse_headers(br#"{"A": "1", "B": ""}"#).unwrap().len(), 2);
        assert!(parse_headers(b"{}").unwrap().is_empty());
        for wrong in [
            "",
            "hunter2",
            "[\"hunter2\"]",
            "{\"A\": {\"hunter2\": 1}}",
            "{\"A\": \"hunter2\"} x",
            "{\"A\": 4711}",
        ] {
            let failure = format!("{:?}", parse_headers(wrong.as_bytes()).unwrap_err());
            assert!(!failure.contains("hunter2") && !failure.contains("4711"), "{failure}");
        }
    }
}
