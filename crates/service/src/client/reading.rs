//! Reads resources, gets prompts and completes their arguments.
//!
//! Arguments of a resource travel in its URI, those of a prompt as texts: both typed again by the parameter on the other
//! side.

use std::time::Duration;

use switchboard_design::{CompletionTarget, EncodeError, Error, InvalidParams, Issue, Repair, ServiceError};
use switchboard_protocol::{
    CompleteParams, FromRaw, GetPromptParams, GetPromptResult, Meta, OrderedMap, Raw, ReadResourceParams,
    ReadResourceResult, Reference,
};
use switchboard_session::CallError;

use super::caller::no_such;
use super::failure::{Called, failed};
use super::held::ResourceAnswer;
use super::{Arguments, Caller};
use crate::{Cx, FromOutput, Prompt};

impl Caller {
    /// Reads a resource.
    ///
    /// # Errors
    /// What the service, the protocol or the connection says.
    ///
    /// # Cancellation
    /// Dropping the future cancels the call.
    pub async fn resource<T: FromOutput, E: ServiceError>(
        &self,
        resource: usize,
        args: Arguments,
        cx: Option<&Cx>,
    ) -> Result<T, E> {
        let finish = |answer: Result<ResourceAnswer<'_>, Error>| {
            answer.and_then(ResourceAnswer::into_value).map_err(E::from_error)
        };
        self.resource_with(resource, args, cx, finish).await
    }

    /// Reads a resource and converts the answer with `finish`. For generated code, as [`Self::tool_with`].
    #[doc(hidden)]
    pub async fn resource_with<T, E>(
        &self,
        resource: usize,
        args: Arguments,
        cx: Option<&Cx>,
        finish: impl FnOnce(Result<ResourceAnswer<'_>, Error>) -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(def) = self.design.resources.get(resource) else {
            return finish(Err(no_such("resource")));
        };
        let result = match self.uri(resource, args) {
            Ok(uri) => self.read(&uri, cx).await,
            Err(error) => Err(error),
        };
        finish(result.map(|result| ResourceAnswer::new(result, &def.output)))
    }

    /// The URI that carries these arguments of a resource.
    ///
    /// # Errors
    /// When none can.
    pub(crate) fn uri(&self, resource: usize, args: Arguments) -> Result<String, Error> {
        let route = self.routes.get(resource).ok_or_else(|| no_such("resource"))?;
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

    /// Reads what is at a URI.
    pub(crate) async fn read(&self, uri: &str, cx: Option<&Cx>) -> Result<ReadResourceResult, Error> {
        const METHOD: &str = "resources/read";
        let (within, meta) = asked_of(cx);
        let reading = async {
            match meta {
                None => self.session.read_resource(uri).await,
                Some(meta) => self.request(METHOD, &ReadResourceParams::new(uri), meta).await,
            }
        };
        let read = limited(within, reading).await?;
        read.map_err(|error| failed(error, Called::Other(METHOD), |_| None))
    }

    /// Gets a prompt.
    ///
    /// # Errors
    /// What the service, the protocol or the connection says.
    ///
    /// # Cancellation
    /// Dropping the future cancels the call.
    pub async fn prompt<E: ServiceError>(
        &self,
        prompt: usize,
        args: Arguments,
        cx: Option<&Cx>,
    ) -> Result<Prompt, E> {
        self.prompt_with(prompt, args, cx, E::from_error).await
    }

    /// Gets a prompt and converts an error with `from_error`. For generated code, as [`Self::tool_with`].
    #[doc(hidden)]
    pub async fn prompt_with<E>(
        &self,
        prompt: usize,
        args: Arguments,
        cx: Option<&Cx>,
        from_error: impl FnOnce(Error) -> E,
    ) -> Result<Prompt, E> {
        let Some(def) = self.design.prompts.get(prompt) else { return Err(from_error(no_such("prompt"))) };
        let got = match args.into_raw() {
            Ok(args) => self.get_prompt(&def.name, &args, cx).await,
            Err(error) => Err(error),
        };
        // Servers tell what the design says where the method says nothing.
        let own = |mut prompt: Prompt| {
            prompt.description = prompt.description.filter(|told| *told != def.description);
            prompt
        };
        got.map(own).map_err(from_error)
    }

    /// Gets a prompt with arguments that are an object of JSON.
    pub(super) async fn get_prompt(&self, name: &str, args: &Raw, cx: Option<&Cx>) -> Result<Prompt, Error> {
        let called = Called::Prompt(name);
        let repair = |message: &str| called.repair(&self.design, message, Some(args));
        self.ask_prompt(name, args, cx, repair).await
    }

    async fn ask_prompt(
        &self,
        name: &str,
        args: &Raw,
        cx: Option<&Cx>,
        repair: impl FnOnce(&str) -> Option<Repair>,
    ) -> Result<Prompt, Error> {
        let texts = texts(args)?;
        let (within, meta) = asked_of(cx);
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
        let got = limited(within, getting).await?;
        got.map(Into::into).map_err(|error| failed(error, Called::Prompt(name), repair))
    }

    /// Completes an argument. The arguments of the call are `value`, what was typed so far, and the other arguments that
    /// are known.
    ///
    /// # Errors
    /// What the service, the protocol or the connection says.
    pub async fn complete<E: ServiceError>(
        &self,
        completion: usize,
        args: Arguments,
        cx: Option<&Cx>,
    ) -> Result<Vec<String>, E> {
        self.complete_with(completion, args, cx, E::from_error).await
    }

    /// Completes an argument and converts an error with `from_error`. For generated code, as [`Self::tool_with`].
    #[doc(hidden)]
    pub async fn complete_with<E>(
        &self,
        completion: usize,
        args: Arguments,
        cx: Option<&Cx>,
        from_error: impl FnOnce(Error) -> E,
    ) -> Result<Vec<String>, E> {
        self.ask_completion(completion, args, cx).await.map_err(from_error)
    }

    async fn ask_completion(
        &self,
        completion: usize,
        args: Arguments,
        cx: Option<&Cx>,
    ) -> Result<Vec<String>, Error> {
        let def = self.design.completions.get(completion).ok_or_else(|| no_such("completion"))?;
        let reference = match &def.target {
            CompletionTarget::Prompt(name) => Reference::prompt(name),
            CompletionTarget::Resource(name) => {
                let place = self.design.resources.iter().position(|resource| resource.name == *name);
                let route = place.and_then(|place| self.routes[place].as_ref().ok());
                let pattern = route.map(|route| route.pattern().to_string());
                Reference::resource(pattern.ok_or_else(|| no_such("resource"))?)
            }
        };
        let mut value = String::new();
        let mut known: OrderedMap<String> = OrderedMap::new();
        for (name, text) in texts(&args.into_raw()?)? {
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
        let (within, meta) = asked_of(cx);
        params.meta = meta.cloned();
        let completed = limited(within, self.session.complete(params)).await?;
        match completed {
            Ok(result) => Ok(result.completion.values),
            Err(error) => Err(failed(error, Called::Other("completion/complete"), |_| None)),
        }
    }

    /// Any request, with what the caller wants to travel in `_meta`.
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

/// What a call that is no call of a tool can be asked: how long it may take, and what travels in `_meta`.
fn asked_of(cx: Option<&Cx>) -> (Option<Duration>, Option<&Meta>) {
    let options = cx.and_then(Cx::options);
    (options.and_then(|options| options.timeout), options.and_then(|options| options.meta.as_ref()))
}

/// Waits no longer than this. What is given up is dropped, and so cancelled.
async fn limited<T>(within: Option<Duration>, work: impl Future<Output = T>) -> Result<T, Error> {
    match within {
        None => Ok(work.await),
        Some(within) => tokio::time::timeout(within, work).await.map_err(|_| Error::Timeout),
    }
}

/// Arguments that travel as text: a text as it is, anything else as its JSON.
pub(super) fn texts(args: &Raw) -> Result<Vec<(String, String)>, Error> {
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
