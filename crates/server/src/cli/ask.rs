//! Questions of a service, asked at the terminal one at a time.
//!
//! What the service wrote stands behind a bar, so that it cannot look like a question of ours. A URL is shown in full and
//! never opened.

use std::io::{BufRead, Write};
use std::sync::OnceLock;

use switchboard_protocol::{
    ElicitAction, ElicitParams, ElicitResult, FormField, FormParams, OrderedMap, Raw,
};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;
use tokio::sync::{Mutex, mpsc};

use super::sanitize::{self, one_line, sanitize};
use super::{field, web_host};

/// Asks whoever sits at the terminal.
#[derive(Debug, Default)]
pub(super) struct AtTerminal {
    /// Held by the question that is being asked: a service may ask several at once. The lines typed, from the first
    /// question on.
    lines: OnceLock<Mutex<mpsc::UnboundedReceiver<String>>>,
}

/// Somebody pressed Ctrl-D.
struct Gone;

type Lines = mpsc::UnboundedReceiver<String>;

impl AtTerminal {
    async fn ask(
        &self,
        request: ElicitParams,
        asker: &RequestingServer,
    ) -> Result<ElicitResult, HandlerError> {
        let mut lines = self.lines.get_or_init(|| Mutex::new(keyboard())).lock().await;
        let who = sanitize::name(&asker.to_string());
        let answered = match &request {
            ElicitParams::Form(form) => self::form(form, &who, &mut lines).await,
            ElicitParams::Url(asked) => {
                say(&format!("\n{who} asks you to visit a page:"));
                quote(&asked.message);
                // In full, on a line of its own: it is what the user decides by.
                let host = web_host::host(&asked.url);
                say(&format!("\n  {}\n  host: {}", one_line(&asked.url), one_line(host)));
                if let Some(caution) = web_host::caution(host) {
                    say(&format!("  warning: {}", one_line(&caution)));
                }
                say("\nIt is not opened for you.");
                let action = |yes| if yes { ElicitAction::Accept } else { ElicitAction::Decline };
                agreed("Will you visit it? [y/N]", false, &mut lines)
                    .await
                    .map(|yes| ElicitResult::new(action(yes)))
            }
            _ => return Err(HandlerError::new("this kind of question is not known here")),
        };
        Ok(answered.unwrap_or_else(|Gone| {
            say("");
            ElicitResult::new(ElicitAction::Cancel)
        }))
    }
}

/// Standard input, read by a thread of its own. It cannot be ended while it waits for a line, so nobody waits for it.
fn keyboard() -> Lines {
    // Unbounded is fine here: nobody types faster than memory grows.
    let (typed, lines) = mpsc::unbounded_channel();
    let read = move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if typed.send(line).is_err() {
                return;
            }
        }
    };
    // Without a thread there are no lines, which is what a closed channel says.
    _ = std::thread::Builder::new().name("keyboard".to_owned()).spawn(read);
    lines
}

async fn form(form: &FormParams, who: &str, lines: &mut Lines) -> Result<ElicitResult, Gone> {
    say(&format!("\n{who} asks:"));
    quote(&form.message);
    let schema = &form.requested_schema;
    let mut content = OrderedMap::new();
    for (name, field) in schema.properties.iter() {
        let is_required = schema.required.iter().any(|needed| needed == name);
        if let Some(value) = one(name, field, is_required, lines).await? {
            content.insert(name, value);
        }
    }
    // One answer of yes or no is the consent itself: it is not confirmed a second time.
    if schema.properties.len() == 1 && schema.properties.iter().all(|(_, field)| is_yes_or_no(field)) {
        return Ok(ElicitResult::accept(content));
    }
    for (name, value) in content.iter() {
        say(&format!("  {} = {}", one_line(name), one_line(&field::shown(value))));
    }
    Ok(match agreed(&format!("Send this to {who}? [Y/n]"), true, lines).await? {
        true => ElicitResult::accept(content),
        false => ElicitResult::new(ElicitAction::Decline),
    })
}

fn is_yes_or_no(field: &FormField) -> bool {
    matches!(field, FormField::Boolean(_))
}

