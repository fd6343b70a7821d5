//! Methods of the host for resources, prompts and completion.

use std::sync::Arc;

use switchboard_protocol::{
    CompleteParams, CompleteResult, GetPromptResult, Level, ListenFilter, Prompt, Raw, ReadResourceResult,
    Resource, ResourceTemplate,
};
use switchboard_session::client::{Change, Subscription};
use switchboard_session::{ClientSession, SessionInfo};

use crate::call::HostRequest;
use crate::config::SharePolicy;
use crate::error::HostError;
use crate::host::Host;
use crate::resources::{FromServer, MergedList, report_error};
use crate::session_lease::SessionLease;
use crate::session_scope::{SessionKey, SessionScope};
use crate::slot::{Slot, SlotUse, Switch};
use crate::status::Status;
use crate::transport::Transport;

impl Host {
    /// Lists the resources of one server, or of all connected servers.
    ///
    /// # Errors
    /// When the given server does not exist, is not ready, or fails.
    pub async fn list_resources(&self, server: Option<&str>) -> Result<MergedList<Resource>, HostError> {
        self.inner.merge_lists(server, |session| Box::pin(session.list_resources())).await
    }

    /// Lists the resource templates of one server, or of all connected servers.
    ///
    /// # Errors
    /// As [`Self::list_resources`].
    pub async fn list_resource_templates(
        &self,
        server: Option<&str>,
    ) -> Result<MergedList<ResourceTemplate>, HostError> {
        self.inner.merge_lists(server, |session| Box::pin(session.list_resource_templates())).await
    }

    /// Lists the prompts of one server, or of all connected servers.
    ///
    /// # Errors
    /// As [`Self::list_resources`].
    pub async fn list_prompts(&self, server: Option<&str>) -> Result<MergedList<Prompt>, HostError> {
        self.inner.merge_lists(server, |session| Box::pin(session.list_prompts())).await
    }

