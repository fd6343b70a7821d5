//! The token store of this user.

use std::sync::Arc;

use switchboard::auth::{AuthError, FileStore};
use switchboard::login::StoredLogins;

use crate::error::{CommandError, ExitKind};
use crate::output::Screen;
use crate::sanitize::one_line;

/// Opens the stored logins of this user, which may be none: a login of another process is then found, too. A store that
/// cannot be used is a warning: most servers need no login.
pub(crate) fn open_logins(screen: &Screen) -> Option<StoredLogins> {
    FileStore::default_directory()?;
    match StoredLogins::open() {
        Ok(logins) => Some(logins),
        Err(error) => {
            screen.warn(&format!("stored logins are not used: {}", one_line(&error.to_string())));
            None
        }
    }
}

/// Returns the token store of this user, which is created when the first login is stored.
///
/// # Errors
/// Returns an error if there is no home directory, or others could read the store.
pub(crate) fn open_store() -> Result<Arc<FileStore>, CommandError> {
    let directory = FileStore::default_directory().ok_or_else(|| {
        CommandError::new(ExitKind::Other, "no_home", "neither HOME nor XDG_STATE_HOME is set")
            .hint("set HOME to your home directory")
    })?;
    Ok(Arc::new(FileStore::new(directory).map_err(AuthError::from)?))
}

impl From<AuthError> for CommandError {
    fn from(error: AuthError) -> Self {
        let text = error.to_string();
        // The first line says what failed, the rest what to do.
        let (message, hint) =
            text.split_once('\n').map_or((text.as_str(), None), |(what, hint)| (what, Some(hint)));
        let (exit, kind) = match &error {
            AuthError::Store(_) => (ExitKind::Other, "token_store"),
            AuthError::Http(_) => (ExitKind::Unreachable, "unreachable"),
            AuthError::NeedsClientRegistration { .. } => {
                (ExitKind::Authentication, "needs_client_registration")
            }
            AuthError::BlockedByAdmin(_) => (ExitKind::Authentication, "blocked_by_admin"),
            AuthError::LoginAborted(_) => (ExitKind::Authentication, "login_aborted"),
            AuthError::Callback(_) => (ExitKind::Authentication, "login_rejected"),
            _ => (ExitKind::Authentication, "login_failed"),
        };
        let failure = Self::new(exit, kind, message);
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
