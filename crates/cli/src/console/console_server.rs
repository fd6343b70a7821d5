//! The page's server: bound before anything is started, and the loop that leads people and programs to the page.

use std::convert::Infallible;
use std::net::SocketAddr;

use switchboard_console::{BoundConsole, ConsoleBindError, ConsoleBuilder, ConsoleLinks};
use switchboard_terminal::StdinLines;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::page_opener::{PageOpener, TOKEN_LIFETIME};
use crate::error::CommandError;
use crate::output::Screen;
use crate::sanitize::one_line;

/// Binds the address of a console.
///
/// # Errors
/// Returns an error if it cannot be used, or can be reached from other machines.
pub(super) async fn bind(builder: ConsoleBuilder, address: SocketAddr) -> Result<BoundConsole, CommandError> {
    builder.bind(address).await.map_err(|error| {
        let is_usage = matches!(error, ConsoleBindError::NotLoopback(_));
        let text = error.to_string();
        let (what, hint) = text.split_once('\n').unwrap_or((&text, "use port 0 for a free port"));
        let failure = match is_usage {
            true => CommandError::usage(format!("--console: {}", one_line(what))),
            false => CommandError::other("io", one_line(what)),
        };
        failure.hint(one_line(hint))
    })
}

/// Leads to the page now, and again with Enter at the terminal or SIGUSR1. A file with a token is removed when the token was
/// used or no longer works.
///
/// # Errors
/// Returns an error if a file or the output cannot be written.
pub(super) async fn show_page(
    links: &ConsoleLinks,
    opener: &PageOpener,
    screen: &Screen,
) -> Result<Infallible, CommandError> {
    let mut requests = PageRequests {
        stdin: opener.reads_stdin().then(StdinLines::default),
        signal: signal(SignalKind::user_defined1())?,
    };
    loop {
        let link = links.create()?;
        let file = opener.open(&link, screen)?;
        let is_requested = tokio::select! {
            () = requests.next() => true,
            _ = tokio::time::timeout(TOKEN_LIFETIME, links.used(&link)) => false,
        };
        drop(file);
        if !is_requested {
            requests.next().await;
        }
    }
}

/// Requests for another link to the page.
struct PageRequests {
    /// `None` if nobody can press Enter.
    stdin: Option<StdinLines>,
    signal: Signal,
}

impl PageRequests {
    async fn next(&mut self) {
        let Self { stdin, signal } = self;
        let enter = async {
            match stdin {
                // After the end of the input nobody presses Enter any more.
                Some(lines) => match lines.next_line().await {
                    Some(_) => {}
                    None => std::future::pending().await,
                },
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = enter => {}
            _ = signal.recv() => {}
        }
    }
}
