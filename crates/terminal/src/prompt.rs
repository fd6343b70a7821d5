//! Questions of a server asked at the terminal, one at a time.
//!
//! Text of the server is quoted behind a bar, so that it cannot pass for a question of ours. A URL is shown in full and
//! never opened.

use std::io::IsTerminal;
use std::sync::Arc;

use switchboard_protocol::{
    ElicitAction, ElicitParams, ElicitResult, FormField, FormParams, OrderedMap, Raw, UrlParams,
};

use crate::keyboard::Keyboard;
use crate::sanitize::{self, one_line, sanitize};
use crate::screen::Screen;
use crate::wrap::wrap;
use crate::{field, web_host};

/// Asks the user at the terminal what a server wants to know.
#[derive(Debug)]
pub struct Prompter {
    screen: Arc<Screen>,
    keyboard: Arc<Keyboard>,
    confirmation: Confirmation,
    /// Held while a question is being asked: a server may ask several at once.
    turn: tokio::sync::Mutex<()>,
}

/// When a filled-in form is shown once more before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// Always.
    Always,
    /// Unless its only field is a yes-or-no question: that answer is the consent itself.
    UnlessYesOrNo,
}

/// Standard input was closed: the user pressed Ctrl-D.
struct InputClosed;

impl Prompter {
    /// A prompter that writes to this screen and reads from this keyboard.
    pub fn new(screen: Arc<Screen>, keyboard: Arc<Keyboard>, confirmation: Confirmation) -> Self {
        Self { screen, keyboard, confirmation, turn: tokio::sync::Mutex::new(()) }
    }

    /// Asks one question on behalf of the server that the user knows as `who`.
    ///
    /// Returns `None` for a kind of question that is not supported.
    pub async fn ask(&self, request: &ElicitParams, who: &str) -> Option<ElicitResult> {
        let _turn = self.turn.lock().await;
        let who = sanitize::name(who);
        let answered = match request {
            ElicitParams::Form(form) => self.form(form, &who).await,
            ElicitParams::Url(url) => self.url(url, &who).await,
            _ => return None,
        };
        Some(answered.unwrap_or_else(|InputClosed| {
            self.screen.say("");
            ElicitResult::new(ElicitAction::Cancel)
        }))
    }

    /// Shows text of the server behind a bar.
    fn quote(&self, text: &str) {
        let paper = &self.screen.paper;
        for line in wrap(&sanitize(text), paper.prose().saturating_sub(4)) {
            self.screen.say(&format!("{} {line}", paper.yellow("┃")));
        }
    }

    /// Asks a question of ours and returns the line that is typed.
    async fn prompt(&self, question: &str) -> Result<String, InputClosed> {
        self.screen.write(&format!("{question} "));
        self.keyboard.line().await.ok_or(InputClosed)
    }

    async fn form(&self, form: &FormParams, who: &str) -> Result<ElicitResult, InputClosed> {
        let paper = &self.screen.paper;
        self.screen.say(&format!("\n{} asks:", paper.bold(who)));
        self.quote(&form.message);
        if !form.requested_schema.properties.is_empty() {
            self.screen.say(&paper.dim("Enter accepts the value in [brackets]; Ctrl-D cancels."));
        }
        let mut content: OrderedMap<Raw> = OrderedMap::new();
        loop {
            content = self.fill(form, &content).await?;
            if self.confirmation == Confirmation::UnlessYesOrNo && is_yes_or_no(form) {
                return Ok(ElicitResult::accept(content));
            }
            self.screen.say("");
            for (name, value) in content.iter() {
                let line = format!("  {} = {}", one_line(name), one_line(&field::typed_form(value)));
                self.screen.say(&line);
            }
            loop {
                let answer = self.prompt(&format!("Send this to {}? [Y/n/edit]", paper.bold(who))).await?;
                match answer.trim().to_lowercase().as_str() {
                    "" | "y" | "yes" => return Ok(ElicitResult::accept(content)),
                    "n" | "no" => return Ok(ElicitResult::new(ElicitAction::Decline)),
                    "e" | "edit" => break,
                    _ => self.screen.say("  y sends it, n declines, e lets you change it"),
                }
            }
        }
    }

    /// Asks for every field, offering earlier answers as defaults.
    async fn fill(
        &self,
        form: &FormParams,
        before: &OrderedMap<Raw>,
    ) -> Result<OrderedMap<Raw>, InputClosed> {
        let schema = &form.requested_schema;
        let mut content = OrderedMap::new();
        for (name, field) in schema.properties.iter() {
            let is_required = schema.required.iter().any(|needed| needed == name);
            let offered = before.get(name).cloned().or_else(|| field::default(field));
            if let Some(value) = self.field(name, field, is_required, offered).await? {
                content.insert(name, value);
            }
        }
        Ok(content)
    }

