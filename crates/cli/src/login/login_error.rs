//! Errors of a login, with the option that helps.

use switchboard::auth::AuthError;

use crate::error::CommandError;
use crate::provider_advice::{explain_failure, provider_of};

/// Returns the error of a login. What its codes mean at this provider, and which option helps, is its hint.
pub(crate) fn explain_login_error(error: AuthError) -> CommandError {
    let hint = match &error {
        AuthError::NeedsClientRegistration { issuer, .. } => provider_of(issuer)
            .map(|provider| format!("{}\n{}: {}", next_line(&error), provider.name, provider.note)),
        AuthError::IssuerMismatch { url, .. } => Some(format!(
            "if this server is known to be so, accept the issuer of this document: --server-metadata-url {url}"
        )),
        AuthError::PkceUnsupported { .. } => {
            Some("if it supports PKCE all the same, log in with --assume-pkce".to_owned())
        }
        other => {
            let advice = other.code().and_then(|code| explain_failure(&[&other.to_string(), code]));
            advice.map(|advice| format!("{}: {}", advice.meaning, advice.help))
        }
    };
    let failure = CommandError::from(error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Returns what an error says to do: the lines after its first.
fn next_line(error: &AuthError) -> String {
    error.to_string().split_once('\n').map(|(_, next)| next.to_owned()).unwrap_or_default()
}
