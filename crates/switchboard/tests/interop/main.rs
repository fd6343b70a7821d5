//! Our client and our server with programs that others wrote: real processes, real pipes, real sockets.
//!
//! Run by `cargo xtask test --only interop`, which installs the peers and says where they are. Without it every test
//! here is shown as ignored; with it, a peer that is missing is a failure.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod assistant;
mod client;
mod everything;
mod http_client;
mod http_servers;
mod listening;
mod many;
mod node_host;
mod peer;
mod servers;

use libtest_mimic::{Arguments, Failed, Trial};

/// One test: a name, and what it does.
type Test = (&'static str, fn() -> Result<(), Failed>);

fn main() {
    // The test program is its own supervisor for the servers it starts.
    switchboard::enter_if_asked();
    let mut arguments = Arguments::from_args();
    // The peers are slow to start: two at once is what two cores bear.
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let tests = [
        everything::TESTS,
        servers::TESTS,
        client::TESTS,
        node_host::TESTS,
        http_servers::TESTS,
        http_client::TESTS,
        assistant::TESTS,
        many::TESTS,
    ]
    .concat();
    let trials =
        tests.into_iter().map(|(name, run)| Trial::test(name, run).with_ignored_flag(true)).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

/// Runs a test that waits, within a bound.
fn block_on(test: impl Future<Output = ()>) -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let bound = std::time::Duration::from_secs(60);
    runtime
        .block_on(async { tokio::time::timeout(bound, test).await })
        .map_err(|_| "took more than a minute")?;
    Ok(())
}
