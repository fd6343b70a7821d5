//! The user of a client: answers every question with their name.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard::protocol::{
    Content, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult, OrderedMap,
    Raw,
};
use switchboard::transport::link::BoxFuture;

/// A user.
pub(crate) struct Person {
    pub(crate) name: &'static str,
    pub(crate) capabilities: HandlerCapabilities,
    /// The questions so far.
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Person {
    pub(crate) fn new(name: &'static str) -> Arc<Self> {
        let capabilities = HandlerCapabilities::none().with_forms().with_urls().with_sampling();
        Arc::new(Self { name, capabilities, asked: Mutex::default() })
    }

    /// A user who cannot be asked.
    pub(crate) fn silent() -> Arc<Self> {
        Arc::new(Self { name: "nobody", capabilities: HandlerCapabilities::none(), asked: Mutex::default() })
    }
}

impl ClientHandler for Person {
    fn capabilities(&self) -> HandlerCapabilities {
        self.capabilities
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async move {
            self.asked.lock().push(request.message().to_owned());
            Ok(match request {
                ElicitParams::Url(_) => ElicitResult::new(ElicitAction::Accept),
                _ => {
                    let color = Raw::encode(self.name).unwrap();
                    ElicitResult::accept(
                        [("color".to_owned(), color)].into_iter().collect::<OrderedMap<Raw>>(),
                    )
                }
            })
        })
    }

    fn sample<'a>(
        &'a self,
        _: CreateMessageParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(async move {
            Ok(CreateMessageResult::new("model", [Content::text(format!("{} says hello", self.name))]))
        })
    }
}
