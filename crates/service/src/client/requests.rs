//! Reads resources, gets prompts and completes arguments.
//!
//! Arguments of a resource are encoded in its URI, those of a prompt as text; the server converts both to the types
//! of the parameters.

use std::time::Duration;

use switchboard_design::{CompletionTarget, EncodeError, Error, InvalidParams, Issue, Repair, ServiceError};
use switchboard_protocol::{
    CompleteParams, FromRaw, GetPromptParams, GetPromptResult, Meta, OrderedMap, Raw, ReadResourceParams,
    ReadResourceResult, Reference,
};
use switchboard_session::CallError;

use super::caller::unknown_index;
use super::decode::ResourceOutput;
use super::error::{CallTarget, to_error};
use super::{CallArguments, ServiceCaller};
use crate::{Cx, FromOutput, PromptMessages};

impl ServiceCaller {
    /// Reads a resource.
    ///
    /// # Errors
    /// An error of the service, the protocol or the connection.
    ///
    /// # Cancellation
    /// Dropping the future cancels the call.
    pub async fn resource<T: FromOutput, E: ServiceError>(
        &self,
        resource: usize,
        args: CallArguments,
        cx: Option<&Cx>,
    ) -> Result<T, E> {
        let finish = |answer: Result<ResourceOutput<'_>, Error>| {
            answer.and_then(ResourceOutput::into_value).map_err(E::from_error)
        };
        self.resource_with(resource, args, cx, finish).await
    }

    /// Reads a resource and converts the result with `finish`. For generated code, as [`Self::tool_with`].
    #[doc(hidden)]
    pub async fn resource_with<T, E>(
        &self,
        resource: usize,
        args: CallArguments,
        cx: Option<&Cx>,
        finish: impl FnOnce(Result<ResourceOutput<'_>, Error>) -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(def) = self.design.resources.get(resource) else {
            return finish(Err(unknown_index("resource")));
        };
        let result = match self.uri(resource, args) {
            Ok(uri) => self.read(&uri, cx).await,
            Err(error) => Err(error),
        };
        finish(result.map(|result| ResourceOutput::new(result, &def.output)))
    }

    /// Encodes arguments into the URI of a resource.
    ///
    /// # Errors
    /// When the arguments cannot be encoded.
    pub(crate) fn uri(&self, resource: usize, args: CallArguments) -> Result<String, Error> {
        let route = self.routes.get(resource).ok_or_else(|| unknown_index("resource"))?;
        let route = route.as_ref().map_err(|error| Error::internal(error.clone()))?;
        route.encode(&args.into_map()?).map_err(|error| match error {
            EncodeError::InvalidValue(issue) => Error::InvalidParams(InvalidParams::from_issues(vec![issue])),
            EncodeError::Missing(name) => {
                let issue = Issue::for_member(&name, "is required by the URI");
                Error::InvalidParams(InvalidParams::from_issues(vec![issue]))
            }
            other => Error::invalid_params(other.to_string()),
        })
    }

    /// Reads the resource at a URI.
    pub(crate) async fn read(&self, uri: &str, cx: Option<&Cx>) -> Result<ReadResourceResult, Error> {
        const METHOD: &str = "resources/read";
        let (within, meta) = call_options(cx);
        let reading = async {
            match meta {
                None => self.session.read_resource(uri).await,
                Some(meta) => self.request(METHOD, &ReadResourceParams::new(uri), meta).await,
            }
        };
        let read = with_timeout(within, reading).await?;
        read.map_err(|error| to_error(error, CallTarget::Other(METHOD), |_| None))
    }

    /// Gets a prompt.
    ///
    /// # Errors
    /// An error of the service, the protocol or the connection.
    ///
    /// # Cancellation
    /// Dropping the future cancels the call.
    pub async fn prompt<E: ServiceError>(
        &self,
        prompt: usize,
        args: CallArguments,
        cx: Option<&Cx>,
    ) -> Result<PromptMessages, E> {
        self.prompt_with(prompt, args, cx, E::from_error).await
    }

    /// Gets a prompt and converts an error with `from_error`. For generated code, as [`Self::tool_with`].
    #[doc(hidden)]
    pub async fn prompt_with<E>(
        &self,
        prompt: usize,
        args: CallArguments,
        cx: Option<&Cx>,
        from_error: impl FnOnce(Error) -> E,
    ) -> Result<PromptMessages, E> {
        let Some(def) = self.design.prompts.get(prompt) else {
            return Err(from_error(unknown_index("prompt")));
        };
        let got = match args.into_raw() {
            Ok(args) => self.get_prompt(&def.name, &args, cx).await,
            Err(error) => Err(error),
        };
        // Servers send the design's description if the method sets none.
        let without_default = |mut prompt: PromptMessages| {
            prompt.description = prompt.description.filter(|text| *text != def.description);
            prompt
        };
        got.map(without_default).map_err(from_error)
    }

    /// Gets a prompt with a JSON object as arguments.
    pub(super) async fn get_prompt(
        &self,
        name: &str,
        args: &Raw,
        cx: Option<&Cx>,
    ) -> Result<PromptMessages, Error> {
        let target = CallTarget::Prompt(name);
        let repair = |message: &str| target.repair(&self.design, message, Some(args));
        self.request_prompt(name, args, cx, repair).await
    }

    async fn request_prompt(
        &self,
        name: &str,
        args: &Raw,
        cx: Option<&Cx>,
        repair: impl FnOnce(&str) -> Option<Repair>,
    ) -> Result<PromptMessages, Error> {
        let texts = to_texts(args)?;
        let (within, meta) = call_options(cx);
        let getting = async {
            match meta {
                None => self.session.get_prompt(name, texts).await,
                Some(meta) => {
                    let mut params = GetPromptParams::new(name);
                    let texts: OrderedMap<String> = texts.into_iter().collect();
                    params.arguments = (!texts.is_empty()).then_some(texts);
                    self.request::<_, GetPromptResult>("prompts/get", &params, meta).await
                }
            }
        };
        let got = with_timeout(within, getting).await?;
        got.map(Into::into).map_err(|error| to_error(error, CallTarget::Prompt(name), repair))
    }

    /// Completes an argument. The call's arguments are `value`, the text typed so far, and the other known arguments.
    ///
    /// # Errors
    /// An error of the service, the protocol or the connection.
    pub async fn complete<E: ServiceError>(
        &self,
        completion: usize,
        args: CallArguments,
        cx: Option<&Cx>,
    ) -> Result<Vec<String>, E> {
        self.complete_with(completion, args, cx, E::from_error).await
    }

    /// Completes an argument and converts an error with `from_error`. For generated code, as [`Self::tool_with`].
    #[doc(hidden)]
    pub async fn complete_with<E>(
        &self,
        completion: usize,
        args: CallArguments,
        cx: Option<&Cx>,
        from_error: impl FnOnce(Error) -> E,
    ) -> Result<Vec<String>, E> {
        self.request_completion(completion, args, cx).await.map_err(from_error)
    }

    async fn request_completion(
        &self,
        completion: usize,
        args: CallArguments,
        cx: Option<&Cx>,
    ) -> Result<Vec<String>, Error> {
        let def = self.design.completions.get(completion).ok_or_else(|| unknown_index("completion"))?;
        let reference = match &def.target {
            CompletionTarget::Prompt(name) => Reference::prompt(name),
            CompletionTarget::Resource(name) => {
                let index = self.design.resources.iter().position(|resource| resource.name == *name);
                let route = index.and_then(|index| self.routes[index].as_ref().ok());
                let pattern = route.map(|route| route.pattern().to_string());
                Reference::resource(pattern.ok_or_else(|| unknown_index("resource"))?)
            }
        };
        let mut value = String::new();
        let mut known: OrderedMap<String> = OrderedMap::new();
        for (name, text) in to_texts(&args.into_raw()?)? {
            if name == "value" {
                value = text;
            } else {
                known.insert(name, text);
            }
        }
        let mut params = CompleteParams::new(reference, def.argument.as_str(), value);
        if !known.is_empty() {
            params = params.with_filled(known);
        }
        let (within, meta) = call_options(cx);
        params.meta = meta.cloned();
        let completed = with_timeout(within, self.session.complete(params)).await?;
        match completed {
            Ok(result) => Ok(result.completion.values),
            Err(error) => Err(to_error(error, CallTarget::Other("completion/complete"), |_| None)),
        }
    }

    /// Sends a request with additional `_meta`.
    async fn request<P: serde::Serialize, R: FromRaw>(
        &self,
        method: &str,
        params: &P,
        meta: &Meta,
    ) -> Result<R, CallError> {
        let open = format!("{{\"_meta\":{},", Raw::encode(meta)?.as_str());
        let params = Raw::encode_between(&open, params, "}", 0)?;
        let result = self.session.request_raw(method, params).await?;
        R::from_raw(&result).map_err(|error| CallError::Protocol { method: method.to_owned(), error })
    }
}

/// Returns the options that apply to requests other than tool calls: timeout and `_meta`.
fn call_options(cx: Option<&Cx>) -> (Option<Duration>, Option<&Meta>) {
    let options = cx.and_then(Cx::options);
    (options.and_then(|options| options.timeout), options.and_then(|options| options.meta.as_ref()))
}

/// Applies a timeout. On timeout the request is dropped and thereby cancelled.
async fn with_timeout<T>(within: Option<Duration>, work: impl Future<Output = T>) -> Result<T, Error> {
    match within {
        None => Ok(work.await),
        Some(within) => tokio::time::timeout(within, work).await.map_err(|_| Error::Timeout),
    }
}

/// Converts arguments to text: strings unchanged, other values as JSON.
pub(super) fn to_texts(args: &Raw) -> Result<Vec<(String, String)>, Error> {
    let text = |value: Raw| {
        if value.as_str().starts_with('"') {
            value.decode::<String>().map_err(Error::internal)
        } else {
            Ok(value.as_str().to_owned())
        }
    };
    let given = args.fields().filter(|(_, value)| !value.is_null());
    given.map(|(name, value)| Ok((name.as_str().to_owned(), text(value)?))).collect()
}
