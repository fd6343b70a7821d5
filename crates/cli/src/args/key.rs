//! Arguments of `key`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

/// The longest name of a key, in characters.
const MAX_NAME: usize = 64;
/// The longest validity of a key: a hundred years.
const MAX_VALIDITY: Duration = Duration::from_secs(100 * 365 * 86_400);

#[derive(Debug, Args)]
#[command(after_help = "\
Services accept the keys of a file with `ResourceServer::api_key_file(FILE)`,
and notice changes within a second.

Examples:
  switchboard key create ci --scope notes:read --expires 90d
  switchboard key list
  switchboard key revoke ci")]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    pub(crate) action: KeyAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyAction {
    /// Create an API key and print it; it is shown only once
    Create(KeyCreateArgs),
    /// List the API keys of a file, without their secrets
    List(KeyListArgs),
    /// Revoke an API key
    Revoke(KeyRevokeArgs),
}

/// The file with the keys.
#[derive(Debug, Args)]
pub(crate) struct KeyFileArgs {
    /// The file with the keys; by default `api-keys.json` in your configuration directory
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The key is the only text on standard output:
  KEY=$(switchboard key create ci --scope notes:read)")]
pub(crate) struct KeyCreateArgs {
    /// The name of the key, for people
    #[arg(value_parser = key_name)]
    pub(crate) name: String,
    /// The scopes of its callers, separated by blanks; may be repeated
    #[arg(long, value_name = "SCOPES")]
    pub(crate) scope: Vec<String>,
    /// How long it is valid, like 12h, 90d or 52w; without it, until it is revoked
    #[arg(long, value_name = "TIME", value_parser = validity)]
    pub(crate) expires: Option<Duration>,
    #[command(flatten)]
    pub(crate) file: KeyFileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct KeyListArgs {
    #[command(flatten)]
    pub(crate) file: KeyFileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct KeyRevokeArgs {
    /// The name of the key, or how it begins, like sbk_0123456789ab
    #[arg(value_name = "NAME|PREFIX")]
    pub(crate) key: String,
    #[command(flatten)]
    pub(crate) file: KeyFileArgs,
}

impl KeyAction {
    /// Returns the options that all actions have.
    pub(crate) fn file(&self) -> &KeyFileArgs {
        match self {
            Self::Create(args) => &args.file,
            Self::List(args) => &args.file,
            Self::Revoke(args) => &args.file,
        }
    }
}

fn key_name(text: &str) -> Result<String, String> {
    let is_valid =
        !text.trim().is_empty() && !text.chars().any(char::is_control) && !text.starts_with("sbk_");
    match is_valid && text.chars().count() <= MAX_NAME {
        true => Ok(text.to_owned()),
        false => {
            Err(format!("expected a name of at most {MAX_NAME} characters that does not begin with sbk_"))
        }
    }
}

fn validity(text: &str) -> Result<Duration, String> {
    let unit = match text.chars().next_back() {
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') => 86_400,
        Some('w') => 7 * 86_400,
        _ => 0,
    };
    let number = text.get(..text.len().saturating_sub(1)).and_then(|digits| digits.parse::<u64>().ok());
    number
        .and_then(|number| number.checked_mul(unit))
        .map(Duration::from_secs)
        .filter(|validity| !validity.is_zero() && *validity <= MAX_VALIDITY)
        .ok_or_else(|| "expected a number and a unit up to 100 years: 30m, 12h, 90d or 52w".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_validity_has_a_unit_and_a_bound() {
        for (text, seconds) in [("30m", 1800), ("12h", 43_200), ("90d", 7_776_000), ("52w", 31_449_600)] {
            assert_eq!(validity(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "d", "90", "0d", "-1d", "1.5d", "36501d", "99999999999999999999d", "9ü"] {
            assert!(validity(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_name_is_short_printable_and_not_a_prefix_of_keys() {
        assert!(key_name("ci of Ada").is_ok() && key_name(&"ü".repeat(MAX_NAME)).is_ok());
        for name in ["", " ", "a\nb", "sbk_0123", &"x".repeat(MAX_NAME + 1)] {
            assert!(key_name(name).is_err(), "{name:?}");
        }
    }
}
