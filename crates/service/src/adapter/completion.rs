//! `completion/complete`: completes choices from the design, other arguments through the service.

use std::sync::Arc;

use serde_json::{Map, Value};
use switchboard_design::{CompletionTarget, Design, Error, ItemKind, ParamDef, ParamKind, RequestKind};
use switchboard_protocol::{CompleteParams, CompleteResult, Completion, Raw, Reference};
use switchboard_session::server::{self, HandlerOutcome};

use super::Core;
use super::method_future::MethodFuture;
use crate::{Call, Cx};

/// Returns whether the design has anything to complete.
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
        let (of, params_of_item) = match self.completion_target(&params.reference, &cx) {
            Ok(found) => found,
            Err(error) => {
                return HandlerOutcome::Now(self.adapter_error_reply(&error, RequestKind::Other, &cx));
            }
        };
        let CompleteParams { argument, context, meta, .. } = params;
        let is_declared =
            |def: &switchboard_design::CompletionDef| def.target == of && def.argument == argument.name;
        let Some(completion) = self.design.completions.iter().position(is_declared) else {
            let param = params_of_item.iter().find(|param| param.name == argument.name);
            let values = param.map(choices).unwrap_or_default();
            let matching = values.into_iter().filter(|value| starts_with(value, &argument.value));
            return HandlerOutcome::now(completion_result(matching.map(str::to_owned).collect()));
        };
        let known_arguments = context.and_then(|context| context.arguments).unwrap_or_default();
        let mut args: Map<String, Value> =
            known_arguments.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
        args.insert("value".to_owned(), Value::String(argument.value));
        let reply_cx = cx.clone();
        let cx = Cx::from_request(cx).with_meta(meta).with_timeout(self.options.timeout);
        let work = self.service.complete(completion, Call::new(cx, Raw::from(Value::Object(args))));
        let (core, span) = (Arc::clone(self), tracing::debug_span!("completion/complete"));
        MethodFuture::new(work, span, move |outcome| match outcome {
            Ok(values) => Ok(completion_result(values).into()),
            Err(error) => core.service_error_reply(error, RequestKind::Other, &reply_cx),
        })
        .into_outcome()
    }

    /// Returns the completed item and its parameters.
    fn completion_target(
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
                let of_template = |index: &usize| {
                    let pattern = self.resources.route(*index).pattern();
                    self.resources.policy().shows(pattern)
                        && (self.design.resources[*index].uri == *uri || pattern.to_string() == *uri)
                };
                let template = (0..self.design.resources.len()).find(of_template);
                let found = match template {
                    Some(index) => index,
                    None => self.find_resource(uri, cx)?.0,
                };
                let def = self.design.resources.get(found).ok_or_else(unknown)?;
                self.check_scopes(cx.caller(), &def.scopes, ItemKind::Resource, uri)?;
                Ok((CompletionTarget::Resource(def.name.clone()), &def.params))
            }
            _ => Err(Error::invalid_params("only arguments of prompts and resources can be completed")),
        }
    }
}

/// Case-insensitive prefix match.
fn starts_with(value: &str, typed: &str) -> bool {
    let mut letters = value.chars().flat_map(char::to_lowercase);
    typed.chars().flat_map(char::to_lowercase).all(|letter| letters.next() == Some(letter))
}

/// Builds a result with as many values as the protocol allows, and their total number.
fn completion_result(values: Vec<String>) -> CompleteResult {
    let total = u64::try_from(values.len()).ok();
    let mut completion = Completion::new(values);
    completion.has_more = Some(completion.has_more == Some(true));
    completion.total = total;
    CompleteResult::new(completion)
}
