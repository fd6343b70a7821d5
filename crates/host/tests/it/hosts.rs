//! Hosts with servers of every kind, and waiting for what a host reports.

use std::sync::Arc;

use switchboard_host::{Host, HostBuilder, HostError, HostEvent, HostEvents, ServerSpec, Status};
use switchboard_session::server::Server;
use switchboard_testkit::{STEP_TIMEOUT, TEST_TIMEOUT, Trial, current_thread, trial_on};
use switchboard_transport::http::client::Http;
use switchboard_transport::stdio::Stdio;

use crate::toy;

/// A trial whose clock advances by itself while everything waits: for servers in this process only.
pub(crate) fn paused_trial<F: Future<Output = ()>>(
    name: &str,
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    let mut runtime = current_thread();
    runtime.start_paused(true);
    trial_on(runtime, TEST_TIMEOUT * 1_000, name, test)
}

/// A server with a startup timeout that a busy machine keeps.
pub(crate) fn spec(server: impl Into<ServerSpec>) -> ServerSpec {
    server.into().startup_timeout(STEP_TIMEOUT)
}

/// A server in this program.
pub(crate) fn in_process(name: &str) -> ServerSpec {
    spec(ServerSpec::registered(name))
}

/// This program as a server, in a part.
pub(crate) fn child(part: &str) -> ServerSpec {
    child_with(part, &[])
}

pub(crate) fn child_with(part: &str, env: &[(&str, &str)]) -> ServerSpec {
    let stdio = Stdio::new(std::env::current_exe().unwrap()).env(toy::PART, part);
    spec(env.iter().fold(stdio, |stdio, (name, value)| stdio.env(name, value)))
}

/// A script as a server.
pub(crate) fn sh(script: &str) -> ServerSpec {
    spec(Stdio::new("sh").args(["-c", script]))
}

/// A server at an address.
pub(crate) fn http(url: &str) -> ServerSpec {
    spec(Http::new(url))
}

/// A host with these servers registered and connected, without the tools every host brings.
pub(crate) async fn host_of(servers: &[(&str, &Arc<Server>)]) -> Host {
    host_with(Host::builder(), servers).await
}

pub(crate) async fn host_with(builder: HostBuilder, servers: &[(&str, &Arc<Server>)]) -> Host {
    let host = builder.without_resource_tools().build();
    for (name, server) in servers {
        host.register(*name, server);
        host.connect(*name, in_process(name)).await.unwrap();
    }
    host
}

/// Adds a server and waits for its first attempt, which must fail. It stays in the set.
pub(crate) async fn add_failing(host: &Host, name: &str, server: ServerSpec) -> HostError {
    host.add(name, server).unwrap();
    host.ready(name).await.unwrap_err()
}

/// Waits until a server is as described.
pub(crate) async fn until(host: &Host, server: &str, is: impl Fn(&Status) -> bool) -> Status {
    let mut events = host.events();
    loop {
        let status = host.state(server).unwrap();
        if is(&status) {
            return status;
        }
        events.next().await;
    }
}

/// Waits until a server was opened again so many times, and is ready.
pub(crate) async fn reopened(host: &Host, server: &str, times: u64) {
    until(host, server, |status| {
        matches!(status, Status::Ready(_)) && host.server_metrics(server).unwrap().reconnects >= times
    })
    .await;
}

/// Waits for an event.
pub(crate) async fn heard<T>(events: &mut HostEvents, wanted: impl Fn(&HostEvent) -> Option<T>) -> T {
    loop {
        let event = events.next().await.expect("the host is there");
        if let Some(found) = wanted(&event) {
            return found;
        }
    }
}

/// The names of all tools, in order.
pub(crate) fn names(host: &Host) -> Vec<String> {
    host.all_tools().iter().map(|tool| tool.name().to_owned()).collect()
}
