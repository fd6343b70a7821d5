//! Asks the user the questions of a server at the terminal, one at a time.
//!
//! Server text is quoted behind a bar, so that it cannot imitate a question of this program. A URL is shown in full and
//! never opened.
//!
//! Not `inquire` or `dialoguer`: both read the terminal in raw mode with a blocking call, which cannot be dropped when the
//! server cancels its question or completes the page by itself ([`Prompter::visit`]), and neither reads redirected input.
//! `inquire` 0.9 adds 31 s of CPU time and 34 crates to a release build, `dialoguer` 0.12 adds 8.7 s and 5 crates. What
//! they would replace is [`Prompter::read_answer`] and the loops around it; the fields of a form are not among their
//! question types.

use std::io::IsTerminal;
use std::sync::Arc;

use switchboard_protocol::{
    ElicitAction, ElicitParams, ElicitResult, FormField, FormParams, OrderedMap, Raw, UrlParams,
};

use crate::sanitize::{self, one_line, sanitize};
use crate::screen::Screen;
use crate::stdin_lines::StdinLines;
use crate::wrap::wrap;
use crate::{field, url_host};

/// Asks the user the questions of a server at the terminal.
#[derive(Debug)]
pub struct Prompter {
    screen: Arc<Screen>,
    stdin: Arc<StdinLines>,
    confirmation: Confirmation,
    /// Held while a question is asked, because a server may ask several at once.
    prompt_lock: tokio::sync::Mutex<()>,
}

/// Policy for showing a filled-in form once more before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// Always.
    Always,
    /// Unless the only field of the form is a yes-or-no question: that answer is the consent itself.
    UnlessYesOrNo,
}

/// Standard input was closed: the user pressed Ctrl-D.
struct InputClosed;

impl Prompter {
    /// Creates a prompter that writes to `screen` and reads from `stdin`.
    pub fn new(screen: Arc<Screen>, stdin: Arc<StdinLines>, confirmation: Confirmation) -> Self {
        Self { screen, stdin, confirmation, prompt_lock: tokio::sync::Mutex::new(()) }
    }

    /// Asks one question on behalf of the server that the user knows as `server`.
    ///
    /// Returns `None` if this kind of question is not supported.
    pub async fn ask(&self, request: &ElicitParams, server: &str) -> Option<ElicitResult> {
        let _guard = self.prompt_lock.lock().await;
        let server = sanitize::name(server);
        let answered = match request {
            ElicitParams::Form(form) => self.ask_form(form, &server).await,
            ElicitParams::Url(url) => self.ask_url(url, &server).await,
            _ => return None,
        };
        Some(answered.unwrap_or_else(|InputClosed| {
            self.screen.say("");
            ElicitResult::new(ElicitAction::Cancel)
        }))
    }

    /// Prints server text behind a bar.
    fn quote(&self, text: &str) {
        let out = &self.screen.out;
        for line in wrap(&sanitize(text), out.prose_width().saturating_sub(4)) {
            self.screen.say(&format!("{} {line}", out.yellow("┃")));
        }
    }

    /// Prints a question of this program and returns the typed line.
    async fn read_answer(&self, question: &str) -> Result<String, InputClosed> {
        self.screen.write(&format!("{question} "));
        self.stdin.next_line().await.ok_or(InputClosed)
    }

    async fn ask_form(&self, form: &FormParams, server: &str) -> Result<ElicitResult, InputClosed> {
        let out = &self.screen.out;
        self.screen.say(&format!("\n{} asks:", out.bold(server)));
        self.quote(&form.message);
        if !form.requested_schema.properties.is_empty() {
            self.screen.say(&out.dim("Enter accepts the value in [brackets]; Ctrl-D cancels."));
        }
        let mut content: OrderedMap<Raw> = OrderedMap::new();
        loop {
            content = self.ask_fields(form, &content).await?;
            if self.confirmation == Confirmation::UnlessYesOrNo && is_yes_or_no(form) {
                return Ok(ElicitResult::accept(content));
            }
            self.screen.say("");
            for (name, value) in content.iter() {
                let line = format!("  {} = {}", one_line(name), one_line(&field::typed_form(value)));
                self.screen.say(&line);
            }
            loop {
                let answer =
                    self.read_answer(&format!("Send this to {}? [Y/n/edit]", out.bold(server))).await?;
                match answer.trim().to_lowercase().as_str() {
                    "" | "y" | "yes" => return Ok(ElicitResult::accept(content)),
                    "n" | "no" => return Ok(ElicitResult::new(ElicitAction::Decline)),
                    "e" | "edit" => break,
                    _ => self.screen.say("  y sends it, n declines, e lets you change it"),
                }
            }
        }
    }