    /// Reads a resource of a server.
    ///
    /// # Errors
    /// When the server does not exist, is not ready, or does not have the resource.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<ReadResourceResult, HostError> {
        self.inner.read_resource(server, uri).await
    }

    /// Gets a prompt of a server with these arguments.
    ///
    /// # Errors
    /// As [`Self::read_resource`].
    pub async fn get_prompt<K: Into<String>, V: Into<String>>(
        &self,
        server: &str,
        name: &str,
        arguments: impl IntoIterator<Item = (K, V)>,
    ) -> Result<GetPromptResult, HostError> {
        let (slot, session) = self.inner.open_session(server).await?;
        report_error(&slot, session.get_prompt(name, arguments).await)
    }

    /// Requests completions of an argument from a server.
    ///
    /// # Errors
    /// As [`Self::read_resource`].
    pub async fn complete(&self, server: &str, params: CompleteParams) -> Result<CompleteResult, HostError> {
        let (slot, session) = self.inner.open_session(server).await?;
        report_error(&slot, session.complete(params).await)
    }

    /// Sends any request to a server, with the options of a call: for resources, prompts and completion with a handler,
    /// progress or `_meta`. Await it for the result as the server wrote it.
    ///
    /// ```
    /// use switchboard::protocol::Raw;
    /// use switchboard::{Host, InProcess, json};
    ///
    /// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
    /// # demo::run(async {
    /// let host = Host::new();
    /// host.connect("notes", InProcess::new(&demo::server())).await?;
    /// let read = host.request("notes", "resources/read", Raw::from(json!({ "uri": "note://today" }))).await?;
    /// assert!(read.as_str().contains("Buy milk."));
    /// # demo::done() });
    /// ```
    pub fn request(&self, server: &str, method: impl Into<String>, params: Raw) -> HostRequest {
        HostRequest::new(Arc::clone(&self.inner), server.to_owned(), method.into(), params)
    }

    /// Subscribes to updates of a resource until the returned subscription is dropped. The server is not stopped as idle
    /// meanwhile.
    ///
    /// # Errors
    /// As [`Self::read_resource`].
    pub async fn subscribe(&self, server: &str, uri: &str) -> Result<HostSubscription, HostError> {
        self.subscribe_in(server, uri, None).await
    }

    /// As [`Self::subscribe`], in the session of a scope.
    ///
    /// # Errors
    /// As [`Self::read_resource`].
    pub async fn subscribe_in(
        &self,
        server: &str,
        uri: &str,
        scope: Option<&SessionScope>,
    ) -> Result<HostSubscription, HostError> {
        let (slot, session) = self.inner.open_session_in(server, scope).await?;
        let subscription = report_error(&slot, session.subscribe(uri).await)?;
        Ok(HostSubscription { subscription, _slot: slot })
    }

    /// Returns the instructions of each connected server, and of each sleeping server whose manifest has them, in configured
    /// order.
    pub fn instructions(&self) -> Vec<FromServer<String>> {
        let said = |slot: &Arc<Slot>| {
            let item = match slot.status() {
                Status::Asleep => match slot.last_info() {
                    Some(info) => info.instructions.clone()?,
                    None => slot.spec.manifest.as_ref()?.instructions.clone()?,
                },
                status => status.session_info()?.instructions.clone()?,
            };
            Some(FromServer { server: Arc::clone(&slot.name), item })
        };
        self.inner.slots().iter().filter_map(said).collect()
    }

    /// Returns the main session of a server, for requests without a method here. It ends when the server is reconnected, or
    /// stopped because it is idle: such requests do not count as use.
    ///
    /// # Errors
    /// When the server does not exist or is not ready.
    pub async fn session(&self, server: &str) -> Result<ClientSession, HostError> {
        Ok(self.inner.open_session(server).await?.1)
    }
    /// As [`Self::session`], for the session of a scope.
    ///
    /// # Errors
    /// When the server does not exist or is not ready.
    pub async fn session_in(
        &self,
        server: &str,
        scope: Option<&SessionScope>,
    ) -> Result<ClientSession, HostError> {
        Ok(self.inner.open_session_in(server, scope).await?.1)
    }

    /// Returns the open session with this key, or the main one, and keeps it from being stopped as idle. Opens none: returns
    /// `None` if there is none, or if it does not have this [number](ClientSession::number).
    pub fn lease(&self, server: &str, key: Option<SessionKey>, number: Option<u64>) -> Option<SessionLease> {
        let main = self.inner.slot(server).ok()?;
        if main.switch() == Switch::Off {
            return None;
        }
        let slot = match key {
            Some(key) => main.keyed.use_existing(key)?,
            None => SlotUse::new(main),
        };
        let session = slot.current()?;
        number.is_none_or(|number| number == session.number()).then_some(SessionLease { slot, session })
    }

    /// As [`Self::lease`], for the session of a scope, which is opened if it is not open.
    ///
    /// # Errors
    /// When the server does not exist or is not ready.
    pub async fn open_lease(
        &self,
        server: &str,
        scope: Option<&SessionScope>,
    ) -> Result<SessionLease, HostError> {
        let (slot, session) = self.inner.open_session_in(server, scope).await?;
        Ok(SessionLease { slot, session })
    }

    /// Returns whether a server is a child process, which ends with its session.
    pub fn is_child_process(&self, server: &str) -> bool {
        self.inner.slot(server).is_ok_and(|slot| matches!(slot.spec.transport, Transport::Stdio(_)))
    }

    /// Returns which callers of a gateway share a session with a server; `None` if there is no such server.
    pub fn share_policy(&self, server: &str) -> Option<SharePolicy> {
        let catalog = self.catalog();
        catalog.part(server)?.slot.as_ref().map(|slot| slot.spec.share_policy())
    }

    /// Returns the info of a session, also after it has ended; `None` if it was not open yet. Does not contact the server.
    pub fn session_info(&self, server: &str, scope: Option<&SessionScope>) -> Option<Arc<SessionInfo>> {
        let slot = self.inner.slot(server).ok()?;
        let keyed = scope.and_then(|scope| slot.keyed.get(scope.key)).and_then(|slot| slot.last_info());
        keyed.or_else(|| slot.last_info())
    }

    /// Requests log messages of this level in a session, unless it was asked for them before. A server that refuses is not
    /// asked again.
    ///
    /// # Errors
    /// When the server does not exist or is not ready.
    pub async fn ensure_log_level(
        &self,
        server: &str,
        scope: Option<&SessionScope>,
        level: Level,
    ) -> Result<(), HostError> {
        self.open_lease(server, scope).await?.ensure_log_level(level).await;
        Ok(())
    }
}

/// A subscription to updates of a resource. Dropping it ends it.
#[derive(Debug)]
pub struct HostSubscription {
    subscription: Subscription,
    /// Keeps the server from being stopped as idle.
    _slot: SlotUse,
}

impl HostSubscription {
    /// Returns the next change, or `None` when the subscription or the session has ended.
    pub async fn next(&mut self) -> Option<Change> {
        self.subscription.next().await
    }

    /// Returns the part of the filter that the server accepted.
    pub fn accepted(&self) -> &ListenFilter {
        self.subscription.accepted()
    }
}
