//! `switchboard replay`: serves the answers of a recording.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::Path;

use switchboard::client::RevisionPolicy;
use switchboard::serve_stdio;
use switchboard::server::HttpService;
use switchboard_recording::{MAX_RECORDING_BYTES, Recording, RecordingError, ReplayError, ReplayServer};

use crate::args::ReplayArgs;
use crate::error::CommandError;
use crate::http_server::BoundServer;
use crate::output::Screen;
use crate::sanitize::one_line;
use crate::signals::Signals;

/// Serves a recording on stdin and stdout until the client disconnects, or over HTTP until a signal arrives.
///
/// # Errors
/// Returns an error if the recording cannot be read, or stdin and stdout, or the address, cannot be used.
pub(crate) async fn run(args: &ReplayArgs) -> Result<(), CommandError> {
    let recording = read_recording(&args.file)?;
    let mut replay = ReplayServer::new(&recording, args.server.as_deref())
        .map_err(|error| replay_error(&error, "--server"))?;
    if let Some(revision) = args.revision {
        replay = replay.with_revisions(RevisionPolicy::Only(revision));
    }
    let count = replay.request_count();
    let revision =
        replay.recorded_revision().map(|revision| format!(", protocol {revision}")).unwrap_or_default();
    let summary =
        format!("replaying {} ({count} requests{revision})", one_line(&args.file.display().to_string()));
    let server = replay.build();
    if let Some(address) = args.http.http {
        let signals = Signals::catch()?;
        let bound = BoundServer::bind(address, &args.http).await?;
        Screen::new().say(&summary);
        bound.announce(&args.http);
        let service = HttpService::new(&server, bound.options.clone());
        return bound.serve(service, signals).await;
    }
    if std::io::stdin().is_terminal() {
        Screen::new().say(&format!(
            "{summary}. This is a server: it waits for a client on stdin. Try `switchboard tools -- switchboard replay FILE`."
        ));
    }
    Ok(serve_stdio(&server).await?)
}

/// Reads a recording.
///
/// # Errors
/// Returns an error if the file cannot be read, or is no recording.
pub(crate) fn read_recording(file: &Path) -> Result<Recording, CommandError> {
    let name = one_line(&file.display().to_string());
    let failed = |error: std::io::Error| CommandError::other("io", format!("cannot read {name}: {error}"));
    let mut bytes = Vec::new();
    let limit = MAX_RECORDING_BYTES as u64 + 1;
    File::open(file).map_err(failed)?.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    Recording::parse_file(&name, &bytes).map_err(|error| {
        let text = match &error {
            RecordingError::Line(error) => error.to_string(),
            other => format!("{name}: {other}"),
        };
        report("recording", &text)
    })
}

/// Reports why a recording cannot be used; `option` names a server of it.
pub(crate) fn replay_error(error: &ReplayError, option: &str) -> CommandError {
    match error {
        ReplayError::SeveralServers { .. } | ReplayError::UnknownServer { .. } => {
            let text = error.to_string();
            let message = text.lines().map(one_line).collect::<Vec<_>>().join("; ");
            CommandError::usage(message).hint(format!("name a server of the recording with {option} NAME"))
        }
        other => report("recording", &other.to_string()),
    }
}

/// The second line of a message is its hint.
fn report(kind: &'static str, text: &str) -> CommandError {
    match text.split_once('\n') {
        Some((message, hint)) => CommandError::other(kind, one_line(message)).hint(one_line(hint)),
        None => CommandError::other(kind, one_line(text)),
    }
}
