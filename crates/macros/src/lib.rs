//! The macros that generate an MCP service from a Rust trait or an `impl` block.
//!
//! An expansion parses the trait to a `Service`, whose methods have a role (`role.rs`) and parameters (`param.rs`), collects all
//! errors (`diagnostics.rs`), and generates the trait and, if there are no errors, its server and clients (`expand/`).
//! Generated code refers to `switchboard::__rt`.
//!
//! **Invariants.** The trait is always generated, so that editors keep working while there are errors. The same input gives
//! the same tokens. Private names are within a `const _`.

mod case;
mod derive;
mod diagnostics;
mod docs;
mod expand;
mod json_object;
mod method;
mod nearest;
mod options;
mod param;
mod role;
mod service;
mod type_syntax;
mod uri_template;

use proc_macro::TokenStream;
use syn::DeriveInput;

/// Generates a service from a trait: its server, its typed clients and its design.
///
/// For a trait `X` it generates `XServer` (`XServer::builder(service)`, `XServer::design()`), `XClient`, which implements `X` over
/// any session, `XEvents` if the service has notifications or watched resources, `XRpcClient` if it has a plain JSON-RPC
/// endpoint, and `DynX` with `dyn_compatible`. Options of the service: `name`, `version`, `title`, `protocols("…")` (the first is
/// the default), `rpc = "/rpc"`, `quickstart = false`, `error = MyError`, `dyn_compatible`,
/// `crate = "path::to::switchboard"`.
///
/// Every method is an `async fn` that takes `&self` and returns a `Result`; its doc comment is its description. The roles:
///
/// - `#[tool]`, with `name`, `title`, `read_only`, `destructive`, `idempotent`, `open_world`, `example = { … }`,
///   `scopes("…")`, `tags("…")`, `since`, `deprecated`, `icon` (repeatable), `blocking` (runs on a blocking thread),
///   `shielded` (runs to completion if the call is dropped), `task`.
/// - `#[resource("doc://{id}")]`, with `uri`, `mime`, `watch`, `ttl = "30s"`, `cache = "private"`, and the common options.
/// - `#[prompt]`, with `example` and the common options. A default body can be overridden. With `text = "…"` the design
///   contains the message, and the method is not called.
/// - `#[subscription(resource = "…")]` with a `Changes` parameter: runs while a client is subscribed.
/// - `#[completion(prompt = "…", argument = "…")]`: its first parameter is the text typed so far.
/// - `#[notification] fn name(payload: T);`: a notification, not a call.
/// - `#[internal]`: not callable by clients. A method without a role is served by the plain JSON-RPC endpoint only.
///
/// Parameters are arguments with the same names. `#[arg(default = …)]`, `#[serde(default)]`, `#[serde(rename = "…")]`,
/// `#[schemars(…)]`, `#[header("…")]` and doc comments describe them. `&Cx` is the context of the call, `Events<T>` makes a
/// tool a streaming tool, and `#[args]` takes all arguments as one type.
#[proc_macro_attribute]
pub fn service(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand::service(attr.into(), item.into()).into()
}

/// Generates a service from the methods of a type, without a handwritten trait.
///
/// `#[server] impl Hello { … }` is `#[service] trait HelloApi { … }` and `impl HelloApi for Hello { … }`, with the same
/// options and roles. Methods without a role stay inherent. A tool that is not `async` is `blocking`.
/// `Hello::builder(self)` and `Hello::serve_stdio(self)` serve it.
#[proc_macro_attribute]
pub fn server(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand::server(attr.into(), item.into()).into()
}

/// Makes a flat struct a form for elicitation.
///
/// Fields are strings, numbers, booleans, enums that derive [`macro@FormChoice`], lists of those enums, or options of
/// these. Their doc comments are shown; `#[form(title = "…", min = 1, max = 9, min_length = 1, max_length = 80,
/// format = "email", default = …)]` adds constraints. The struct must also derive `serde::Deserialize`; its `rename`
/// attributes are respected.
#[proc_macro_derive(Form, attributes(form))]
pub fn form(input: TokenStream) -> TokenStream {
    expand_derive(input, derive::form)
}

/// Makes an enum without fields a choice in a form.
///
/// The user sees the doc comment of a variant, or its `#[form(title = "…")]`.
#[proc_macro_derive(FormChoice, attributes(form))]
pub fn form_choice(input: TokenStream) -> TokenStream {
    expand_derive(input, derive::form_choice)
}

/// Makes an enum the error of a service: the typed client receives the same variant.
///
/// Each variant says how it is encoded: `#[tool_error("code")]` for the model to read, `#[not_found]` for a missing entity
/// (in a resource, the specification's code for a missing resource), `#[invalid_params]`, or `#[rpc(-32001)]`. One variant,
/// `#[other]`, holds any other error. The message is `#[message("…")]` or the `Display` output. Fields are encoded as JSON.
#[proc_macro_derive(
    ServiceError,
    attributes(service_error, tool_error, not_found, invalid_params, rpc, other, message)
)]
pub fn service_error(input: TokenStream) -> TokenStream {
    expand_derive(input, derive::service_error)
}

/// Parses the input of a derive macro and expands it.
fn expand_derive(input: TokenStream, derive: fn(&DeriveInput) -> proc_macro2::TokenStream) -> TokenStream {
    match syn::parse::<DeriveInput>(input) {
        Ok(input) => derive(&input).into(),
        Err(error) => error.to_compile_error().into(),
    }
}
