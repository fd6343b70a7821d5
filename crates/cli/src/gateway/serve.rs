//! Serves until a signal arrives, reloading meanwhile; then drains.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use switchboard::serve_stdio;
use switchboard::transport::http::server::ShutdownHandle;

use crate::error::CommandError;
use crate::gateway::listeners::Listeners;
use crate::gateway::reload::Reloader;
use crate::gateway::service_manager::{ServiceState, notify};
use crate::signals::Signals;

/// The number of SIGHUP.
const HANGUP: u8 = 1;
/// Time for the last responses to be written to stdout.
const STDOUT_TIMEOUT: Duration = Duration::from_millis(500);

type Serving<'a> = Pin<&'a mut (dyn Future<Output = Result<(), CommandError>> + 'a)>;

/// Serves on the listeners, or without any on stdin and stdout: a view, or everything.
///
/// # Errors
/// Returns an error if the view does not exist, stdin and stdout cannot be used, or a second signal arrived.
pub(crate) async fn serve(
    listeners: Listeners,
    reloader: &mut Reloader<'_>,
    mut signals: Signals,
    view: Option<&str>,
) -> Result<(), CommandError> {
    let gateway = reloader.gateway().clone();
    let server = match view {
        Some(name) => gateway.view(name).ok_or_else(|| CommandError::usage("there is no such view"))?,
        None => Arc::clone(gateway.server()),
    };
    let handles = listeners.shutdown_handles();
    listeners.announce(reloader.settings(), reloader.screen());
    let is_stdio = listeners.is_empty();
    let serving = async {
        match is_stdio {
            true => Ok(serve_stdio(&server).await?),
            false => {
                listeners.serve(&gateway).await;
                Ok(())
            }
        }
    };
    let mut serving: Serving<'_> = std::pin::pin!(serving);
    notify(ServiceState::Ready("serving"));
    reloader.record();
    loop {
        tokio::select! {
            served = &mut serving => return served,
            signal = signals.next() => match signal {
                HANGUP if reloader.has_file() => reloader.reload().await,
                _ => break,
            },
            () = reloader.next_change() => {}
        }
        if view.is_some_and(|name| gateway.view(name).is_none_or(|current| !Arc::ptr_eq(&current, &server))) {
            reloader.screen().warn("the view that is served was removed, or offers something else now");
            break;
        }
    }
    drain(serving, reloader, &handles, signals).await
}

/// Refuses new calls, waits for those under way, and stops. A second signal stops at once, except for SIGHUP, which is ignored.
async fn drain(
    mut serving: Serving<'_>,
    reloader: &Reloader<'_>,
    handles: &[ShutdownHandle],
    mut signals: Signals,
) -> Result<(), CommandError> {
    let (gateway, time) = (reloader.gateway(), reloader.settings().drain());
    notify(ServiceState::Stopping(time));
    let running = gateway.running_calls();
    if running > 0 {
        reloader.screen().say(&format!(
            "waiting up to {} s for {running} call(s) under way; another signal ends them",
            time.as_secs()
        ));
    }
    tokio::select! {
        served = &mut serving => return served,
        signal = next_end(&mut signals) => return Err(CommandError::Interrupted { signal }),
        drained = tokio::time::timeout(time, gateway.drain()) => if drained.is_err() {
            let left = gateway.running_calls();
            reloader.screen().warn(&format!("{left} call(s) did not end within {} s, and are cancelled", time.as_secs()));
        }
    }
    for handle in handles {
        handle.stop();
    }
    let stopped = async {
        match handles.is_empty() {
            // The client need not close stdin.
            true => tokio::time::timeout(STDOUT_TIMEOUT, serving).await.unwrap_or(Ok(())),
            false => serving.await,
        }
    };
    tokio::select! {
        stopped = stopped => stopped,
        signal = next_end(&mut signals) => Err(CommandError::Interrupted { signal }),
    }
}

/// Waits for a signal that ends the gateway; there is nothing to reload any more.
async fn next_end(signals: &mut Signals) -> u8 {
    loop {
        match signals.next().await {
            HANGUP => {}
            signal => return signal,
        }
    }
}
