//! `switchboard console`: a host that keeps running, and the page that shows and steers it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use switchboard_console::Console;
use switchboard_console::providers::Providers;
use tokio::sync::oneshot;

use super::call_rules::CallRules;
use super::config_editor::FileEditor;
use super::console_host::ConsoleServers;
use super::console_logins::ConsoleLogins;
use super::console_server::{bind, show_page};
use super::doctor_runs::DoctorRuns;
use super::page_opener::PageOpener;
use crate::args::ConsoleArgs;
use crate::connect::CLOSE_TIMEOUT;
use crate::error::CommandError;
use crate::output::Screen;
use crate::session_recorder::SessionRecorder;
use crate::signals::Signals;

/// Serves the page until a signal arrives, then stops the servers.
///
/// # Errors
/// Returns an error if the command line or the configuration is not valid, or the port cannot be used.
pub(crate) async fn run(args: ConsoleArgs) -> Result<(), CommandError> {
    let ConsoleArgs { port, no_open, allow_config_edit, view } = args;
    let mut signals = Signals::catch()?;
    let target = view.into_target();
    let json = target.options.json;
    let screen = Arc::new(Screen::with_json_warnings(json));
    let servers = ConsoleServers::build(&target, &screen).await?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let builder = Console::builder(servers.host.clone())
        .allow_config_edit(allow_config_edit)
        .providers(providers(&servers, allow_config_edit).await)
        .questions(servers.questions.clone())
        .traffic(Arc::clone(&servers.traffic));
    let console = bind(builder, address).await?;
    let opener = PageOpener::new(console.address(), servers.runtime_folder(), json, !no_open).with_stdin();
    let links = console.links();
    let (stop, stopped) = oneshot::channel::<()>();
    let mut serving = std::pin::pin!(console.serve(async { _ = stopped.await }));
    let ended = tokio::select! {
        biased;
        _ = signals.next() => Ok(()),
        () = &mut serving => Err(CommandError::other("io", "the console's listener has ended")),
        never = servers.follow_files() => match never {},
        never = servers.follow_definitions() => match never {},
        failed = show_page(&links, &opener, &screen) => failed.map(|never| match never {}),
    };
    servers.record_pins();
    drop(stop);
    let stopping = async {
        match &ended {
            Ok(()) => _ = tokio::join!(&mut serving, servers.host.close()),
            // It has ended, or ends with this function.
            Err(_) => servers.host.close().await,
        }
    };
    let interrupted = tokio::select! {
        // The supervisors stop what is left.
        _ = tokio::time::timeout(CLOSE_TIMEOUT, stopping) => None,
        signal = signals.next() => Some(CommandError::Interrupted { signal }),
    };
    let ended = interrupted.map_or(ended, Err);
    SessionRecorder::finish(servers.recorder.clone(), ended)
}

async fn providers(servers: &Arc<ConsoleServers>, allow_config_edit: bool) -> Providers {
    let known = &servers.known;
    let (host, account) = (servers.host.clone(), servers.account.clone());
    let logins = ConsoleLogins::new(host, Arc::clone(known), account, servers.uses_logins);
    logins.refresh().await;
    let editor = FileEditor::new(Arc::clone(servers), allow_config_edit, servers.shows_all());
    let providers = Providers::default()
        .with_logins(Arc::new(logins))
        .with_doctor(Arc::new(DoctorRuns::new(Arc::clone(known))))
        .with_config(Arc::new(editor));
    match CallRules::of_host(&servers.host) {
        Some(rules) => providers.with_policy(Arc::new(rules)),
        None => providers,
    }
}
