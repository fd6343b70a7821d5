//! Logins to the servers of a host: stored tokens, by the `oauth` blocks of their configuration.
//!
//! A host knows no OAuth; [`StoredLogins`] is the [`CredentialProvider`](switchboard_host::CredentialProvider) that sends the tokens of a token store, refreshes
//! them, and obtains new ones where no user is needed.
//!
//! ```
//! use std::sync::Arc;
//! use switchboard::Host;
//! use switchboard::login::StoredLogins;
//!
//! # let home = tempfile::tempdir()?;
//! # let directory = home.path().join("auth");
//! # let logins = StoredLogins::open_at(directory)?;
//! # let _ = || -> Result<(), switchboard::auth::AuthError> {
//! let logins = StoredLogins::open()?; // the logins of `switchboard login`
//! # Ok(()) };
//! let host = Host::builder().with_credentials(Arc::new(logins)).build();
//! # _ = host;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accounts;
mod authorizer;
mod options;
mod stored_logins;

pub use accounts::{AccountChoice, AccountSelector};
pub use options::oauth_options;
pub use stored_logins::{StoredLogins, login_address};
