//! What the tests stand on: trials, plans, and waiting for what a host says.

use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::Trial;
use switchboard_host::{Host, HostBuilder, HostError, HostEvent, HostEvents, ServerSpec, Status};
use switchboard_session::server::Server;
use switchboard_transport::http::client::Http;
use switchboard_transport::stdio::Stdio;

use crate::toy;

/// Only a test that hangs takes longer, however busy the machine is.
const MOST: Duration = Duration::from_secs(600);

/// What only a hang exceeds: the bound of "at once" and "in time".
pub(crate) const LATE: Duration = Duration::from_secs(120);

/// A test that runs in a runtime of its own, must end, and must leave no task behind.
pub(crate) fn trial<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    real(name, async move || {
        test().await;
        no_task_is_left().await;
    })
}

/// The same for a test over HTTP: what looks after idle connections goes to sleep with them, and wakes too late to wait
/// for.
pub(crate) fn web<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    real(name, test)
}

fn real<F: Future<Output = ()>>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let in_time = runtime.block_on(async { tokio::time::timeout(MOST, test()).await });
        in_time.map_err(|_| format!("not done in {MOST:?}").into())
    })
}

/// Waits until everything a test started has ended.
pub(crate) async fn no_task_is_left() {
    let metrics = tokio::runtime::Handle::current().metrics();
    for _ in 0..24_000 {
        if metrics.num_alive_tasks() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{} tasks are left", metrics.num_alive_tasks());
}

/// Trials named after the functions they run.
#[macro_export]
macro_rules! trials {
    ($($kind:ident $test:ident),* $(,)?) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$($crate::stage::$kind(concat!(module_path!(), "::", stringify!($test)), $test)),*]
        }
    };
}

/// A server with a startup timeout that a busy machine keeps.
pub(crate) fn spec(server: impl Into<ServerSpec>) -> ServerSpec {
    server.into().startup_timeout(LATE)
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

/// Whether a process lives.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// How many descriptors we have open.
pub(crate) fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Waits until a process is gone.
pub(crate) async fn gone(pid: u32) {
    for _ in 0..24_000 {
        if !lives(pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("process {pid} lives on");
}
