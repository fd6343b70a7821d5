//! Calls with arguments that somebody else wrote, most often a model, and tries again with better ones.
//!
//! What does not fit comes back with a prompt that says what would; whoever wrote the arguments is shown it and writes
//! others, as often as is allowed. Anything but arguments that do not fit ends it at once: a connection that fails is
//! never a reason to write other arguments.

use std::future::Future;

use serde_json::Value;
use switchboard_design::schema::{ValidationOutcome, Validator};
use switchboard_design::{
    Error, InvalidParams, ItemKind, Operation, ParamDef, ParamKind, PromptDef, Repair, example,
};
use switchboard_protocol::{CallToolResult, Raw};
use switchboard_session::ClientSession;

use super::failure::{Called, failed};
use super::{Caller, held};
use crate::{Cx, EventSink, FromOutput, Prompt};

impl Caller {
    /// Calls a tool by its name on the wire, with arguments that are JSON.
    ///
    /// # Errors
    /// What the service, the protocol or the connection says; arguments that do not fit with a [`Repair`].
    pub async fn call_raw(&self, name: &str, args: Value) -> Result<CallToolResult, Error> {
        self.call_raw_with(name, args, None).await
    }

    /// As [`Self::call_raw`], with how the call is made.
    ///
    /// # Errors
    /// As [`Self::call_raw`].
    pub async fn call_raw_with(
        &self,
        name: &str,
        args: Value,
        cx: Option<&Cx>,
    ) -> Result<CallToolResult, Error> {
        self.call_json(name, args, cx, None).await
    }

    /// Calls a tool by its name on the wire. With a sink, the items of a stream go there instead of into the result.
    async fn call_json(
        &self,
        name: &str,
        args: Value,
        cx: Option<&Cx>,
        events: Option<EventSink>,
    ) -> Result<CallToolResult, Error> {
        let tool = self.design.tools.iter().find(|tool| tool.name == name);
        let tool = tool.ok_or_else(|| Error::unknown(ItemKind::Tool, name.to_owned()))?;
        let called = Called::Tool(name);
        let args = object(args, |message, args| called.repair(&self.design, message, Some(args)))?;
        self.call_tool(tool, args, cx, events).await
    }

    /// Gets a prompt by its name on the wire, with arguments that are JSON: what is no text travels as its JSON.
    ///
    /// # Errors
    /// As [`Self::call_raw`].
    pub async fn get_prompt_raw(&self, name: &str, args: Value) -> Result<Prompt, Error> {
        if !self.design.prompts.iter().any(|prompt| prompt.name == name) {
            return Err(Error::unknown(ItemKind::Prompt, name.to_owned()));
        }
        let called = Called::Prompt(name);
        let args = object(args, |message, args| called.repair(&self.design, message, Some(args)))?;
        self.get_prompt(name, &args, None).await
    }

    /// Calls a tool, and as long as its arguments do not fit asks `correct` for others, at most `most` times.
    ///
    /// `correct` may borrow what it captured (`async |repair| model.complete(&repair.prompt()).await`), and a closure that
    /// returns a future may change it before that: the future is `Send` where that of `correct` is, so the loop runs in
    /// spawned tasks and in methods of services. A closure that changes what it captured across an await needs
    /// [`Self::with_repair_mut`].
    ///
    /// # Errors
    /// The last error of the tool, or what `correct` fails with.
    ///
    /// # Examples
    /// ```
    /// use serde_json::{Value, json};
    /// use switchboard::service::Result;
    /// use switchboard::service::client::Caller;
    ///
    /// struct Model;
    ///
    /// impl Model {
    ///     async fn complete(&self, conversation: &str) -> Result<Value> {
    ///         Ok(json!({ "query": conversation }))
    ///     }
    /// }
    ///
    /// async fn search(caller: Caller, model: Model) -> Result<usize> {
    ///     let mut prompts = Vec::new();
    ///     caller
    ///         .with_repair(3, "search", json!({ "query": 7 }), |repair| {
    ///             prompts.push(repair.prompt());
    ///             let (model, conversation) = (&model, prompts.join("\n"));
    ///             async move { model.complete(&conversation).await }
    ///         })
    ///         .await?;
    ///     Ok(prompts.len())
    /// }
    ///
    /// fn spawn(future: impl Future + Send + 'static) {}
    /// # fn example(caller: Caller) {
    /// spawn(search(caller, Model));
    /// # }
    /// ```
    pub async fn with_repair<F, C>(
        &self,
        most: usize,
        name: &str,
        args: Value,
        correct: F,
    ) -> Result<CallToolResult, Error>
    where
        F: FnMut(Repair) -> C,
        C: Future<Output = Result<Value, Error>>,
    {
        repaired(most, args, correct, |args| self.call_raw(name, args)).await
    }

