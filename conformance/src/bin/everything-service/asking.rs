//! Tools that ask the client something: its model, its user.

use serde::Deserialize;
use serde_json::{Map, Value};
use switchboard::protocol::Content;
use switchboard::protocol::{
    ChoiceField, ChoiceOption, ChoiceStyle, CreateMessageParams, FormField, FormSchema, MultiChoiceField,
    Role, SamplingMessage,
};
use switchboard::service::prelude::*;

/// Tools that ask the client something.
#[switchboard::service]
pub(crate) trait Asking {
    /// Asks the caller's model.
    #[tool]
    async fn test_sampling(&self, cx: &Cx, prompt: String) -> Result<String>;

    /// Asks the user.
    #[tool]
    async fn test_elicitation(&self, cx: &Cx, message: String) -> Result<String>;

    /// Asks the user with defaults.
    #[tool]
    async fn test_elicitation_sep1034_defaults(&self, cx: &Cx) -> Result<String>;

    /// Asks the user to choose.
    #[tool]
    async fn test_elicitation_sep1330_enums(&self, cx: &Cx) -> Result<String>;

    /// Needs a model to ask.
    #[tool]
    async fn test_missing_capability(&self, cx: &Cx) -> Result<String>;

    /// Asks the user before it answers.
    #[tool]
    async fn test_streaming_elicitation(&self, cx: &Cx) -> Result<String>;
}

/// Who the user is.
#[derive(Debug, Deserialize, serde::Serialize, Form)]
struct User {
    /// User's response
    username: String,
    /// User's email address
    email: String,
}

/// A form with defaults.
#[derive(Debug, Deserialize, serde::Serialize, Form)]
struct Defaults {
    /// User name
    #[form(default = "John Doe")]
    name: Option<String>,
    /// User age
    #[form(default = 30)]
    age: Option<i64>,
    /// User score
    #[form(default = 95.5)]
    score: Option<f64>,
    /// User status
    #[form(default = "active")]
    status: Option<State>,
    /// Verification status
    #[form(default = true)]
    verified: Option<bool>,
}

/// How a user is.
#[derive(Debug, Deserialize, serde::Serialize, FormChoice)]
#[serde(rename_all = "lowercase")]
enum State {
    Active,
    Inactive,
    Pending,
}

/// A name.
#[derive(Debug, Deserialize, serde::Serialize, Form)]
struct Name {
    name: String,
}

/// Choices of every kind, older ones too: written by hand, for no type of Rust has them all.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Choices(Map<String, Value>);

impl Form for Choices {
    fn form() -> FormSchema {
        let plain = || ["option1", "option2", "option3"].map(ChoiceOption::new);
        let titled = |titles: [&str; 3]| {
            let values = ["value1", "value2", "value3"];
            let option = |(value, title): (&str, &str)| ChoiceOption::new(value).with_title(title);
            values.into_iter().zip(titles).map(option).collect::<Vec<_>>()
        };
        let names = [("opt1", "Option One"), ("opt2", "Option Two"), ("opt3", "Option Three")];
        let mut named =
            ChoiceField::new(names.map(|(value, title)| ChoiceOption::new(value).with_title(title)));
        named.style = ChoiceStyle::EnumNames;
        let one_of = titled(["First Option", "Second Option", "Third Option"]);
        let any_of = titled(["First Choice", "Second Choice", "Third Choice"]);
        FormSchema::new()
            .with_optional("untitledSingle", FormField::Choice(ChoiceField::new(plain())))
            .with_optional("titledSingle", FormField::Choice(ChoiceField::new(one_of)))
            .with_optional("legacyEnum", FormField::Choice(named))
            .with_optional("untitledMulti", FormField::MultiChoice(MultiChoiceField::new(plain())))
            .with_optional("titledMulti", FormField::MultiChoice(MultiChoiceField::new(any_of)))
    }
}

pub(crate) struct Fixture;

impl Asking for Fixture {
    async fn test_sampling(&self, cx: &Cx, prompt: String) -> Result<String> {
        Ok(format!("LLM response: {}", sample(cx, "sample", &prompt, 100).await?))
    }

    async fn test_elicitation(&self, cx: &Cx, message: String) -> Result<String> {
        let (action, content) = parts(cx.elicit::<User>("user", message).await?)?;
        Ok(format!("User response: <action: {action}, content: {content}>"))
    }

    async fn test_elicitation_sep1034_defaults(&self, cx: &Cx) -> Result<String> {
        let question = "Please review and update the form fields with defaults";
        completed(cx.elicit::<Defaults>("form", question).await?)
    }

    async fn test_elicitation_sep1330_enums(&self, cx: &Cx) -> Result<String> {
        let question = "Please select options from the enum fields";
        let answer = match cx.elicit::<Choices>("form", question).await? {
            ElicitOutcome::Accepted(Choices(chosen)) => ElicitOutcome::Accepted(chosen),
            ElicitOutcome::Declined => ElicitOutcome::Declined,
            ElicitOutcome::Dismissed => ElicitOutcome::Dismissed,
        };
        completed(answer)
    }

    async fn test_missing_capability(&self, cx: &Cx) -> Result<String> {
        sample(cx, "model", "Say hello.", 100).await
    }

    async fn test_streaming_elicitation(&self, cx: &Cx) -> Result<String> {
        completed(cx.elicit::<Name>("form", "What is your name?").await?)
    }
}

/// Asks the model, and gives its text.
pub(crate) async fn sample(cx: &Cx, key: &str, text: &str, most: u64) -> Result<String> {
    let message = SamplingMessage::new(Role::User, [Content::text(text)]);
    let answer = cx.sample(key, CreateMessageParams::new([message], most)).await?;
    Ok(answer.content.iter().filter_map(Content::as_text).collect())
}

fn completed<T: serde::Serialize>(answer: ElicitOutcome<T>) -> Result<String> {
    let (action, content) = parts(answer)?;
    Ok(format!("Elicitation completed: action={action}, content={content}"))
}

/// What the user did and filled in, as text.
fn parts<T: serde::Serialize>(answer: ElicitOutcome<T>) -> Result<(&'static str, String)> {
    Ok(match answer {
        ElicitOutcome::Accepted(content) => ("accept", serde_json::to_string(&content)?),
        ElicitOutcome::Declined => ("decline", "{}".into()),
        ElicitOutcome::Dismissed => ("cancel", "{}".into()),
    })
}