    async fn field(
        &self,
        name: &str,
        field: &FormField,
        is_required: bool,
        offered: Option<Raw>,
    ) -> Result<Option<Raw>, InputClosed> {
        let paper = &self.screen.paper;
        self.screen.say("");
        let (title, description) = field::labels(field);
        if let Some(about) = [title, description].into_iter().flatten().reduce(|_, description| description) {
            self.quote(about);
        }
        for (place, option) in field::options(field).iter().enumerate() {
            let called = option.title.as_deref().filter(|title| *title != option.value);
            let called = called.map(|title| format!(" ({})", one_line(title))).unwrap_or_default();
            self.quote(&format!("  {}  {}{called}", place + 1, one_line(&option.value)));
        }
        if field::asks_for_secret(name, field) {
            self.screen.warn("this looks like a secret; a form is no place for one");
        }
        let need = if is_required { "" } else { ", optional" };
        let kind = paper.dim(&format!("({}{need})", one_line(&field::expected(field))));
        let bracket = offered.as_ref().map(|value| format!(" [{}]", one_line(&field::typed_form(value))));
        let question =
            format!("{} {kind}{}:", paper.bold(&sanitize::name(name)), bracket.unwrap_or_default());
        loop {
            let line = self.prompt(&question).await?;
            if line.trim().is_empty() {
                match &offered {
                    Some(value) => return Ok(Some(value.clone())),
                    None if !is_required => return Ok(None),
                    None => {}
                }
            }
            match field::parse_typed(field, &line) {
                Ok(_) if line.trim().is_empty() => self.screen.say("  a value is required"),
                Ok(value) => return Ok(Some(value)),
                Err(why) => self.screen.say(&format!("  {}", paper.red(&one_line(&why)))),
            }
        }
    }

    /// Asks the user to visit a page before a call can be made, and waits until that is done: until Enter is pressed,
    /// or until `completed` is.
    ///
    /// Returns whether the user agreed.
    pub async fn visit(&self, page: &UrlParams, who: &str, completed: impl Future<Output = ()>) -> bool {
        let _turn = self.turn.lock().await;
        match self.url(page, &sanitize::name(who)).await {
            Ok(answer) if answer.action == ElicitAction::Accept => {}
            _ => return false,
        }
        self.screen.write("Press Enter when you are done there. ");
        tokio::select! {
            line = self.keyboard.line() => {
                if line.is_none() {
                    self.screen.say("");
                }
                line.is_some()
            }
            () = completed => {
                self.screen.say("done");
                true
            }
        }
    }

    async fn url(&self, asked: &UrlParams, who: &str) -> Result<ElicitResult, InputClosed> {
        let paper = &self.screen.paper;
        self.screen.say(&format!("\n{} asks you to visit a page:", paper.bold(who)));
        self.quote(&asked.message);
        self.screen.say("");
        // In full, on a line of its own: it is what the user decides by.
        self.screen.say(&format!("  {}", one_line(&asked.url)));
        let host = web_host::host(&asked.url);
        self.screen.say(&format!("  {}", paper.dim(&format!("host: {}", one_line(host)))));
        if let Some(caution) = web_host::caution(host) {
            self.screen.warn(&one_line(&caution));
        }
        self.screen
            .say(&paper.dim("\nIt is not opened for you. Agree only if you know the host and trust it."));
        loop {
            let answer = self.prompt("Will you visit it? [y/N]").await?;
            let action = match answer.trim().to_lowercase().as_str() {
                "y" | "yes" => ElicitAction::Accept,
                "" | "n" | "no" => ElicitAction::Decline,
                _ => continue,
            };
            return Ok(ElicitResult::new(action));
        }
    }
}

fn is_yes_or_no(form: &FormParams) -> bool {
    let fields = &form.requested_schema.properties;
    fields.len() == 1 && fields.iter().all(|(_, field)| matches!(field, FormField::Boolean(_)))
}

/// Returns whether a person can be asked: standard input and the screen are a terminal.
pub fn is_interactive(screen: &Screen) -> bool {
    std::io::stdin().is_terminal() && screen.paper.is_terminal
}

/// Asks a yes-or-no question; `None` without a person to ask.
pub async fn confirm(screen: &Screen, keyboard: &Keyboard, question: &str) -> Option<bool> {
    if !is_interactive(screen) {
        return None;
    }
    loop {
        screen.write(&format!("{question} [y/N] "));
        let Some(line) = keyboard.line().await else {
            screen.say("");
            return Some(false);
        };
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Some(true),
            "" | "n" | "no" => return Some(false),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use switchboard_protocol::{BooleanField, FormSchema, TextField};

    use super::*;

    async fn asked(fields: &[(&str, FormField)], typed: &[&str]) -> (ElicitAction, bool) {
        let mut schema = FormSchema::new();
        for (name, field) in fields {
            schema = schema.with_required(*name, field.clone());
        }
        let keyboard = Arc::new(Keyboard::typed(typed));
        let prompter = Prompter::new(Arc::default(), Arc::clone(&keyboard), Confirmation::UnlessYesOrNo);
        let result = prompter.ask(&ElicitParams::form("Really?", schema), "a service").await.unwrap();
        (result.action, keyboard.line().await.is_none())
    }

    #[tokio::test]
    async fn v11_a_yes_or_no_form_is_asked_once() {
        let yes_or_no = ("ok", FormField::Boolean(BooleanField::new()));
        assert_eq!(asked(std::slice::from_ref(&yes_or_no), &["yes"]).await, (ElicitAction::Accept, true));
        assert_eq!(asked(std::slice::from_ref(&yes_or_no), &["no"]).await, (ElicitAction::Accept, true));
        let text = ("why", FormField::Text(TextField::new()));
        assert_eq!(asked(&[yes_or_no, text], &["yes", "because", "n"]).await, (ElicitAction::Decline, true));
    }
}
