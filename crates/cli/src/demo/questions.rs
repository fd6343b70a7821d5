//! Tools that ask the user. The same code serves both eras: in the modern era it runs again from the top
//! when the answer arrives, so nothing happens before the question.

use serde::Deserialize;
use switchboard::protocol::{
    BooleanField, CallToolResult, ChoiceField, ChoiceOption, Content, ElicitAction, ElicitParams,
    ElicitResult, FormField, FormSchema, MultiChoiceField, NumberField, RpcError, TextField,
};
use switchboard::server::{AskError, Reply, RequestContext};

#[derive(Deserialize)]
struct Order {
    size: String,
    #[serde(default = "default_count")]
    count: u32,
    #[serde(default)]
    toppings: Vec<String>,
    #[serde(default)]
    spicy: bool,
    #[serde(default)]
    email: Option<String>,
}

fn default_count() -> u32 {
    1
}

pub(crate) async fn order_pizza(cx: RequestContext) -> Reply {
    let question = ElicitParams::form("How would you like your pizza?", pizza_form());
    let answer = match cx.elicit("order", question).await {
        Ok(answer) => answer,
        Err(error) => return ask_error(error),
    };
    let order = match accepted_content::<Order>(&answer)? {
        Ok(order) => order,
        Err(result) => return Ok(result.into()),
    };
    let with = if order.toppings.is_empty() { "nothing".to_owned() } else { order.toppings.join(" and ") };
    let hot = if order.spicy { ", spicy" } else { "" };
    let receipt = order.email.map(|email| format!(" The receipt goes to {email}.")).unwrap_or_default();
    let text = format!("{} {} pizza with {with}{hot}, coming up.{receipt}", order.count, order.size);
    Ok(CallToolResult::new([Content::text(text)]).into())
}

fn pizza_form() -> FormSchema {
    let sizes = ["small", "medium", "large"].map(ChoiceOption::new);
    let toppings = [("cheese", "Extra cheese"), ("mushrooms", "Mushrooms"), ("olives", "Olives")];
    let toppings = toppings.map(|(value, title)| ChoiceOption::new(value).with_title(title));
    FormSchema::new()
        .with_required("size", FormField::Choice(ChoiceField::new(sizes).with_description("How big?")))
        .with_optional(
            "count",
            FormField::Integer(
                NumberField::new()
                    .with_description("How many?")
                    .with_minimum(1.0)
                    .with_maximum(9.0)
                    .with_default(1.0),
            ),
        )
        .with_optional(
            "toppings",
            FormField::MultiChoice(MultiChoiceField::new(toppings).with_description("What goes on it?")),
        )
        .with_optional("spicy", FormField::Boolean(BooleanField::new().with_default(false)))
        .with_optional(
            "email",
            FormField::Text(TextField::new().with_description("Where the receipt goes").with_format("email")),
        )
}

pub(crate) async fn link_account(cx: RequestContext) -> Reply {
    let question =
        ElicitParams::url("Log in to link your account.", "https://login.example.com/start?step=1");
    match cx.elicit("login", question).await {
        Ok(answer) => Ok(match answer.action {
            ElicitAction::Accept => CallToolResult::new([Content::text("The account is linked.")]),
            _ => CallToolResult::error("The user did not want to visit the page."),
        }
        .into()),
        Err(error) => ask_error(error),
    }
}

/// Decodes the content of an accepted form, or returns the tool error for a declined one.
fn accepted_content<T: serde::de::DeserializeOwned>(
    answer: &ElicitResult,
) -> Result<Result<T, CallToolResult>, RpcError> {
    match answer.action {
        ElicitAction::Accept => {
            let content = answer.decode().map_err(|error| RpcError::invalid_params(error.to_string()))?;
            Ok(content.ok_or_else(|| CallToolResult::error("The form came back empty.")))
        }
        ElicitAction::Decline => Ok(Err(CallToolResult::error("The user declined."))),
        ElicitAction::Cancel => Ok(Err(CallToolResult::error("The user went away without an answer."))),
    }
}

/// Reports to the model why the user could not be asked.
fn ask_error(error: AskError) -> Reply {
    match error {
        AskError::Refused(error) => Err(error),
        other => {
            Ok(CallToolResult::error(format!("This tool must ask the user first, and cannot: {other}."))
                .into())
        }
    }
}
