//! `prompts/get`: static prompts are encoded once; dynamic prompts are methods with text arguments.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use switchboard_design::{
    Design, Error, InvalidParams, Issue, ItemKind, PromptBody, PromptDef, RequestKind, coerce,
};
use switchboard_protocol::{Content, GetPromptParams, GetPromptResult, OrderedMap, PromptMessage, Raw};
use switchboard_session::server::{self, CachedResult, HandlerOutcome};

use super::Core;
use super::argument_validator::with_repair;
use super::method_future::MethodFuture;
use crate::{Call, Cx, UnknownArguments};

/// Lookup tables for the prompts of a design.
pub(crate) struct PromptTable {
    by_name: HashMap<String, usize, foldhash::fast::RandomState>,
    /// Encoded results of static prompts, by index in the design.
    static_results: Vec<Option<CachedResult>>,
}

impl PromptTable {
    pub(crate) fn new(design: &Design) -> Self {
        let by_name = design.prompts.iter().enumerate();
        let by_name = by_name.map(|(index, prompt)| (prompt.name.clone(), index)).collect();
        Self { by_name, static_results: design.prompts.iter().map(static_result).collect() }
    }
}

fn static_result(prompt: &PromptDef) -> Option<CachedResult> {
    let PromptBody::Static { messages } = &prompt.body else { return None };
    let messages = messages.iter();
    let messages: Vec<PromptMessage> = messages
        .map(|message| PromptMessage::new(message.role, Content::text(message.text.clone())))
        .collect();
    Some(CachedResult::new(GetPromptResult::new(messages).with_description(prompt.description.clone())))
}

impl Core {
    pub(crate) fn get_prompt(
        self: &Arc<Self>,
        params: GetPromptParams,
        cx: server::RequestContext,
    ) -> HandlerOutcome {
        let GetPromptParams { name, arguments, meta, .. } = params;
        let texts = arguments.unwrap_or_default();
        let found = self
            .find_prompt(&name, &cx)
            .and_then(|prompt| Ok((prompt, self.prompt_arguments(prompt, &texts)?)));
        let (prompt, args) = match found {
            Ok(found) => found,
            Err(error) => {
                let reply = match error {
                    Error::InvalidParams(_) => self.service_error_reply(error, RequestKind::Prompt, &cx),
                    other => self.adapter_error_reply(&other, RequestKind::Prompt, &cx),
                };
                return HandlerOutcome::Now(reply);
            }
        };
        if let Some(cached) = &self.prompts.static_results[prompt] {
            return HandlerOutcome::cached(cached);
        }
        let span = tracing::debug_span!("prompts/get", prompt = name);
        let (reply_cx, prior_args) = (cx.clone(), args.clone());
        let cx = Cx::from_request(cx).with_meta(meta).with_timeout(self.options.timeout);
        let work = self.service.get_prompt(prompt, Call::new(cx, args));
        let core = Arc::clone(self);
        MethodFuture::new(work, span, move |outcome| match outcome {
            Ok(messages) => {
                let mut result = GetPromptResult::from(messages);
                let described = || core.design.prompts[prompt].description.clone();
                result.description = result.description.or_else(|| Some(described()));
                Ok(result.into())
            }
            Err(error) => core.service_error_reply(
                core.explain_prompt(prompt, error, &prior_args),
                RequestKind::Prompt,
                &reply_cx,
            ),
        })
        .into_outcome()
    }

    /// Returns the index of a prompt that the caller may use.
    pub(crate) fn find_prompt(&self, name: &str, cx: &server::RequestContext) -> Result<usize, Error> {
        let unknown = || Error::unknown(ItemKind::Prompt, name.to_owned());
        let prompt = *self.prompts.by_name.get(name).ok_or_else(unknown)?;
        self.check_scopes(cx.caller(), &self.design.prompts[prompt].scopes, ItemKind::Prompt, name)?;
        Ok(prompt)
    }

    /// Converts the text arguments to the types of the method's parameters.
    fn prompt_arguments(&self, prompt: usize, texts: &OrderedMap<String>) -> Result<Raw, Error> {
        let def = &self.design.prompts[prompt];
        let (mut values, mut issues) = (Map::new(), Vec::new());
        for argument in &def.arguments {
            let text = texts.get(&argument.name).map(String::as_str);
            match coerce(argument, text.as_slice()) {
                Ok(value) => values.extend(value.map(|value| (argument.name.clone(), value))),
                Err(issue) => issues.push(issue),
            }
        }
        if self.options.unknown == UnknownArguments::Refuse {
            let is_known = |name: &str| def.arguments.iter().any(|argument| argument.name == name);
            let names: Vec<&str> = def.arguments.iter().map(|argument| argument.name.as_str()).collect();
            let known_names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            issues.extend(texts.keys().filter(|name| !is_known(name)).map(|name| {
                Issue::for_member(name, format!("is not a known argument; known: {known_names}"))
            }));
        }
        let encoded = || Raw::encode(texts).unwrap_or_else(|_| Raw::empty_object());
        if issues.is_empty() {
            Ok(Raw::from(Value::Object(values)))
        } else {
            Err(self.explain_prompt(prompt, InvalidParams::from_issues(issues).into(), &encoded()))
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
