//! Client side of resource subscriptions.

use switchboard_design::{Error, ResourceUri, Route, ServiceError};
use switchboard_protocol::ListenFilter;
use switchboard_session::client::Change;

use super::caller::unknown_index;
use super::error::{CallTarget, to_error};
use super::{CallArguments, ServiceCaller};
use crate::{Changes, Cx};

impl ServiceCaller {
    /// Forwards changes of a resource until the future is dropped. For a template, subscribes to each resource that
    /// the server lists now; [`Self::watch_one`] subscribes to a single one, listed or not.
    ///
    /// # Errors
    /// An error of the service, the protocol or the connection.
    pub async fn watch<E: ServiceError>(
        &self,
        watch: usize,
        cx: Option<&Cx>,
        changes: Changes,
    ) -> Result<(), E> {
        self.watch_with(watch, cx, changes, E::from_error).await
    }

    /// Forwards changes and converts an error with `from_error`. For generated code, as [`Self::tool_with`].
    #[doc(hidden)]
    pub async fn watch_with<E>(
        &self,
        watch: usize,
        cx: Option<&Cx>,
        changes: Changes,
        from_error: impl FnOnce(Error) -> E,
    ) -> Result<(), E> {
        let _ = cx;
        let watching = async {
            let resource = self.watched_resource(watch)?;
            let uris = match self.route(resource)?.pattern().fixed_uri() {
                Some(uri) => vec![uri.to_owned()],
                None => self.members(resource).await?,
            };
            self.forward_changes(uris, &changes).await
        };
        watching.await.map_err(from_error)
    }

    /// Forwards changes of the resource with these arguments until the future is dropped.
    ///
    /// # Errors
    /// An error of the service, the protocol or the connection.
    pub async fn watch_one<E: ServiceError>(
        &self,
        watch: usize,
        args: CallArguments,
        cx: Option<&Cx>,
        changes: Changes,
    ) -> Result<(), E> {
        let _ = cx;
        let watching = async {
            let uri = self.uri(self.watched_resource(watch)?, args)?;
            self.forward_changes(vec![uri], &changes).await
        };
        watching.await.map_err(E::from_error)
    }

    /// Returns the index of the watched resource.
    fn watched_resource(&self, watch: usize) -> Result<usize, Error> {
        let def = self.design.watches.get(watch).ok_or_else(|| unknown_index("subscription"))?;
        let index = self.design.resources.iter().position(|resource| resource.name == def.resource);
        index.ok_or_else(|| unknown_index("resource"))
    }

    fn route(&self, resource: usize) -> Result<&Route, Error> {
        self.routes[resource].as_ref().map_err(|error| Error::internal(error.clone()))
    }

    /// Returns the URIs of a template's resources that the server lists.
    async fn members(&self, resource: usize) -> Result<Vec<String>, Error> {
        let listed = self.session.list_resources().await;
        let listed =
            listed.map_err(|error| to_error(error, CallTarget::Other("resources/list"), |_| None))?;
        let route = self.route(resource)?;
        let is_member = |uri: &str| uri.parse::<ResourceUri>().is_ok_and(|uri| route.decode(&uri).is_some());
        let uris = listed.iter().map(|listed| listed.uri.clone());
        let uris: Vec<String> = uris.filter(|uri| is_member(uri)).collect();
        if uris.is_empty() {
            let pattern = route.pattern();
            let reason = format!(
                "the server lists no resource that matches {pattern}; watch a single one with `watch_one`"
            );
            return Err(Error::invalid_params(reason));
        }
        Ok(uris)
    }

    async fn forward_changes(&self, uris: Vec<String>, changes: &Changes) -> Result<(), Error> {
        let is_one = uris.len() == 1;
        let mut filter = ListenFilter::new();
        filter.resource_subscriptions = uris.clone();
        let subscription = self.session.listen(filter).await;
        let mut subscription = subscription
            .map_err(|error| to_error(error, CallTarget::Other("resources/subscribe"), |_| None))?;
        while let Some(change) = subscription.next().await {
            match change {
                Change::Resource { uri } if is_one && uris.contains(&uri) => changes.notify(),
                Change::Resource { uri } => changes.notify_uri(&uri),
                // Any of them may have changed.
                Change::Missed(_) if is_one => changes.notify(),
                Change::Missed(_) => uris.iter().for_each(|uri| changes.notify_uri(uri)),
                Change::Ended => break,
                _ => {}
            }
        }
        Ok(())
    }
}
