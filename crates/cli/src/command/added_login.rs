//! Whether a server that was just added wants a login, and the offer to log in.

use std::sync::Arc;
use std::time::Duration;

use switchboard_terminal::{StdinLines, confirm};

use crate::args::{AddArgs, LoginArgs};
use crate::command::login;
use crate::command::status_logins::login_address;
use crate::configured_servers::ConfigFiles;
use crate::error::CommandError;
use crate::login::{http_client, probe};
use crate::output::Screen;
use crate::sanitize::one_line;
use crate::shell_quote::shell_quote;

/// How long a server may take to say whether it wants a login.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// Whether a server wants a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoginNeed {
    Needed,
    NotNeeded,
    /// It did not answer.
    Unknown,
    /// It was not asked: it is a program, or has credentials of its own.
    NotAsked,
}

impl LoginNeed {
    /// Returns whether a login is needed, if known.
    pub(crate) fn is_needed(self) -> Option<bool> {
        match self {
            Self::Needed => Some(true),
            Self::NotNeeded => Some(false),
            Self::Unknown | Self::NotAsked => None,
        }
    }
}

/// Asks an added server whether it wants a login; waits a few seconds at most.
pub(crate) async fn probe_login(args: &AddArgs, files: &ConfigFiles) -> LoginNeed {
    // The entry in effect may be another one.
    let server = files.resolved.server(&args.name).filter(|server| server.scope == args.scope.scope());
    let (false, Some(address), Ok(http)) = (args.no_probe, server.and_then(login_address), http_client())
    else {
        return LoginNeed::NotAsked;
    };
    match tokio::time::timeout(PROBE_TIMEOUT, probe(&http, &address)).await {
        Ok(Ok(answer)) if answer.wants_login() => LoginNeed::Needed,
        Ok(Ok(_)) => LoginNeed::NotNeeded,
        Ok(Err(_)) | Err(_) => LoginNeed::Unknown,
    }
}

/// Says what to do next; at a terminal, offers to log in now.
///
/// # Errors
/// Returns an error if the user wants to log in and the login fails.
pub(crate) async fn offer_login(
    server: &str,
    need: LoginNeed,
    screen: Arc<Screen>,
) -> Result<(), CommandError> {
    let name = shell_quote(&one_line(server));
    let next = match need {
        LoginNeed::Needed => {
            let stdin = Arc::new(StdinLines::default());
            match confirm(&screen, &stdin, &format!("{name} wants a login. Log in now?")).await {
                Some(true) => return login::run(&LoginArgs::new(server), stdin).await,
                Some(false) => {}
                None => screen.say(&format!("{name} wants a login")),
            }
            format!("next: switchboard login {name}")
        }
        LoginNeed::Unknown => {
            format!(
                "it does not answer now, so whether it wants a login is unknown; next: switchboard doctor {name}"
            )
        }
        LoginNeed::NotNeeded | LoginNeed::NotAsked => format!("next: switchboard doctor {name}"),
    };
    screen.say(&screen.out.dim(&next));
    Ok(())
}
