//! Completion: choices complete themselves, the rest is the service's to complete.

use std::sync::Arc;

use serde_json::{Map, Value};
use switchboard_design::{CompletionTarget, Design, Error, ItemKind, ParamDef, ParamKind, RequestKind};
use switchboard_protocol::{CompleteParams, CompleteResult, Completion, Raw, Reference};
use switchboard_session::server::{self, HandlerOutcome, Reply};

use super::Core;
use super::logging::{About, Logged};
use super::running::Running;
use crate::{Call, Cx};

/// Whether there is anything to complete in a design.
pub(crate) fn is_offered(design: &Design) -> bool {
    let resources = design.resources.iter().flat_map(|resource| &resource.params);
    let mut params = design.prompts.iter().flat_map(|prompt| &prompt.arguments).chain(resources);
    !design.completions.is_empty() || params.any(|param| !choices(param).is_empty())
}

fn choices(param: &ParamDef) -> Vec<&str> {
    match &param.kind {
        ParamKind::Choice { values } => values.iter().map(String::as_str).collect(),
        ParamKind::Boolean => vec!["true", "false"],
        _ => Vec::new(),
    }
}

impl Core {
    pub(crate) fn complete(
        self: &Arc<Self>,
        params: CompleteParams,
        cx: server::RequestContext,
    ) -> HandlerOutcome {
        let log = Logged::begin(&self.options, About::just("completion/complete").of(&cx), None);
        let answered = |reply: Reply, log: Option<Logged>| {
            if let Some(log) = log {
                log.end(&reply);
            }
            HandlerOutcome::Now(reply)
        };
        let (of, known) = match self.completes(&params.reference, &cx) {
            Ok(found) => found,
            Err(error) => return answered(self.refuse(&error, RequestKind::Other, &cx), log),
        };
        let CompleteParams { argument, context, meta, .. } = params;
        let own = |def: &switchboard_design::CompletionDef| def.target == of && def.argument == argument.name;
        let Some(completion) = self.design.completions.iter().position(own) else {
            let param = known.iter().find(|param| param.name == argument.name);
            let values = param.map(choices).unwrap_or_default();
            let fitting = values.into_iter().filter(|value| starts_with(value, &argument.value));
            return answered(Ok(some_of(fitting.map(str::to_owned).collect()).into()), log);
        };
        let filled = context.and_then(|context| context.arguments).unwrap_or_default();
        let mut args: Map<String, Value> =
            filled.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
        args.insert("value".to_owned(), Value::String(argument.value));
        let again = cx.clone();
        let cx = Cx::serving(cx).with_meta(meta).within(self.options.timeout);
        let work = self.service.complete(completion, Call::new(cx, Raw::from(Value::Object(args))));
        let (core, span) = (Arc::clone(self), tracing::debug_span!("completion/complete"));
        Running::new(work, log, span, move |outcome| match outcome {
            Ok(values) => Ok(some_of(values).into()),
            Err(error) => core.fail(error, RequestKind::Other, &again),
        })
        .within(self.options.timeout)
        .handled()
    }

    /// Whose argument is completed, and what arguments there are.
    fn completes(
        &self,
        of: &Reference,
        cx: &server::RequestContext,
    ) -> Result<(CompletionTarget, &[ParamDef]), Error> {
        match of {
            Reference::Prompt { name, .. } => {
                let prompt = self.find_prompt(name, cx)?;
                Ok((CompletionTarget::Prompt(name.clone()), &self.design.prompts[prompt].arguments))
            }
            Reference::Resource { uri } => {
                let unknown = || Error::unknown(ItemKind::Resource, uri.clone());
                let of_template = |place: &usize| {
                    let pattern = self.resources.route(*place).pattern();
                    self.resources.policy().shows(pattern)
                        && (self.design.resources[*place].uri == *uri || pattern.to_string() == *uri)
                };
                let template = (0..self.design.resources.len()).find(of_template);
                let found = match template {
                    Some(place) => place,
                    None => self.find_resource(uri, cx)?.0,
                };
                let def = self.design.resources.get(found).ok_or_else(unknown)?;
                self.admit(cx.caller(), &def.scopes, ItemKind::Resource, uri)?;
                Ok((CompletionTarget::Resource(def.name.clone()), &def.params))
            }
            _ => Err(Error::invalid_params("only arguments of prompts and resources can be completed")),
        }
    }
}

/// Whoever types need not mind capitals.
fn starts_with(value: &str, typed: &str) -> bool {
    let mut letters = value.chars().flat_map(char::to_lowercase);
    typed.chars().flat_map(char::to_lowercase).all(|letter| letters.next() == Some(letter))
}

/// As many values as one answer has room for, and how many there are.
fn some_of(values: Vec<String>) -> CompleteResult {
    let total = u64::try_from(values.len()).ok();
    let mut completion = Completion::new(values);
    completion.has_more = Some(completion.has_more == Some(true));
    completion.total = total;
    CompleteResult::new(completion)
}
