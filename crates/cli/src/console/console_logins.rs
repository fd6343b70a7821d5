//! Logins for the console: those that are stored, new ones, and which identity reaches a server.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use switchboard::Host;
use switchboard::auth::{AuthError, FileStore, OAuthAuthorizer, OAuthOptions, StoredGrant, TokenStore};
use switchboard::host::Status;
use switchboard::host::config::{OffReason, StartPolicy};
use switchboard::login::{AccountSelector, login_address};
use switchboard::transport::http_client::{Address, PlainHttp};
use switchboard_console::contract::{ForgetLogin, Identity, LoginRequest, LoginStep, Logins};
use switchboard_console::providers::{BoxFuture, LoginProvider, ProviderError, ProviderErrorKind, StepSink};
use tokio::sync::Notify;

use super::config_editor::failed;
use super::identity::identity_of;
use super::known_servers::KnownServers;
use super::login_attempt::log_in;
use super::stored_login_rows::login_rows;
use crate::configured_servers::LoginTarget;
use crate::error::CommandError;
use crate::login::{http_client, open_store};
use crate::sanitize::one_line;

/// How often the store is read again: another command may log in or out.
const STORE_INTERVAL: Duration = Duration::from_secs(2);
/// The longest time that revoking tokens may take.
const REVOKE_TIMEOUT: Duration = Duration::from_secs(20);

/// The logins of this user.
#[derive(Debug)]
pub(crate) struct ConsoleLogins {
    host: Host,
    servers: Arc<KnownServers>,
    account: AccountSelector,
    /// Whether the host sends stored logins.
    uses_logins: bool,
    // Held for a clone or an assignment, never across an await.
    stored: RwLock<StoredState>,
    changed: Notify,
}

/// What the store had when it was last read.
#[derive(Clone, Debug, Default)]
struct StoredState {
    logins: Vec<StoredGrant>,
    error: Option<String>,
}

impl StoredState {
    /// Returns whether both have the same versions of the same logins.
    fn is_same(&self, other: &Self) -> bool {
        let versions = |state: &Self| {
            state.logins.iter().map(|login| (login.key.clone(), login.generation)).collect::<Vec<_>>()
        };
        self.error == other.error && versions(self) == versions(other)
    }
}

impl ConsoleLogins {
    pub(crate) fn new(
        host: Host,
        servers: Arc<KnownServers>,
        account: AccountSelector,
        uses_logins: bool,
    ) -> Self {
        let (stored, changed) = (RwLock::default(), Notify::new());
        Self { host, servers, account, uses_logins, stored, changed }
    }

    /// Reads the store, and returns whether it has changed.
    pub(crate) async fn refresh(&self) -> bool {
        let state = match FileStore::default_directory() {
            None => StoredState::default(),
            Some(_) => match read_store().await {
                Ok(logins) => StoredState { logins, error: None },
                Err(error) => StoredState { logins: Vec::new(), error: Some(failed(error).message) },
            },
        };
        let mut stored = self.stored.write().unwrap_or_else(PoisonError::into_inner);
        let has_changed = !stored.is_same(&state);
        *stored = state;
        has_changed
    }

