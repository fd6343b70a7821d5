//! Prompts: static ones are written once, dynamic ones are methods whose arguments travel as text.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use switchboard_design::{
    Design, Error, InvalidParams, Issue, ItemKind, PromptBody, PromptDef, RequestKind, coerce,
};
use switchboard_protocol::{Content, GetPromptParams, GetPromptResult, OrderedMap, PromptMessage, Raw};
use switchboard_session::server::{self, CachedResult, HandlerOutcome};

use super::Core;
use super::arguments::with_repair;
use super::logging::{About, Logged};
use super::running::Running;
use crate::{Call, Cx, UnknownArguments};

/// The prompts of a design, ready to be filled in.
pub(crate) struct Prompts {
    by_name: HashMap<String, usize, foldhash::fast::RandomState>,
    /// By their place in the design: what a static one says.
    fixed: Vec<Option<CachedResult>>,
}

impl Prompts {
    pub(crate) fn new(design: &Design) -> Self {
        let by_name = design.prompts.iter().enumerate();
        let by_name = by_name.map(|(place, prompt)| (prompt.name.clone(), place)).collect();
        Self { by_name, fixed: design.prompts.iter().map(fixed).collect() }
    }
}

fn fixed(prompt: &PromptDef) -> Option<CachedResult> {
    let PromptBody::Static { messages } = &prompt.body else { return None };
    let messages = messages.iter();
    let messages: Vec<PromptMessage> =
        messages.map(|said| PromptMessage::new(said.role, Content::text(said.text.clone()))).collect();
    Some(CachedResult::new(GetPromptResult::new(messages).with_description(prompt.description.clone())))
}

impl Core {
    pub(crate) fn get_prompt(
        self: &Arc<Self>,
        params: GetPromptParams,
        cx: server::RequestContext,
    ) -> HandlerOutcome {
        let GetPromptParams { name, arguments, meta, .. } = params;
        let given = arguments.unwrap_or_default();
        let payload = || Raw::encode(&given).ok();
        let payload = self.options.log_payloads.then(payload).flatten();
        let log = Logged::begin(&self.options, About::named("prompts/get", &name).of(&cx), payload.as_ref());
        let found = self
            .find_prompt(&name, &cx)
            .and_then(|prompt| Ok((prompt, self.prompt_arguments(prompt, &given)?)));
        let (prompt, args) = match found {
            Ok(found) => found,
            Err(error) => {
                let reply = match error {
                    Error::InvalidParams(_) => self.fail(error, RequestKind::Prompt, &cx),
                    other => self.refuse(&other, RequestKind::Prompt, &cx),
                };
                if let Some(log) = log {
                    log.end(&reply);
                }
                return HandlerOutcome::Now(reply);
            }
        };
        if let Some(kept) = &self.prompts.fixed[prompt] {
            if let Some(log) = log {
                log.end(&Ok(kept.result().clone()));
            }
            return HandlerOutcome::cached(kept);
        }
        let span = tracing::debug_span!("prompts/get", prompt = name);
        let (own, again) = (cx.clone(), args.clone());
        let cx = Cx::serving(cx).with_meta(meta).within(self.options.timeout);
        let work = self.service.get_prompt(prompt, Call::new(cx, args));
        let core = Arc::clone(self);
        Running::new(work, log, span, move |outcome| match outcome {
            Ok(filled) => {
                let mut result = GetPromptResult::from(filled);
                let described = || core.design.prompts[prompt].description.clone();
                result.description = result.description.or_else(|| Some(described()));
                Ok(result.into())
            }
            Err(error) => core.fail(core.explain_prompt(prompt, error, &again), RequestKind::Prompt, &own),
        })
        .within(self.options.timeout)
        .handled()
    }

    /// The place of a prompt that the caller may use.
    pub(crate) fn find_prompt(&self, name: &str, cx: &server::RequestContext) -> Result<usize, Error> {
        let unknown = || Error::unknown(ItemKind::Prompt, name.to_owned());
        let prompt = *self.prompts.by_name.get(name).ok_or_else(unknown)?;
        self.admit(cx.caller(), &self.design.prompts[prompt].scopes, ItemKind::Prompt, name)?;
        Ok(prompt)
    }

    /// The texts that were given, as the method reads them.
    fn prompt_arguments(&self, prompt: usize, given: &OrderedMap<String>) -> Result<Raw, Error> {
        let def = &self.design.prompts[prompt];
        let (mut values, mut issues) = (Map::new(), Vec::new());
        for argument in &def.arguments {
            let text = given.get(&argument.name).map(String::as_str);
            match coerce(argument, text.as_slice()) {
                Ok(value) => values.extend(value.map(|value| (argument.name.clone(), value))),
                Err(issue) => issues.push(issue),
            }
        }
        if self.options.unknown == UnknownArguments::Refuse {
            let known = |name: &str| def.arguments.iter().any(|argument| argument.name == name);
            let names: Vec<&str> = def.arguments.iter().map(|argument| argument.name.as_str()).collect();
            let known_names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            issues.extend(given.keys().filter(|name| !known(name)).map(|name| {
                Issue::for_member(name, format!("is not a known argument; known: {known_names}"))
            }));
        }
        let given = || Raw::encode(given).unwrap_or_else(|_| Raw::empty_object());
        if issues.is_empty() {
            Ok(Raw::from(Value::Object(values)))
        } else {
            Err(self.explain_prompt(prompt, InvalidParams::from_issues(issues).into(), &given()))
        }
    }

    fn explain_prompt(&self, prompt: usize, error: Error, args: &Raw) -> Error {
        match error {
            Error::InvalidParams(invalid) => {
                let name = &self.design.prompts[prompt].name;
                let repair = self.design.repair_prompt(name, invalid.message.clone());
                with_repair(invalid, args, repair).into()
            }
            other => other,
        }
    }
}