    /// As [`Self::with_repair`], for an async closure that changes, or owns and borrows, what it captured across its awaits.
    ///
    /// With a closure that captured references the returned future is not `Send`: the compiler cannot tell yet. One that
    /// owns what it captured (`async move`) runs in spawned tasks, too.
    ///
    /// # Errors
    /// As [`Self::with_repair`].
    ///
    /// # Examples
    /// ```
    /// use serde_json::{Value, json};
    /// use switchboard::service::Result;
    /// use switchboard::service::client::Caller;
    ///
    /// # struct Model;
    /// # impl Model {
    /// #     async fn complete(&self, conversation: &[String]) -> Result<Value> {
    /// #         Ok(json!({ "query": conversation.join("\n") }))
    /// #     }
    /// # }
    /// async fn search(caller: &Caller, model: &Model) -> Result<usize> {
    ///     let mut conversation = Vec::new();
    ///     caller
    ///         .with_repair_mut(3, "search", json!({ "query": 7 }), async |repair| {
    ///             conversation.push(repair.prompt());
    ///             model.complete(&conversation).await
    ///         })
    ///         .await?;
    ///     Ok(conversation.len())
    /// }
    /// ```
    pub async fn with_repair_mut(
        &self,
        most: usize,
        name: &str,
        args: Value,
        correct: impl AsyncFnMut(Repair) -> Result<Value, Error>,
    ) -> Result<CallToolResult, Error> {
        repaired_mut(most, args, correct, |args| self.call_raw(name, args)).await
    }

    /// As [`Self::with_repair`], and reads the result as what the tool answers with.
    ///
    /// # Errors
    /// As [`Self::with_repair`], or when the result is something else.
    pub async fn with_repair_as<T: FromOutput, F, C>(
        &self,
        most: usize,
        name: &str,
        args: Value,
        correct: F,
    ) -> Result<T, Error>
    where
        F: FnMut(Repair) -> C,
        C: Future<Output = Result<Value, Error>>,
    {
        let events = || Some(EventSink::nowhere());
        let result = repaired(most, args, correct, |args| self.call_json(name, args, None, events())).await?;
        self.read_result(name, result)
    }

    /// As [`Self::with_repair_mut`], and reads the result as what the tool answers with.
    ///
    /// # Errors
    /// As [`Self::with_repair_as`].
    pub async fn with_repair_mut_as<T: FromOutput>(
        &self,
        most: usize,
        name: &str,
        args: Value,
        correct: impl AsyncFnMut(Repair) -> Result<Value, Error>,
    ) -> Result<T, Error> {
        let events = || Some(EventSink::nowhere());
        let call = |args| self.call_json(name, args, None, events());
        let result = repaired_mut(most, args, correct, call).await?;
        self.read_result(name, result)
    }

    fn read_result<T: FromOutput>(&self, name: &str, result: CallToolResult) -> Result<T, Error> {
        match self.design.tools.iter().find(|tool| tool.name == name) {
            Some(tool) => held::from_tool(result, &tool.output, &self.design),
            None => T::from_result(result),
        }
    }

    /// Gets a prompt, and as long as its arguments do not fit asks `correct` for others, at most `most` times.
    ///
    /// # Errors
    /// The last error of the prompt, or what `correct` fails with.
    pub async fn prompt_with_repair<F, C>(
        &self,
        most: usize,
        name: &str,
        args: Value,
        correct: F,
    ) -> Result<Prompt, Error>
    where
        F: FnMut(Repair) -> C,
        C: Future<Output = Result<Value, Error>>,
    {
        repaired(most, args, correct, |args| self.get_prompt_raw(name, args)).await
    }

    /// As [`Self::prompt_with_repair`], for a closure as [`Self::with_repair_mut`] takes it.
    ///
    /// # Errors
    /// As [`Self::prompt_with_repair`].
    pub async fn prompt_with_repair_mut(
        &self,
        most: usize,
        name: &str,
        args: Value,
        correct: impl AsyncFnMut(Repair) -> Result<Value, Error>,
    ) -> Result<Prompt, Error> {
        repaired_mut(most, args, correct, |args| self.get_prompt_raw(name, args)).await
    }
}