    /// Asks for every field, with earlier answers as defaults.
    async fn ask_fields(
        &self,
        form: &FormParams,
        previous: &OrderedMap<Raw>,
    ) -> Result<OrderedMap<Raw>, InputClosed> {
        let schema = &form.requested_schema;
        let mut content = OrderedMap::new();
        for (name, field) in schema.properties.iter() {
            let is_required = schema.required.iter().any(|needed| needed == name);
            let offered = previous.get(name).cloned().or_else(|| field::default(field));
            if let Some(value) = self.ask_field(name, field, is_required, offered).await? {
                content.insert(name, value);
            }
        }
        Ok(content)
    }

    async fn ask_field(
        &self,
        name: &str,
        field: &FormField,
        is_required: bool,
        offered: Option<Raw>,
    ) -> Result<Option<Raw>, InputClosed> {
        let out = &self.screen.out;
        self.screen.say("");
        let (title, description) = field::labels(field);
        if let Some(about) = [title, description].into_iter().flatten().reduce(|_, description| description) {
            self.quote(about);
        }
        for (index, option) in field::options(field).iter().enumerate() {
            let title = option.title.as_deref().filter(|title| *title != option.value);
            let title = title.map(|title| format!(" ({})", one_line(title))).unwrap_or_default();
            self.quote(&format!("  {}  {}{title}", index + 1, one_line(&option.value)));
        }
        if field::asks_for_secret(name, field) {
            self.screen.warn("this looks like a secret; do not type it into a form");
        }
        let need = if is_required { "" } else { ", optional" };
        let kind = out.dim(&format!("({}{need})", one_line(&field::expected(field))));
        let bracket = offered.as_ref().map(|value| format!(" [{}]", one_line(&field::typed_form(value))));
        let question = format!("{} {kind}{}:", out.bold(&sanitize::name(name)), bracket.unwrap_or_default());
        loop {
            let line = self.read_answer(&question).await?;
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
                Err(why) => self.screen.say(&format!("  {}", out.red(&one_line(&why)))),
            }
        }
    }

    /// Asks the user to visit a page before a call can be made, then waits until Enter is pressed or `completed` is
    /// ready.
    ///
    /// Returns whether the user agreed.
    pub async fn visit(&self, page: &UrlParams, server: &str, completed: impl Future<Output = ()>) -> bool {
        let _guard = self.prompt_lock.lock().await;
        match self.ask_url(page, &sanitize::name(server)).await {
            Ok(answer) if answer.action == ElicitAction::Accept => {}
            _ => return false,
        }
        self.screen.write("Press Enter when you are done there. ");
        tokio::select! {
            line = self.stdin.next_line() => {
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

    async fn ask_url(&self, page: &UrlParams, server: &str) -> Result<ElicitResult, InputClosed> {
        let out = &self.screen.out;
        self.screen.say(&format!("\n{} asks you to visit a page:", out.bold(server)));
        self.quote(&page.message);
        self.screen.say("");
        // In full, on its own line: the user decides by it.
        self.screen.say(&format!("  {}", one_line(&page.url)));
        let host = url_host::host(&page.url);
        self.screen.say(&format!("  {}", out.dim(&format!("host: {}", one_line(host)))));
        if let Some(warning) = url_host::lookalike_warning(host) {
            self.screen.warn(&one_line(&warning));
        }
        self.screen
            .say(&out.dim("\nIt is not opened for you. Agree only if you know the host and trust it."));
        loop {
            let answer = self.read_answer("Will you visit it? [y/N]").await?;
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

/// Returns whether a user can be asked: standard input and standard error are terminals.
pub fn is_interactive(screen: &Screen) -> bool {
    std::io::stdin().is_terminal() && screen.out.is_terminal
}

/// Asks a yes-or-no question; returns `None` if no user can be asked.
pub async fn confirm(screen: &Screen, stdin: &StdinLines, question: &str) -> Option<bool> {
    if !is_interactive(screen) {
        return None;
    }
    loop {
        screen.write(&format!("{question} [y/N] "));
        let Some(line) = stdin.next_line().await else {
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

    async fn answer(fields: &[(&str, FormField)], typed: &[&str]) -> (ElicitAction, bool) {
        let mut schema = FormSchema::new();
        for (name, field) in fields {
            schema = schema.with_required(*name, field.clone());
        }
        let stdin = Arc::new(StdinLines::from_lines(typed));
        let prompter = Prompter::new(Arc::default(), Arc::clone(&stdin), Confirmation::UnlessYesOrNo);
        let result = prompter.ask(&ElicitParams::form("Really?", schema), "a service").await.unwrap();
        (result.action, stdin.next_line().await.is_none())
    }

    #[tokio::test]
    async fn v11_a_yes_or_no_form_is_asked_once() {
        let yes_or_no = ("ok", FormField::Boolean(BooleanField::new()));
        assert_eq!(answer(std::slice::from_ref(&yes_or_no), &["yes"]).await, (ElicitAction::Accept, true));
        assert_eq!(answer(std::slice::from_ref(&yes_or_no), &["no"]).await, (ElicitAction::Accept, true));
        let text = ("why", FormField::Text(TextField::new()));
        assert_eq!(answer(&[yes_or_no, text], &["yes", "because", "n"]).await, (ElicitAction::Decline, true));
    }
}