/// One field, asked for until what is typed fits.
async fn one(
    name: &str,
    field: &FormField,
    is_required: bool,
    lines: &mut Lines,
) -> Result<Option<Raw>, Gone> {
    let (title, description) = field::labels(field);
    if let Some(about) = description.or(title) {
        quote(about);
    }
    for (place, option) in field::options(field).iter().enumerate() {
        let called = option.title.as_deref().filter(|title| *title != option.value);
        let called = called.map(|title| format!(" ({})", one_line(title))).unwrap_or_default();
        quote(&format!("  {}  {}{called}", place + 1, one_line(&option.value)));
    }
    if field::asks_for_secret(name, field) {
        say("  warning: this looks like a secret; a form is no place for one");
    }
    let offered = field::default(field);
    let bracket = offered.as_ref().map(|value| format!(" [{}]", one_line(&field::shown(value))));
    let need = if is_required { "" } else { ", optional" };
    let question = format!(
        "{} ({}{need}){}:",
        sanitize::name(name),
        one_line(&field::kind(field)),
        bracket.unwrap_or_default()
    );
    loop {
        let line = typed(&question, lines).await?;
        if line.trim().is_empty() {
            match &offered {
                Some(value) => return Ok(Some(value.clone())),
                None if !is_required => return Ok(None),
                None => {
                    say("  this one is needed");
                    continue;
                }
            }
        }
        match field::typed(field, &line) {
            Ok(value) => return Ok(Some(value)),
            Err(why) => say(&format!("  {}", one_line(&why))),
        }
    }
}

async fn agreed(question: &str, by_default: bool, lines: &mut Lines) -> Result<bool, Gone> {
    loop {
        match typed(question, lines).await?.trim().to_lowercase().as_str() {
            "" => return Ok(by_default),
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => say("  y or n"),
        }
    }
}

async fn typed(question: &str, lines: &mut Lines) -> Result<String, Gone> {
    put(&format!("{question} "));
    lines.recv().await.ok_or(Gone)
}

/// What the service wrote, behind a bar.
fn quote(text: &str) {
    for line in sanitize(text).lines() {
        say(&format!("┃ {line}"));
    }
}

fn say(line: &str) {
    put(&format!("{line}\n"));
}

fn put(text: &str) {
    let mut err = std::io::stderr().lock();
    // Nothing can be done about a closed stderr.
    _ = err.write_all(text.as_bytes());
    _ = err.flush();
}

impl ClientHandler for AtTerminal {
    fn abilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms().with_urls()
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(self.ask(request, asker))
    }
}

#[cfg(test)]
mod tests {
    use switchboard_protocol::{BooleanField, FormSchema, TextField};

    use super::*;

    async fn asked(fields: &[(&str, FormField)], typed: &[&str]) -> (ElicitAction, usize) {
        let mut schema = FormSchema::new();
        for (name, field) in fields {
            schema = schema.with_required(*name, field.clone());
        }
        let ElicitParams::Form(form) = ElicitParams::form("Really?", schema) else { unreachable!() };
        let (keyboard, mut lines) = mpsc::unbounded_channel();
        typed.iter().for_each(|line| keyboard.send((*line).to_owned()).unwrap());
        drop(keyboard);
        let Ok(result) = self::form(&form, "a service", &mut lines).await else {
            panic!("not enough was typed")
        };
        (result.action, lines.len())
    }

    #[tokio::test]
    async fn v11_a_yes_or_no_form_is_asked_once() {
        let yes_or_no = ("ok", FormField::Boolean(BooleanField::new()));
        assert_eq!(asked(std::slice::from_ref(&yes_or_no), &["yes"]).await, (ElicitAction::Accept, 0));
        assert_eq!(asked(std::slice::from_ref(&yes_or_no), &["no"]).await, (ElicitAction::Accept, 0));
        let text = ("why", FormField::Text(TextField::new()));
        assert_eq!(asked(&[yes_or_no, text], &["yes", "because", "n"]).await, (ElicitAction::Decline, 0));
    }
}
