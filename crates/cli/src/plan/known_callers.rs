//! The callers for whom decisions are compared: owners of API keys, principals that rules name, and everyone else.

use std::collections::BTreeSet;
use std::path::Path;

use switchboard::auth::ApiKeys;
use switchboard::gateway::policy::{Policy, Subject};
use switchboard::host::config::disk::{self, Owner};

use crate::error::CommandError;

/// The most keys that are compared.
const MAX_KEYS: usize = 1_000;
/// Stands for an authenticated caller that no rule names.
const SOMEONE: &str = "(another caller)";

/// A caller, and its name for people.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KnownCaller {
    pub(crate) label: String,
    principal: Option<String>,
    issuer: Option<String>,
    scopes: Vec<String>,
}

impl KnownCaller {
    /// Returns the subject that rules see.
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            principal: self.principal.as_deref(),
            issuer: self.issuer.as_deref(),
            scopes: &self.scopes,
            view: None,
        }
    }
}

/// Returns the callers that a policy names, an anonymous one, and one that it does not name.
pub(crate) fn callers_of_policy(policy: &Policy) -> BTreeSet<KnownCaller> {
    let caller = |label: String, principal: Option<String>, issuer: Option<String>| KnownCaller {
        label,
        principal,
        issuer,
        scopes: Vec::new(),
    };
    let named = policy.named_principals().into_iter().map(|(principal, issuer)| {
        let label = match &issuer {
            Some(issuer) => format!("{principal} of {issuer}"),
            None => principal.clone(),
        };
        caller(label, Some(principal), issuer)
    });
    let others = [
        caller("(anonymous)".to_owned(), None, None),
        caller(SOMEONE.to_owned(), Some(SOMEONE.to_owned()), None),
    ];
    named.chain(others).collect()
}

/// Returns the owners of the API keys in a file.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub(crate) fn callers_with_keys(file: &Path) -> Result<Vec<KnownCaller>, CommandError> {
    let text = disk::read(file, Owner::User, ApiKeys::MAX_FILE_BYTES)?.unwrap_or_default();
    let keys = ApiKeys::parse(&text).map_err(|reason| {
        CommandError::other("api_keys", format!("{}: {reason}", file.display()))
            .hint("`switchboard key` writes this file")
    })?;
    let caller = |key: &switchboard::auth::ApiKeyEntry| KnownCaller {
        label: format!("{} (api-key:{})", key.name, key.id),
        principal: Some(format!("api-key:{}", key.id)),
        issuer: None,
        scopes: key.scopes.iter().map(str::to_owned).collect(),
    };
    Ok(keys.iter().take(MAX_KEYS).map(caller).collect())
}
