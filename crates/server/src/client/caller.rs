//! Calls the methods of a service over a session, by their number in the design.

use std::sync::Arc;

use serde_json::{Map, Value};
use switchboard_design::{CompletionOf, Design, Error, Route, ServiceError};
use switchboard_protocol::{CallToolResult, Content};
use switchboard_session::{CallError, ClientSession};

use super::{Arguments, CallStream};
use crate::{Changes, Contents, Cx, Event, EventSink, FromOutput, Prompt};

/// Calls the methods of a service over a session. Cheap to clone.
#[derive(Clone)]
pub struct Caller {
    session: ClientSession,
    design: Arc<Design>,
}

impl Caller {
    /// Calls over this session.
    pub fn new(session: ClientSession, design: Arc<Design>) -> Self {
        Self { session, design }
    }

    /// The session.
    pub fn session(&self) -> &ClientSession {
        &self.session
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// What the service, the protocol or the connection says.
    pub async fn tool<T: FromOutput, E: ServiceError>(
        &self,
        tool: usize,
        args: Arguments,
        cx: Option<&Cx>,
        events: Option<EventSink>,
    ) -> Result<T, E> {
        let cx = cx.cloned();
        let result = self.call_tool(tool, args, cx, events).await.map_err(E::from_error)?;
        T::from_result(result).map_err(E::from_error)
    }

    async fn call_tool(
        &self,
        tool: usize,
        args: Arguments,
        cx: Option<Cx>,
        events: Option<EventSink>,
    ) -> Result<CallToolResult, Error> {
        let _ = events;
        let tool = &self.design.tools[tool];
        let mut call = self.session.call_tool_raw(tool.name.clone(), args.into_raw()?);
        if let Some(timeout) = cx.as_ref().and_then(Cx::options).and_then(|options| options.timeout) {
            call = call.timeout(timeout);
        }
        let result = call.await.map_err(failed)?;
        match Error::from_result(&result, |_| None) {
            Some(error) => Err(error),
            None => Ok(result),
        }
    }

    /// Calls a streaming tool: its events and its result as one stream.
    pub fn stream<T: Event, R: FromOutput + 'static>(
        &self,
        tool: usize,
        args: Arguments,
        cx: Option<&Cx>,
    ) -> CallStream<T, R> {
        CallStream::new(self.clone(), tool, args, cx.cloned())
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// What the service, the protocol or the connection says.
    pub async fn resource<T: FromOutput, E: ServiceError>(
        &self,
        resource: usize,
        args: Arguments,
        cx: Option<&Cx>,
    ) -> Result<T, E> {
        let _ = cx;
        let contents = self.read(resource, args).await.map_err(E::from_error)?;
        T::from_contents(contents).map_err(E::from_error)
    }

    async fn read(&self, resource: usize, args: Arguments) -> Result<Contents, Error> {
        let route = Route::new(&self.design.resources[resource])?;
        let values: Map<String, Value> = args.into_raw()?.decode().map_err(Error::Malformed)?;
        let uri = route.encode(&values)?;
        let result = self.session.read_resource(uri).await.map_err(failed)?;
        Ok(Contents::new(result.contents.into_iter().map(Content::resource).collect::<Vec<_>>()))
    }

    /// Gets a prompt.
    ///
    /// # Errors
    /// What the service, the protocol or the connection says.
    pub async fn prompt<E: ServiceError>(
        &self,
        prompt: usize,
        args: Arguments,
        cx: Option<&Cx>,
    ) -> Result<Prompt, E> {
        let _ = cx;
        let get = async {
            let values: Map<String, Value> = args.into_raw()?.decode().map_err(Error::Malformed)?;
            let texts = values.into_iter().map(|(name, value)| match value {
                Value::String(text) => (name, text),
                other => (name, other.to_string()),
            });
            let name = self.design.prompts[prompt].name.clone();
            Ok(self.session.get_prompt(name, texts).await.map_err(failed)?.into())
        };
        get.await.map_err(E::from_error)
    }

    /// Hears of the changes of a resource until it is dropped.
    ///
    /// # Errors
    /// What the service, the protocol or the connection says.
    pub async fn watch<E: ServiceError>(
        &self,
        watch: usize,
        cx: Option<&Cx>,
        changes: Changes,
    ) -> Result<(), E> {
        let _ = cx;
        let name = &self.design.watches[watch].resource;
        let uri = self.design.resources.iter().find(|resource| resource.name == *name);
        let uri = uri.map(|resource| resource.uri.clone()).unwrap_or_default();
        let heard = async {
            let mut listening = self.session.subscribe(uri).await.map_err(failed)?;
            while listening.next().await.is_some() {
                changes.notify();
            }
            Ok(())
        };
        heard.await.map_err(E::from_error)
    }

    /// Completes an argument.
    ///
    /// # Errors
    /// What the service, the protocol or the connection says.
    pub async fn complete<E: ServiceError>(
        &self,
        completion: usize,
        args: Arguments,
        cx: Option<&Cx>,
    ) -> Result<Vec<String>, E> {
        let _ = (args, cx);
        let completion = &self.design.completions[completion];
        let name = match &completion.of {
            CompletionOf::Prompt(name) | CompletionOf::Resource(name) => name,
        };
        Err(E::from_error(Error::Unmapped { method: name.clone() }))
    }
}

fn failed(error: CallError) -> Error {
    match error {
        CallError::Remote(error) => Error::from_rpc(error, |_| None),
        other => Error::Transport(Box::new(other)),
    }
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("design", &self.design.name).finish_non_exhaustive()
    }
}
