//! Makes the snapshot.

use crate::api::ConsoleState;
use crate::api::calls::{MAX_FINISHED_CALLS, PREVIEW_BYTES};
use crate::api::servers::{MAX_STDERR_LINES, server_snapshots};
use crate::contract::{ConsoleInfo, ConsoleLimits, Snapshot};

/// Makes a snapshot. Samples of latency are read together with the number; everything else may be newer, which an event that
/// replaces it repeats.
pub(super) fn console_snapshot(state: &ConsoleState) -> Snapshot {
    let names = state.host.servers();
    let (sequence, mut samples) = state.events.read(|sequence| {
        let of_server = |name: &String| (name.clone(), state.live.servers.samples(name));
        (sequence, names.iter().map(of_server).collect::<std::collections::HashMap<_, _>>())
    });
    let mut servers = server_snapshots(state);
    for server in &mut servers {
        server.latency = samples.remove(&server.name).unwrap_or_default();
    }
    let live = &state.live;
    Snapshot {
        sequence,
        console: console_info(state),
        first_run: match servers.is_empty() {
            true => state.providers.config.as_ref().and_then(|config| config.first_run()),
            false => None,
        },
        servers,
        catalog_revision: state.host.catalog().revision(),
        calls: live.calls.snapshots(),
        questions: live.questions.snapshots(),
        tasks: live.tasks.snapshots(),
        subscriptions: live.subscriptions.snapshots(),
        login_attempts: state.logins.list(),
        traffic: state.traffic.totals(),
    }
}

fn console_info(state: &ConsoleState) -> ConsoleInfo {
    let settings = &state.settings;
    ConsoleInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        mode: settings.mode,
        read_only: settings.read_only,
        allow_config_edit: settings.allow_config_edit,
        started_at_ms: settings.started_at_ms,
        limits: ConsoleLimits {
            max_frames: 10_000,
            max_frame_bytes: 64 << 20,
            preview_bytes: PREVIEW_BYTES as u64,
            max_calls: MAX_FINISHED_CALLS as u64,
            max_stderr_lines: MAX_STDERR_LINES as u64,
            max_recording_bytes: 64 << 20,
        },
    }
}
