//! The command lines of a service, run as programs. This test program is both the service and its client.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod roles;
mod service;

mod client_cli;
mod service_cli;

use std::process::ExitCode;

use switchboard_service::ServiceBuilder;
use switchboard_testkit::{Trial, block_on};

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let role = args.nth(1);
    match role.as_ref().and_then(|role| role.to_str()) {
        Some("service") => {
            let builder =
                ServiceBuilder::new(std::sync::Arc::new(service::Finder)).accept_notifications(true);
            block_on(builder.serve_cli_with(std::iter::once("finder".into()).chain(args)))
        }
        Some("client") => {
            let args = std::iter::once("finder-cli".into()).chain(args);
            block_on(switchboard_service::cli::run_cli_with(service::design(), args))
        }
        _ => tests(),
    }
}

fn tests() -> ExitCode {
    let trials = client_cli::TESTS.iter().chain(service_cli::TESTS).map(|(name, run)| {
        Trial::test(*name, move || {
            run();
            Ok(())
        })
    });
    switchboard_testkit::run(trials.collect())
}
