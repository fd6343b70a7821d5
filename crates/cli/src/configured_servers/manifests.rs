//! Remembered lists of servers, so that a gateway starts their processes when they are used.

use std::time::Duration;

use switchboard::host::config::{Locations, StartPolicy};
use switchboard::host::{ManifestStore, ServerSpec, Transport};

use crate::output::Screen;
use crate::sanitize::one_line;

/// How long a process of a gateway may be unused, unless its configuration has an `idleTimeout`.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Returns the store of manifests, among the user's state files.
pub(crate) fn store(locations: &Locations) -> ManifestStore {
    ManifestStore::new(locations.approvals.with_file_name("manifests"))
}

/// Returns the spec of a server that is started when it is used, if it is a child process or its configuration says so, and
/// stopped when it is idle.
pub(crate) fn start_when_used(
    manifests: &ManifestStore,
    name: &str,
    mut spec: ServerSpec,
    screen: &Screen,
) -> ServerSpec {
    let is_child = matches!(spec.transport, Transport::Stdio(_));
    match spec.start {
        StartPolicy::AtOnce if is_child && !spec.required => spec.start = StartPolicy::WhenUsed,
        StartPolicy::WhenUsed => {}
        _ => return spec,
    }
    if is_child {
        spec.idle_timeout.get_or_insert(IDLE_TIMEOUT);
    }
    match manifests.load(name, &spec) {
        Ok(Some(manifest)) => spec.with_manifest(manifest),
        Ok(None) => spec,
        Err(error) => {
            // It is started once, to list it anew.
            screen.warn(&format!("{}: {}", one_line(name), one_line(&error.to_string())));
            spec
        }
    }
}
