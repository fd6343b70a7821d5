//! Client handler: fills in forms with their defaults, and samples a fixed message.

use switchboard::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard::json;
use switchboard::protocol::{Content, Raw};
use switchboard::protocol::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult, FormField,
    NumberField,
};
use switchboard::transport::link::BoxFuture;

/// Handler that accepts every request.
pub(crate) struct AcceptingHandler;

impl ClientHandler for AcceptingHandler {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms().with_sampling()
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async move {
            let ElicitParams::Form(form) = request else {
                return Ok(ElicitResult::new(ElicitAction::Decline));
            };
            let fields = form.requested_schema.properties.iter();
            let filled = fields.map(|(name, field)| (name.to_owned(), fill(field))).collect();
            Ok(ElicitResult::accept(filled))
        })
    }

    fn sample<'a>(
        &'a self,
        _: CreateMessageParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(async { Ok(CreateMessageResult::new("test-model", [Content::text("Hello.")])) })
    }
}

/// Returns the default of a field, or else its minimum.
fn fill(field: &FormField) -> Raw {
    match field {
        FormField::Text(text) => json!(text.default.as_deref().unwrap_or("test")),
        FormField::Number(number) => json!(least(number)),
        #[expect(clippy::cast_possible_truncation, reason = "an integer, as the schema says")]
        FormField::Integer(number) => json!(least(number) as i64),
        FormField::Boolean(flag) => json!(flag.default.unwrap_or(true)),
        FormField::Choice(choice) => {
            let first = choice.options.first().map(|option| option.value.clone());
            json!(choice.default.clone().or(first))
        }
        FormField::MultiChoice(choice) => json!(choice.default.clone().unwrap_or_default()),
        _ => json!(null),
    }
    .into()
}

fn least(number: &NumberField) -> f64 {
    number.default.or(number.minimum).unwrap_or_default()
}