/// Calls a tool of any server, and as long as its arguments do not fit asks `correct` for others, at most `most` times.
///
/// The schema is taken from the tools the session lists, which it keeps as long as the server says they are good.
/// Arguments are checked against it before anything is sent. Arguments that the server refuses are repaired too, whether it
/// answers with -32602 or with a failed result whose text is about arguments; any other failure is not.
///
/// # Errors
/// The last error of the tool, or what `correct` fails with.
pub async fn call_with_repair<F, C>(
    session: &ClientSession,
    most: usize,
    name: &str,
    args: Value,
    correct: F,
) -> Result<CallToolResult, Error>
where
    F: FnMut(Repair) -> C,
    C: Future<Output = Result<Value, Error>>,
{
    repaired(most, args, correct, |args| call_listed(session, name, args)).await
}

/// As [`call_with_repair`], for a closure as [`Caller::with_repair_mut`] takes it.
///
/// # Errors
/// As [`call_with_repair`].
pub async fn call_with_repair_mut(
    session: &ClientSession,
    most: usize,
    name: &str,
    args: Value,
    correct: impl AsyncFnMut(Repair) -> Result<Value, Error>,
) -> Result<CallToolResult, Error> {
    repaired_mut(most, args, correct, |args| call_listed(session, name, args)).await
}

/// Gets a prompt of any server, and as long as its arguments do not fit asks `correct` for others, at most `most` times.
///
/// # Errors
/// The last error of the prompt, or what `correct` fails with.
pub async fn get_prompt_with_repair<F, C>(
    session: &ClientSession,
    most: usize,
    name: &str,
    args: Value,
    correct: F,
) -> Result<Prompt, Error>
where
    F: FnMut(Repair) -> C,
    C: Future<Output = Result<Value, Error>>,
{
    repaired(most, args, correct, |args| get_listed_prompt(session, name, args)).await
}

/// As [`get_prompt_with_repair`], for a closure as [`Caller::with_repair_mut`] takes it.
///
/// # Errors
/// As [`get_prompt_with_repair`].
pub async fn get_prompt_with_repair_mut(
    session: &ClientSession,
    most: usize,
    name: &str,
    args: Value,
    correct: impl AsyncFnMut(Repair) -> Result<Value, Error>,
) -> Result<Prompt, Error> {
    repaired_mut(most, args, correct, |args| get_listed_prompt(session, name, args)).await
}

/// The loop itself.
async fn repaired<T, F, C, A, R>(
    most: usize,
    mut args: Value,
    mut correct: F,
    mut attempt: A,
) -> Result<T, Error>
where
    F: FnMut(Repair) -> C,
    C: Future<Output = Result<Value, Error>>,
    A: FnMut(Value) -> R,
    R: Future<Output = Result<T, Error>>,
{
    for _ in 0..most {
        match attempt(args).await {
            Err(Error::InvalidParams(InvalidParams { repair: Some(repair), .. })) => {
                args = correct(*repair).await?;
            }
            other => return other,
        }
    }
    attempt(args).await
}

/// The same loop for closures whose futures borrow from them.
///
/// Not the only one: that the future of an `AsyncFnMut` is `Send` cannot be required on stable, and is not inferred where
/// the closure captured a reference ("implementation of `Send` is not general enough").
async fn repaired_mut<T, A, R>(
    most: usize,
    mut args: Value,
    mut correct: impl AsyncFnMut(Repair) -> Result<Value, Error>,
    mut attempt: A,
) -> Result<T, Error>
where
    A: FnMut(Value) -> R,
    R: Future<Output = Result<T, Error>>,
{
    for _ in 0..most {
        match attempt(args).await {
            Err(Error::InvalidParams(InvalidParams { repair: Some(repair), .. })) => {
                args = correct(*repair).await?;
            }
            other => return other,
        }
    }
    attempt(args).await
}

/// Arguments as an object. Whoever wrote something else can repair that too.
fn object(args: Value, repair: impl FnOnce(&str, &Raw) -> Option<Repair>) -> Result<Raw, Error> {
    let is_object = args.is_object();
    let args = Raw::from(args);
    if is_object {
        return Ok(args);
    }
    let message = "Invalid arguments: expected an object";
    let invalid = InvalidParams::new(message);
    Err(Error::InvalidParams(match repair(message, &args) {
        Some(repair) => invalid.with_repair(repair),
        None => invalid,
    }))
}

