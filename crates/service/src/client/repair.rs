//! Calls with arguments from another source, usually a model, and retries with corrected arguments.
//!
//! Invalid arguments produce a [`Repair`] with a prompt, from which the source writes new arguments, up to a limit.
//! Any other failure ends the loop: a failed connection is no reason to write other arguments.

use std::future::Future;

use serde_json::Value;
use switchboard_design::schema::{ValidationOutcome, Validator};
use switchboard_design::{
    Error, InvalidParams, ItemKind, Operation, ParamDef, ParamKind, PromptDef, Repair, example,
};
use switchboard_protocol::{CallToolResult, Raw};
use switchboard_session::ClientSession;

use super::error::{CallTarget, to_error};
use super::{ServiceCaller, decode};
use crate::{Cx, EventSink, FromOutput, PromptMessages};

impl ServiceCaller {
    /// Calls a tool by its wire name with JSON arguments.
    ///
    /// # Errors
    /// An error of the service, the protocol or the connection; invalid arguments with a [`Repair`].
    pub async fn call_raw(&self, name: &str, args: Value) -> Result<CallToolResult, Error> {
        self.call_raw_with(name, args, None).await
    }

    /// As [`Self::call_raw`], with call options.
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

    /// Calls a tool by its wire name. With a sink, stream items go there instead of into the result.
    async fn call_json(
        &self,
        name: &str,
        args: Value,
        cx: Option<&Cx>,
        events: Option<EventSink>,
    ) -> Result<CallToolResult, Error> {
        let tool = self.design.tools.iter().find(|tool| tool.name == name);
        let tool = tool.ok_or_else(|| Error::unknown(ItemKind::Tool, name.to_owned()))?;
        let target = CallTarget::Tool(name);
        let args = require_object(args, |message, args| target.repair(&self.design, message, Some(args)))?;
        self.call_tool(tool, args, cx, events).await
    }

    /// Gets a prompt by its wire name with JSON arguments; values other than strings are sent as JSON text.
    ///
    /// # Errors
    /// As [`Self::call_raw`].
    pub async fn get_prompt_raw(&self, name: &str, args: Value) -> Result<PromptMessages, Error> {
        if !self.design.prompts.iter().any(|prompt| prompt.name == name) {
            return Err(Error::unknown(ItemKind::Prompt, name.to_owned()));
        }
        let target = CallTarget::Prompt(name);
        let args = require_object(args, |message, args| target.repair(&self.design, message, Some(args)))?;
        self.get_prompt(name, &args, None).await
    }

    /// Calls a tool. While its arguments are invalid, asks `correct` for others, at most `max_repairs` times.
    ///
    /// `correct` may borrow its captures (`async |repair| model.complete(&repair.prompt()).await`), and a closure
    /// that returns a future may modify them before that. The future is `Send` if that of `correct` is, so the loop
    /// runs in spawned tasks and in service methods. A closure that modifies its captures across an await needs
    /// [`Self::with_repair_mut`].
    ///
    /// # Errors
    /// The last error of the tool, or the error of `correct`.
    ///
    /// # Examples
    /// ```
    /// use serde_json::{Value, json};
    /// use switchboard::service::Result;
    /// use switchboard::service::client::ServiceCaller;
    ///
    /// struct Model;
    ///
    /// impl Model {
    ///     async fn complete(&self, conversation: &str) -> Result<Value> {
    ///         Ok(json!({ "query": conversation }))
    ///     }
    /// }
    ///
    /// async fn search(caller: ServiceCaller, model: Model) -> Result<usize> {
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
    /// # fn example(caller: ServiceCaller) {
    /// spawn(search(caller, Model));
    /// # }
    /// ```
    pub async fn with_repair<C: Future<Output = Result<Value, Error>>>(
        &self,
        max_repairs: usize,
        name: &str,
        args: Value,
        correct: impl FnMut(Repair) -> C,
    ) -> Result<CallToolResult, Error> {
        repair_loop(max_repairs, args, correct, |args| self.call_raw(name, args)).await
    }