    fn stored(&self) -> StoredState {
        self.stored.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn rows(&self) -> Logins {
        self.refresh().await;
        let StoredState { logins, error } = self.stored();
        let rows = login_rows(&logins, &self.servers.specs(), &self.account, &self.host);
        Logins { logins: rows, store_error: error }
    }

    /// Returns the server to log in to.
    fn target(&self, server: &str) -> Result<LoginTarget, ProviderError> {
        let Some(spec) = self.servers.spec(server) else {
            let message = format!("no server {:?} is configured", one_line(server));
            return Err(ProviderError::new(ProviderErrorKind::NotFound, "unknown_server", message));
        };
        // Others chose the URL, and where secrets go.
        if spec.start == StartPolicy::Off(OffReason::Unapproved) {
            let message = format!("{} is not approved", one_line(server));
            return Err(ProviderError::new(ProviderErrorKind::Forbidden, "not_approved", message)
                .with_next_step(format!("switchboard approve {}", one_line(server))));
        }
        let Some(address) = login_address(&spec) else {
            let message = format!("{} has credentials of its own, or is not at a URL", one_line(server));
            return Err(ProviderError::new(ProviderErrorKind::NotFound, "no_login", message)
                .with_next_step("change its entry: `env` or `headers`"));
        };
        Ok(LoginTarget { name: server.to_owned(), address, oauth: spec.oauth })
    }

    async fn attempt(&self, request: &LoginRequest, steps: StepSink<LoginStep>) -> Result<(), ProviderError> {
        let target = self.target(&request.server)?;
        let account = target.account(request.account.as_deref()).map(str::to_owned);
        match log_in(&target, account.as_deref(), &steps).await {
            Ok(stored) => {
                self.refresh().await;
                steps.send(LoginStep::Done { account: stored.key.account });
                self.changed.notify_one();
                self.reconnect_users(&target.address).await;
            }
            Err(error) => {
                let ProviderError { message, next_step, .. } = failed(error);
                let next_step = next_step.unwrap_or_else(|| "try again".to_owned());
                steps.send(LoginStep::Failed { error: message, next_step });
            }
        }
        Ok(())
    }

    /// Connects the servers that waited for a login at this address.
    async fn reconnect_users(&self, address: &Address) {
        for (name, spec) in self.servers.specs() {
            let is_user = login_address(&spec).is_some_and(|other| other.as_str() == address.as_str());
            if is_user && matches!(self.host.state(&name), Ok(Status::NeedsAuth(_) | Status::Failed(_))) {
                // Its failure is in its status.
                _ = self.host.reconnect(&name).await;
            }
        }
    }

    async fn log_out(&self, login: &ForgetLogin) -> Result<(), ProviderError> {
        let store = open_store().map_err(failed)?;
        let logins = read_store().await.map_err(failed)?;
        let is_meant = |stored: &&StoredGrant| {
            stored.grant.server == login.address
                && stored.key.issuer == login.issuer
                && stored.key.client_id == login.client_id
                && stored.key.account == login.account
        };
        let (Some(stored), Ok(address)) =
            (logins.iter().find(is_meant), Address::parse(&login.address, PlainHttp::LoopbackOnly))
        else {
            let message = format!("there is no such login at {}", one_line(&login.address));
            return Err(ProviderError::new(ProviderErrorKind::NotFound, "unknown_login", message)
                .with_next_step("load the list of logins again"));
        };
        let options = OAuthOptions::default().with_account(&stored.key.account);
        let http = http_client().map_err(failed)?;
        let authorizer = OAuthAuthorizer::new(http, address.clone(), options).with_store(store);
        let done = tokio::time::timeout(REVOKE_TIMEOUT, authorizer.log_out()).await;
        self.refresh().await;
        self.changed.notify_one();
        match done {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return Err(failed(error.into())),
            Err(_) => {
                let message = format!("the server did not answer within {} s", REVOKE_TIMEOUT.as_secs());
                return Err(ProviderError::new(ProviderErrorKind::Failed, "unreachable", message)
                    .with_next_step("try again"));
            }
        }
        self.end_sessions(&address).await;
        Ok(())
    }

    /// Connects the servers at this address again: their sessions used the tokens that are gone.
    async fn end_sessions(&self, address: &Address) {
        for (name, spec) in self.servers.specs() {
            let is_user = login_address(&spec).is_some_and(|other| other.as_str() == address.as_str());
            if is_user && matches!(self.host.state(&name), Ok(Status::Ready(_))) {
                _ = self.host.reconnect(&name).await;
            }
        }
    }

    async fn wait_for_change(&self) {
        loop {
            tokio::select! {
                () = self.changed.notified() => return,
                () = tokio::time::sleep(STORE_INTERVAL) => if self.refresh().await {
                    return;
                },
            }
        }
    }
}

impl LoginProvider for ConsoleLogins {
    fn logins(&self) -> BoxFuture<'_, Logins> {
        Box::pin(self.rows())
    }

    fn log_in<'a>(
        &'a self,
        request: &'a LoginRequest,
        steps: StepSink<LoginStep>,
    ) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.attempt(request, steps))
    }

    fn forget<'a>(&'a self, login: &'a ForgetLogin) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.log_out(login))
    }

    fn identity(&self, server: &str) -> Identity {
        let Some(spec) = self.servers.spec(server) else {
            return Identity::Unknown { reason: "its entry is not valid".to_owned() };
        };
        identity_of(&spec, &self.stored().logins, &self.account, self.uses_logins)
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.wait_for_change())
    }
}

/// Reads the logins: a usable one before one that was rejected, and the newest first.
async fn read_store() -> Result<Vec<StoredGrant>, CommandError> {
    let mut logins = open_store()?.list().await.map_err(AuthError::from)?;
    logins.sort_by_key(|login| (login.grant.needs_login(), std::cmp::Reverse(login.grant.obtained_at)));
    Ok(logins)
}
