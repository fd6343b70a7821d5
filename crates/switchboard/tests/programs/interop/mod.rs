//! Our client and our server with programs that others wrote: real processes, real pipes, real sockets.
//!
//! Run by `cargo xtask ci --only interop`, which installs the peers and says where they are. Without it every test
//! here is shown as ignored; with it, a peer that is missing is a failure.

mod assistant;
mod client;
mod everything;
mod gateway;
mod gateway_bench;
mod http_client;
mod http_servers;
mod listening;
mod login;
mod many;
mod node_host;
mod peer;
mod recordings;
mod servers;

use switchboard_testkit::{Failed, Trial};

/// One test: a name, and what it does.
type Test = (&'static str, fn() -> Result<(), Failed>);

pub(crate) fn trials() -> Vec<Trial> {
    let tests = [
        everything::TESTS,
        servers::TESTS,
        client::TESTS,
        node_host::TESTS,
        http_servers::TESTS,
        http_client::TESTS,
        assistant::TESTS,
        gateway::TESTS,
        many::TESTS,
        recordings::TESTS,
        &login::tests(),
    ]
    .concat();
    let trial = |(name, run): Test| Trial::test(format!("interop::{name}"), run).with_ignored_flag(true);
    tests.into_iter().map(trial).collect()
}

/// Runs a test that waits, within a bound.
fn block_on(test: impl Future<Output = ()>) -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let bound = std::time::Duration::from_secs(300);
    runtime
        .block_on(async { tokio::time::timeout(bound, test).await })
        .map_err(|_| "took more than five minutes")?;
    Ok(())
}