    /// As [`Self::with_repair`], for an async closure that modifies, or owns and borrows, its captures across awaits.
    ///
    /// The future of a closure that captures references is not `Send`, a current limit of the compiler. That of a
    /// closure that owns its captures (`async move`) also runs in spawned tasks.
    ///
    /// # Errors
    /// As [`Self::with_repair`].
    ///
    /// # Examples
    /// ```
    /// use serde_json::{Value, json};
    /// use switchboard::service::Result;
    /// use switchboard::service::client::ServiceCaller;
    ///
    /// # struct Model;
    /// # impl Model {
    /// #     async fn complete(&self, conversation: &[String]) -> Result<Value> {
    /// #         Ok(json!({ "query": conversation.join("\n") }))
    /// #     }
    /// # }
    /// async fn search(caller: &ServiceCaller, model: &Model) -> Result<usize> {
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
        max_repairs: usize,
        name: &str,
        args: Value,
        correct: impl AsyncFnMut(Repair) -> Result<Value, Error>,
    ) -> Result<CallToolResult, Error> {
        repair_loop_mut(max_repairs, args, correct, |args| self.call_raw(name, args)).await
    }

    /// As [`Self::with_repair`], and decodes the result.
    ///
    /// # Errors
    /// As [`Self::with_repair`], or when the result does not match the type.
    pub async fn with_repair_as<T: FromOutput, F, C>(
        &self,
        max_repairs: usize,
        name: &str,
        args: Value,
        correct: F,
    ) -> Result<T, Error>
    where
        F: FnMut(Repair) -> C,
        C: Future<Output = Result<Value, Error>>,
    {
        let events = || Some(EventSink::discard());
        let result =
            repair_loop(max_repairs, args, correct, |args| self.call_json(name, args, None, events()))
                .await?;
        self.read_result(name, result)
    }

    /// As [`Self::with_repair_mut`], and decodes the result.
    ///
    /// # Errors
    /// As [`Self::with_repair_as`].
    pub async fn with_repair_mut_as<T: FromOutput>(
        &self,
        max_repairs: usize,
        name: &str,
        args: Value,
        correct: impl AsyncFnMut(Repair) -> Result<Value, Error>,
    ) -> Result<T, Error> {
        let events = || Some(EventSink::discard());
        let call = |args| self.call_json(name, args, None, events());
        let result = repair_loop_mut(max_repairs, args, correct, call).await?;
        self.read_result(name, result)
    }

    fn read_result<T: FromOutput>(&self, name: &str, result: CallToolResult) -> Result<T, Error> {
        match self.design.tools.iter().find(|tool| tool.name == name) {
            Some(tool) => decode::from_tool(result, &tool.output, &self.design),
            None => T::from_result(result),
        }
    }

    /// Gets a prompt. While its arguments are invalid, asks `correct` for others, at most `max_repairs` times.
    ///
    /// # Errors
    /// The last error of the prompt, or the error of `correct`.
    pub async fn prompt_with_repair<C: Future<Output = Result<Value, Error>>>(
        &self,
        max_repairs: usize,
        name: &str,
        args: Value,
        correct: impl FnMut(Repair) -> C,
    ) -> Result<PromptMessages, Error> {
        repair_loop(max_repairs, args, correct, |args| self.get_prompt_raw(name, args)).await
    }

    /// As [`Self::prompt_with_repair`], for a closure as in [`Self::with_repair_mut`].
    ///
    /// # Errors
    /// As [`Self::prompt_with_repair`].
    pub async fn prompt_with_repair_mut(
        &self,
        max_repairs: usize,
        name: &str,
        args: Value,
        correct: impl AsyncFnMut(Repair) -> Result<Value, Error>,
    ) -> Result<PromptMessages, Error> {
        repair_loop_mut(max_repairs, args, correct, |args| self.get_prompt_raw(name, args)).await
    }
}

