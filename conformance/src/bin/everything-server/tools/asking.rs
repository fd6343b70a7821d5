//! Tools that ask the client something: its model, its user.

use switchboard::protocol::{
    BooleanField, ChoiceField, ChoiceOption, ChoiceStyle, CreateMessageParams, ElicitParams, ElicitResult,
    FormField, FormSchema, MultiChoiceField, NumberField, Role, SamplingMessage, TextField,
};
use switchboard::protocol::{Content, Raw};
use switchboard::server::{HandlerOutcome, Reply, RequestContext};

use super::{Call, Text, says};

pub(super) fn sampling(call: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move {
        let Text { text } = call.read()?;
        says(format!("LLM response: {}", sample(&call.cx, "sample", &text).await?))
    })
}

/// Asks the model, and gives its text.
async fn sample(cx: &RequestContext, key: &str, text: &str) -> Result<String, switchboard::server::AskError> {
    let answer = cx.sample(key, question(text, 100)).await?;
    Ok(answer.content.iter().filter_map(Content::as_text).collect())
}

/// A question for a model.
pub(super) fn question(text: &str, max_tokens: u64) -> CreateMessageParams {
    CreateMessageParams::new([SamplingMessage::new(Role::User, [Content::text(text)])], max_tokens)
}

pub(super) fn elicitation(call: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move {
        let Text { text } = call.read()?;
        let field = |what: &str| FormField::Text(TextField::new().with_description(what));
        let form = FormSchema::new()
            .with_required("username", field("User's response"))
            .with_required("email", field("User's email address"));
        let answer = call.cx.elicit("user", ElicitParams::form(text, form)).await?;
        let (action, content) = parts(&answer);
        says(format!("User response: <action: {action}, content: {content}>"))
    })
}

pub(super) fn defaults(Call { cx, .. }: Call) -> HandlerOutcome {
    let status = ["active", "inactive", "pending"].map(ChoiceOption::new);
    let name = TextField::new().with_description("User name").with_default("John Doe");
    let age = NumberField::new().with_description("User age").with_default(30.0);
    let score = NumberField::new().with_description("User score").with_default(95.5);
    let status = ChoiceField::new(status).with_description("User status").with_default("active");
    let verified = BooleanField::new().with_description("Verification status").with_default(true);
    let form = FormSchema::new()
        .with_optional("name", FormField::Text(name))
        .with_optional("age", FormField::Integer(age))
        .with_optional("score", FormField::Number(score))
        .with_optional("status", FormField::Choice(status))
        .with_optional("verified", FormField::Boolean(verified));
    let question = "Please review and update the form fields with defaults";
    HandlerOutcome::later(completed(cx, ElicitParams::form(question, form)))
}

pub(super) fn choices(Call { cx, .. }: Call) -> HandlerOutcome {
    let plain = || ["option1", "option2", "option3"].map(ChoiceOption::new);
    let titled = |titles: [&str; 3]| {
        let values = ["value1", "value2", "value3"];
        let option = |(value, title): (&str, &str)| ChoiceOption::new(value).with_title(title);
        values.into_iter().zip(titles).map(option).collect::<Vec<_>>()
    };
    let names = [("opt1", "Option One"), ("opt2", "Option Two"), ("opt3", "Option Three")];
    let mut named = ChoiceField::new(names.map(|(value, title)| ChoiceOption::new(value).with_title(title)));
    named.style = ChoiceStyle::EnumNames;
    let one_of = titled(["First Option", "Second Option", "Third Option"]);
    let any_of = titled(["First Choice", "Second Choice", "Third Choice"]);
    let form = FormSchema::new()
        .with_optional("untitledSingle", FormField::Choice(ChoiceField::new(plain())))
        .with_optional("titledSingle", FormField::Choice(ChoiceField::new(one_of)))
        .with_optional("legacyEnum", FormField::Choice(named))
        .with_optional("untitledMulti", FormField::MultiChoice(MultiChoiceField::new(plain())))
        .with_optional("titledMulti", FormField::MultiChoice(MultiChoiceField::new(any_of)));
    HandlerOutcome::later(completed(
        cx,
        ElicitParams::form("Please select options from the enum fields", form),
    ))
}

async fn completed(cx: RequestContext, question: ElicitParams) -> Reply {
    let answer = cx.elicit("form", question).await?;
    let (action, content) = parts(&answer);
    says(format!("Elicitation completed: action={action}, content={content}"))
}

/// What the user did and filled in, as text.
fn parts(answer: &ElicitResult) -> (String, String) {
    let text = |raw: Result<Raw, _>| raw.map(|raw| raw.as_str().to_owned()).unwrap_or_default();
    let action = text(Raw::encode(&answer.action)).trim_matches('"').to_owned();
    let content =
        answer.content.as_ref().map_or_else(|| "{}".to_owned(), |content| text(Raw::encode(content)));
    (action, content)
}

/// The client that did not declare sampling is refused by the question itself.
pub(super) fn missing(Call { cx, .. }: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move { says(sample(&cx, "model", "Say hello.").await?) })
}

pub(super) fn streaming(Call { cx, .. }: Call) -> HandlerOutcome {
    let form = FormSchema::new().with_required("name", FormField::Text(TextField::new()));
    HandlerOutcome::later(completed(cx, ElicitParams::form("What is your name?", form)))
}
