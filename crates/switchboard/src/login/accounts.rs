//! Which account at a server is used.
//!
//! The account that the application or the configuration names; else `default`; else the only one there is. Several accounts
//! without a `default` are an error that lists them.

use std::collections::BTreeSet;

use switchboard_auth::{ServerAccount, StoredGrant};

/// The account that the user asked for. A user may have several at one server.
///
/// ```
/// use switchboard::login::{AccountChoice, AccountSelector};
///
/// let choice = AccountSelector::Any.choose(["work"]);
/// assert_eq!(choice, AccountChoice::Account("work".into())); // the only one there is
/// let choice = AccountSelector::Any.choose(["home", "work"]);
/// assert!(matches!(choice, AccountChoice::Ambiguous(_)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AccountSelector {
    /// None in particular.
    #[default]
    Any,
    /// This one at the servers that have it: the operation is about all servers.
    Preferred(String),
    /// This one.
    Named(String),
}

/// The account that is used at a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountChoice {
    /// This one.
    Account(String),
    /// One of these: none is named `default`, and the user named none.
    Ambiguous(Vec<String>),
}

impl AccountSelector {
    /// Returns the selector of an operation that is about one server, or about all of them.
    pub fn new(account: Option<&str>, is_one_server: bool) -> Self {
        match account {
            None => Self::Any,
            Some(account) if is_one_server => Self::Named(account.to_owned()),
            Some(account) => Self::Preferred(account.to_owned()),
        }
    }

    /// Chooses the account at a server that has logins of these accounts.
    pub fn choose<'a>(&self, accounts: impl IntoIterator<Item = &'a str>) -> AccountChoice {
        let accounts: BTreeSet<&str> = accounts.into_iter().collect();
        let account = match self {
            Self::Named(named) => named,
            Self::Preferred(preferred) if accounts.contains(preferred.as_str()) => preferred,
            Self::Any | Self::Preferred(_) => match (accounts.len(), accounts.first()) {
                (1, Some(only)) => only,
                (2.., _) if !accounts.contains(ServerAccount::DEFAULT) => {
                    return AccountChoice::Ambiguous(accounts.into_iter().map(str::to_owned).collect());
                }
                _ => ServerAccount::DEFAULT,
            },
        };
        AccountChoice::Account(account.to_owned())
    }

    /// Chooses the account at a server among all logins of the user.
    pub fn choose_at(&self, logins: &[StoredGrant], server: &str) -> AccountChoice {
        let at_server = logins.iter().filter(|login| login.grant.server == server);
        self.choose(at_server.map(|login| login.key.account.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_account_then_the_default_then_the_only_one() {
        let (any, work) = (AccountSelector::Any, "work".to_owned());
        let (named, preferred) =
            (AccountSelector::Named(work.clone()), AccountSelector::Preferred(work.clone()));
        let account = |name: &str| AccountChoice::Account(name.to_owned());
        for (selector, accounts, expected) in [
            (&any, &[][..], account("default")),
            (&any, &["home"], account("home")),
            (&any, &["default", "home", "work"], account("default")),
            (&any, &["work", "home"], AccountChoice::Ambiguous(vec!["home".into(), work.clone()])),
            // Several grants of one account, of earlier clients.
            (&any, &["work", "work"], account("work")),
            (&named, &[], account("work")),
            (&named, &["default"], account("work")),
            (&named, &["home", "work"], account("work")),
            (&preferred, &["home", "work"], account("work")),
            (&preferred, &["home"], account("home")),
            (&preferred, &["default"], account("default")),
            (&preferred, &["a", "b"], AccountChoice::Ambiguous(vec!["a".into(), "b".into()])),
        ] {
            assert_eq!(selector.choose(accounts.iter().copied()), expected, "{selector:?} {accounts:?}");
        }
    }
}