/// Calls a tool of any server. While its arguments are invalid, asks `correct` for others, at most `max_repairs` times.
///
/// The schema comes from the session's tool list, which is cached as the server allows. Arguments are validated
/// before anything is sent. Arguments that the server rejects are repaired, too, whether it answers with -32602 or
/// with a failed result whose text is about arguments; other failures are not.
///
/// # Errors
/// The last error of the tool, or the error of `correct`.
pub async fn call_with_repair<C: Future<Output = Result<Value, Error>>>(
    session: &ClientSession,
    max_repairs: usize,
    name: &str,
    args: Value,
    correct: impl FnMut(Repair) -> C,
) -> Result<CallToolResult, Error> {
    repair_loop(max_repairs, args, correct, |args| call_validated(session, name, args)).await
}

/// As [`call_with_repair`], for a closure as in [`ServiceCaller::with_repair_mut`].
///
/// # Errors
/// As [`call_with_repair`].
pub async fn call_with_repair_mut(
    session: &ClientSession,
    max_repairs: usize,
    name: &str,
    args: Value,
    correct: impl AsyncFnMut(Repair) -> Result<Value, Error>,
) -> Result<CallToolResult, Error> {
    repair_loop_mut(max_repairs, args, correct, |args| call_validated(session, name, args)).await
}

/// Gets a prompt of any server. While its arguments are invalid, asks `correct` for others, at most `max_repairs` times.
///
/// # Errors
/// The last error of the prompt, or the error of `correct`.
pub async fn get_prompt_with_repair<C: Future<Output = Result<Value, Error>>>(
    session: &ClientSession,
    max_repairs: usize,
    name: &str,
    args: Value,
    correct: impl FnMut(Repair) -> C,
) -> Result<PromptMessages, Error> {
    repair_loop(max_repairs, args, correct, |args| request_prompt(session, name, args)).await
}

/// As [`get_prompt_with_repair`], for a closure as in [`ServiceCaller::with_repair_mut`].
///
/// # Errors
/// As [`get_prompt_with_repair`].
pub async fn get_prompt_with_repair_mut(
    session: &ClientSession,
    max_repairs: usize,
    name: &str,
    args: Value,
    correct: impl AsyncFnMut(Repair) -> Result<Value, Error>,
) -> Result<PromptMessages, Error> {
    repair_loop_mut(max_repairs, args, correct, |args| request_prompt(session, name, args)).await
}

/// Runs the repair loop.
async fn repair_loop<T, C: Future<Output = Result<Value, Error>>, R: Future<Output = Result<T, Error>>>(
    max_repairs: usize,
    mut args: Value,
    mut correct: impl FnMut(Repair) -> C,
    mut attempt: impl FnMut(Value) -> R,
) -> Result<T, Error> {
    for _ in 0..max_repairs {
        match attempt(args).await {
            Err(Error::InvalidParams(InvalidParams { repair: Some(repair), .. })) => {
                args = correct(*repair).await?;
            }
            other => return other,
        }
    }
    attempt(args).await
}

/// Runs the repair loop with closures whose futures borrow from them.
///
/// It does not replace [`repair_loop`]: a `Send` bound on the future of an `AsyncFnMut` cannot be expressed on
/// stable, and is not inferred if the closure captures a reference ("implementation of `Send` is not general
/// enough").
async fn repair_loop_mut<T, R: Future<Output = Result<T, Error>>>(
    max_repairs: usize,
    mut args: Value,
    mut correct: impl AsyncFnMut(Repair) -> Result<Value, Error>,
    mut attempt: impl FnMut(Value) -> R,
) -> Result<T, Error> {
    for _ in 0..max_repairs {
        match attempt(args).await {
            Err(Error::InvalidParams(InvalidParams { repair: Some(repair), .. })) => {
                args = correct(*repair).await?;
            }
            other => return other,
        }
    }
    attempt(args).await
}

