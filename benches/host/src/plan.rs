//! Servers with the usual settings.

use std::time::Duration;

use switchboard::host::ServerSpec;
use switchboard::host::config::RestartPolicy;
use switchboard::{Http, Stdio};

fn spec(server: impl Into<ServerSpec>) -> ServerSpec {
    server.into().restart(RestartPolicy::Never).startup_timeout(Duration::from_secs(20))
}

/// A program that is started.
pub fn stdio(command: &str, args: &[String]) -> ServerSpec {
    spec(Stdio::new(command).args(args))
}

/// A server at an address.
pub fn http(url: &str) -> ServerSpec {
    spec(Http::new(url))
}

/// A server in this program.
pub fn in_process(name: &str) -> ServerSpec {
    spec(ServerSpec::registered(name))
}
