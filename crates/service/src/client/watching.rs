//! Hears of the changes of a resource, or of all resources of a family.

use switchboard_design::{Error, ResourceUri, Route, ServiceError};
use switchboard_protocol::ListenFilter;
use switchboard_session::client::Change;

use super::caller::no_such;
use super::failure::{Called, failed};
use super::{Arguments, Caller};
use crate::{Changes, Cx};

impl Caller {
    /// Hears of the changes of a resource until it is dropped. A family is heard through every member that is listed now;
    /// [`Self::watch_one`] hears one, listed or not.
    ///
    /// # Errors
    /// What the service, the protocol or the connection says.
    pub async fn watch<E: ServiceError>(
        &self,
        watch: usize,
        cx: Option<&Cx>,
        changes: Changes,
    ) -> Result<(), E> {
        self.watch_with(watch, cx, changes, E::from_error).await
    }

    /// Hears of changes and converts an error with `from_error`. For generated code, as [`Self::tool_with`].
    #[doc(hidden)]
    pub async fn watch_with<E>(
        &self,
        watch: usize,
        cx: Option<&Cx>,
        changes: Changes,
        from_error: impl FnOnce(Error) -> E,
    ) -> Result<(), E> {
        let _ = cx;
        let heard = async {
            let resource = self.watched(watch)?;
            let uris = match self.route(resource)?.pattern().fixed_uri() {
                Some(uri) => vec![uri.to_owned()],
                None => self.members(resource).await?,
            };
            self.hear(uris, &changes).await
        };
        heard.await.map_err(from_error)
    }

    /// Hears of the changes of one resource, of a family or not, until it is dropped: the one that these arguments read.
    ///
    /// # Errors
    /// What the service, the protocol or the connection says.
    pub async fn watch_one<E: ServiceError>(
        &self,
        watch: usize,
        args: Arguments,
        cx: Option<&Cx>,
        changes: Changes,
    ) -> Result<(), E> {
        let _ = cx;
        let heard = async {
            let uri = self.uri(self.watched(watch)?, args)?;
            self.hear(vec![uri], &changes).await
        };
        heard.await.map_err(E::from_error)
    }

    /// The place of the resource that is watched.
    fn watched(&self, watch: usize) -> Result<usize, Error> {
        let def = self.design.watches.get(watch).ok_or_else(|| no_such("subscription"))?;
        let place = self.design.resources.iter().position(|resource| resource.name == def.resource);
        place.ok_or_else(|| no_such("resource"))
    }

    fn route(&self, resource: usize) -> Result<&Route, Error> {
        self.routes[resource].as_ref().map_err(|error| Error::internal(error.clone()))
    }

    /// The members of a family that the server lists.
    async fn members(&self, resource: usize) -> Result<Vec<String>, Error> {
        let listed = self.session.list_resources().await;
        let listed = listed.map_err(|error| failed(error, Called::Other("resources/list"), |_| None))?;
        let route = self.route(resource)?;
        let is_member = |uri: &str| uri.parse::<ResourceUri>().is_ok_and(|uri| route.decode(&uri).is_some());
        let uris = listed.iter().map(|listed| listed.uri.clone());
        let uris: Vec<String> = uris.filter(|uri| is_member(uri)).collect();
        if uris.is_empty() {
            let pattern = route.pattern();
            let reason =
                format!("the server lists no resource of {pattern}; say which one to watch with `watch_one`");
            return Err(Error::invalid_params(reason));
        }
        Ok(uris)
    }

    async fn hear(&self, uris: Vec<String>, changes: &Changes) -> Result<(), Error> {
        let is_one = uris.len() == 1;
        let mut filter = ListenFilter::new();
        filter.resource_subscriptions = uris.clone();
        let listening = self.session.listen(filter).await;
        let mut listening =
            listening.map_err(|error| failed(error, Called::Other("resources/subscribe"), |_| None))?;
        while let Some(change) = listening.next().await {
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