async fn call_listed(session: &ClientSession, name: &str, args: Value) -> Result<CallToolResult, Error> {
    let called = Called::Tool(name);
    let invalid = issues_of(session, name, &args).await;
    let args = Raw::from(args);
    if let Some(invalid) = invalid {
        return Err(with_listed(session, called, &args, Error::InvalidParams(invalid)).await);
    }
    let error = match session.call_tool_raw(name.to_owned(), args.clone()).await {
        Ok(result) => match Error::from_result(&result, |_| None) {
            None => return Ok(result),
            Some(Error::Tool(own)) if own.code.is_empty() && is_about_arguments(&own.message) => {
                Error::invalid_params(own.message)
            }
            Some(error) => error,
        },
        Err(error) => failed(error, called, |_| None),
    };
    Err(with_listed(session, called, &args, error).await)
}

/// What is wrong with arguments under the schema that the session lists; nothing where it lists none.
async fn issues_of(session: &ClientSession, name: &str, args: &Value) -> Option<InvalidParams> {
    if !args.is_object() {
        return Some(InvalidParams::new("Invalid arguments: expected an object"));
    }
    let tools = session.list_tools().await.ok()?;
    let schema: Value = tools.by_name(name)?.input_schema.decode().ok()?;
    match Validator::new(&schema).ok()?.validate(args) {
        ValidationOutcome::Valid => None,
        ValidationOutcome::Invalid(issues) => Some(InvalidParams::from_issues(issues)),
        // The schema is the server's: what it cannot decide is left to the server.
        ValidationOutcome::OverBudget => {
            tracing::warn!(tool = name, "arguments not validated: the schema asks for too many steps");
            None
        }
    }
}

/// Whether a failed result is about the arguments, as the SDKs and their validators word it. Nothing else says so: a
/// failed result has no code.
fn is_about_arguments(message: &str) -> bool {
    const WORDS: [&str; 12] = [
        "-32602",
        "invalid argument",
        "invalid param",
        "invalid input",
        "validation error",
        "validation failed",
        "input validation",
        "missing required",
        "required property",
        "unexpected keyword argument",
        "missing 1 required",
        "unknown argument",
    ];
    let beginning: String = message.chars().take(1000).collect::<String>().to_ascii_lowercase();
    WORDS.iter().any(|words| beginning.contains(words))
}

async fn get_listed_prompt(session: &ClientSession, name: &str, args: Value) -> Result<Prompt, Error> {
    let args = Raw::from(args);
    let called = Called::Prompt(name);
    let got = session.get_prompt(name, super::reading::texts(&args)?).await;
    match got {
        Ok(result) => Ok(result.into()),
        Err(error) => {
            let error = failed(error, called, |_| None);
            Err(with_listed(session, called, &args, error).await)
        }
    }
}

/// The same error, with how to repair it if it is about arguments and the server lists what would fit.
async fn with_listed(session: &ClientSession, called: Called<'_>, prior: &Raw, error: Error) -> Error {
    let Error::InvalidParams(invalid) = error else { return error };
    // A list that cannot be had is no reason to hide what is wrong.
    let repair = match called {
        Called::Tool(name) => listed_tool(session, name, &invalid.message).await,
        Called::Prompt(name) => listed_prompt(session, name, &invalid.message).await,
        Called::Other(_) => None,
    };
    let Some(repair) = repair else { return Error::InvalidParams(invalid) };
    let mut repair = repair.with_issues(invalid.issues.clone());
    repair.prior = prior.decode().ok();
    Error::InvalidParams(invalid.with_repair(repair))
}

async fn listed_tool(session: &ClientSession, name: &str, message: &str) -> Option<Repair> {
    let tools = session.list_tools().await.ok()?;
    let schema: Value = tools.by_name(name)?.input_schema.decode().ok()?;
    let example = example(&schema, None).value;
    Some(Repair::new(Operation::CallTool(name.to_owned()), message, example).with_schema(schema))
}

async fn listed_prompt(session: &ClientSession, name: &str, message: &str) -> Option<Repair> {
    let prompts = session.list_prompts().await.ok()?;
    let arguments = prompts.by_name(name)?.arguments.iter().flatten();
    let arguments = arguments.map(|argument| {
        let mut param = ParamDef::new(argument.name.as_str(), ParamKind::Text);
        param.description.clone_from(&argument.description);
        param.with_required(argument.required == Some(true))
    });
    let prompt = PromptDef::new(name, "").with_arguments(arguments.collect::<Vec<_>>());
    let repair = Repair::new(Operation::GetPrompt(name.to_owned()), message, prompt.example().value);
    Some(repair.with_schema(prompt.schema()))
}
