//! Who answers the server in a client's talk: fixed answers, chosen by what is asked.

use switchboard::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard::json;
use switchboard::protocol::{Content, Raw};
use switchboard::protocol::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult, OrderedMap,
};
use switchboard::transport::link::BoxFuture;

/// Fixed answers: "decline", "cancel", "refuse" and "wait" do what they say, "slowly" reports progress first, and
/// anything else is accepted.
#[derive(Debug)]
pub(crate) struct Fixed(pub(crate) HandlerCapabilities);

impl Fixed {
    /// The abilities named in a header: `forms urls sampling sampling-tools`.
    pub(crate) fn able(words: &str) -> Self {
        Self(words.split_whitespace().fold(HandlerCapabilities::none(), |able, word| match word {
            "forms" => able.with_forms(),
            "urls" => able.with_urls(),
            "sampling" => able.with_sampling(),
            "sampling-tools" => able.with_sampling_tools(),
            other => panic!("no ability is called {other:?}"),
        }))
    }
}

impl ClientHandler for Fixed {
    fn capabilities(&self) -> HandlerCapabilities {
        self.0
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async move {
            match (request.message(), &request) {
                ("decline", _) => Ok(ElicitResult::new(ElicitAction::Decline)),
                ("cancel", _) => Ok(ElicitResult::new(ElicitAction::Cancel)),
                ("refuse", _) => Err(HandlerError::new("the user is away")),
                ("wait", _) => std::future::pending().await,
                (_, ElicitParams::Url(_)) => Ok(ElicitResult::new(ElicitAction::Accept)),
                (message, _) => {
                    if message == "slowly" {
                        asker.progress(1.0, Some(2.0), Some("half"));
                    }
                    let content = [("name".to_owned(), Raw::from(json!("Ada")))];
                    Ok(ElicitResult::accept(OrderedMap::from_iter(content)))
                }
            }
        })
    }

    fn sample<'a>(
        &'a self,
        request: CreateMessageParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(async move {
            let said = request.messages.first().and_then(|message| message.content.first()?.as_text());
            match said {
                Some("refuse") => Err(HandlerError::new("the user says no")),
                Some("wait") => std::future::pending().await,
                said => {
                    asker.progress(1.0, Some(2.0), Some("half"));
                    let text = format!("you said {}", said.unwrap_or_default());
                    Ok(CreateMessageResult::new("fixed", [Content::text(text)]))
                }
            }
        })
    }
}