/// Checks that the arguments are an object. If not, the error carries a repair.
fn require_object(args: Value, repair: impl FnOnce(&str, &Raw) -> Option<Repair>) -> Result<Raw, Error> {
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

async fn call_validated(session: &ClientSession, name: &str, args: Value) -> Result<CallToolResult, Error> {
    let target = CallTarget::Tool(name);
    let invalid = validate_listed(session, name, &args).await;
    let args = Raw::from(args);
    if let Some(invalid) = invalid {
        return Err(with_listed_repair(session, target, &args, Error::InvalidParams(invalid)).await);
    }
    let error = match session.call_tool_raw(name.to_owned(), args.clone()).await {
        Ok(result) => match Error::from_result(&result, |_| None) {
            None => return Ok(result),
            Some(Error::Tool(tool)) if tool.code.is_empty() && is_about_arguments(&tool.message) => {
                Error::invalid_params(tool.message)
            }
            Some(error) => error,
        },
        Err(error) => to_error(error, target, |_| None),
    };
    Err(with_listed_repair(session, target, &args, error).await)
}

/// Validates arguments against the schema that the server lists; `None` if they are valid or it lists none.
async fn validate_listed(session: &ClientSession, name: &str, args: &Value) -> Option<InvalidParams> {
    if !args.is_object() {
        return Some(InvalidParams::new("Invalid arguments: expected an object"));
    }
    let tools = session.list_tools().await.ok()?;
    let schema: Value = tools.by_name(name)?.input_schema.decode().ok()?;
    match Validator::new(&schema).ok()?.validate(args) {
        ValidationOutcome::Valid => None,
        ValidationOutcome::Invalid(issues) => Some(InvalidParams::from_issues(issues)),
        // The schema is the server's, so the decision is left to the server.
        ValidationOutcome::OverBudget => {
            tracing::warn!(tool = name, "arguments not validated: the schema exceeds the step budget");
            None
        }
    }
}

/// Returns whether a failed result is about the arguments, judged by the wording of common SDKs and validators, because a
/// failed result has no code.
fn is_about_arguments(message: &str) -> bool {
    const PHRASES: [&str; 12] = [
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
    PHRASES.iter().any(|phrase| beginning.contains(phrase))
}

async fn request_prompt(session: &ClientSession, name: &str, args: Value) -> Result<PromptMessages, Error> {
    let args = Raw::from(args);
    let target = CallTarget::Prompt(name);
    let got = session.get_prompt(name, super::requests::to_texts(&args)?).await;
    match got {
        Ok(result) => Ok(result.into()),
        Err(error) => {
            let error = to_error(error, target, |_| None);
            Err(with_listed_repair(session, target, &args, error).await)
        }
    }
}

/// Adds a repair to an invalid-arguments error, from the schema that the server lists.
async fn with_listed_repair(
    session: &ClientSession,
    target: CallTarget<'_>,
    prior: &Raw,
    error: Error,
) -> Error {
    let Error::InvalidParams(invalid) = error else { return error };
    // If the list fails, the original error is returned.
    let repair = match target {
        CallTarget::Tool(name) => tool_repair(session, name, &invalid.message).await,
        CallTarget::Prompt(name) => prompt_repair(session, name, &invalid.message).await,
        CallTarget::Other(_) => None,
    };
    let Some(repair) = repair else { return Error::InvalidParams(invalid) };
    let mut repair = repair.with_issues(invalid.issues.clone());
    repair.prior = prior.decode().ok();
    Error::InvalidParams(invalid.with_repair(repair))
}

async fn tool_repair(session: &ClientSession, name: &str, message: &str) -> Option<Repair> {
    let tools = session.list_tools().await.ok()?;
    let schema: Value = tools.by_name(name)?.input_schema.decode().ok()?;
    let example = example(&schema, None).value;
    Some(Repair::new(Operation::CallTool(name.to_owned()), message, example).with_schema(schema))
}

async fn prompt_repair(session: &ClientSession, name: &str, message: &str) -> Option<Repair> {
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
