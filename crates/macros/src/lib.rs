//! The attribute that makes a Rust trait the design of an MCP service.
//!
//! The story of an expansion: the trait is read into a `Service`, whose methods each have a role (`role.rs`) and
//! parameters (`param.rs`); all mistakes are gathered (`problems.rs`); then the trait is written out again, and, if
//! nothing was wrong, what serves and calls it (`expand/`). Everything written refers to `switchboard::__rt`.
//!
//! **Invariants.** The trait is always written out, so that an editor keeps working while something is wrong. The same
//! trait gives the same tokens. Names that are not for people are within a `const _`.

mod case;
mod derive;
mod docs;
mod expand;
mod json;
mod method;
mod nearest;
mod options;
mod param;
mod problems;
mod role;
mod service;
mod ty;
mod uri;

use proc_macro::TokenStream;
use syn::DeriveInput;

/// Makes a trait the design of a service: what serves it, calls it and describes it comes from the trait.
///
/// For a trait `X` there are `XServer` (`XServer::builder(service)`, `XServer::design()`), `XClient`, which is `X` over any
/// session, `XEvents` when there is something to tell unasked, `XRpcClient` when there is a plain endpoint, and `DynX` on
/// demand. Options of the service: `name`, `version`, `title`, `protocols("…")` (the first is the default),
/// `rpc = "/rpc"`, `quickstart = false`, `error = MyError`, `dyn_compatible`, `crate = "path::to::switchboard"`.
///
/// Every method is an `async fn` that takes `&self` and returns a `Result`; its doc comment is its description. Its role:
///
/// - `#[tool]`, with `name`, `title`, `read_only`, `destructive`, `idempotent`, `open_world`, `example = { … }`,
///   `scopes("…")`, `tags("…")`, `since`, `deprecated`, `icon` (as often as one likes), `blocking` (it holds its thread),
///   `shielded` (it runs to its end when the call is dropped), `task`.
/// - `#[resource("doc://{id}")]`, with `uri`, `mime`, `watch`, `ttl = "30s"`, `cache = "private"`, and what all have.
/// - `#[prompt]`, with `example` and what all have. A default body can be overridden; with `text = "…"` the design has the
///   one message, and nothing is called.
/// - `#[subscription(resource = "…")]` with a `Changes`: runs while somebody is subscribed.
/// - `#[completion(prompt = "…", argument = "…")]`: its first parameter is what was typed so far.
/// - `#[notification] fn name(payload: T);`: an event, not a call.
/// - `#[internal]`: not to be called from outside. Without any role it is for the plain endpoint alone.
///
/// Parameters are arguments, by their names: `#[arg(default = …)]`, `#[serde(default)]`, `#[serde(rename = "…")]`,
/// `#[schemars(…)]` and `#[header("…")]` say more of one, and doc comments describe it. `&Cx` is what the method knows of
/// its call, `Events<T>` makes a tool a streaming one, and `#[args]` takes all arguments as one type.
#[proc_macro_attribute]
pub fn service(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand::service(attr.into(), item.into()).into()
}

/// Makes the methods of a type a service, without a trait being written.
///
/// `#[server] impl Hello { … }` is `#[service] trait HelloApi { … }` and `impl HelloApi for Hello { … }`, with the same
/// options and roles. Methods without a role stay what they are. A tool that is not `async` counts as `blocking`.
/// `Hello::builder(self)` and `Hello::serve_stdio(self)` serve it.
#[proc_macro_attribute]
pub fn server(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand::server(attr.into(), item.into()).into()
}

/// Makes a flat struct what a user can be asked to fill in.
///
/// Fields are texts, numbers, truth values, enums that derive [`macro@FormChoice`] (lists of them too), or options of
/// these. Their doc comments are shown; `#[form(title = "…", min = 1, max = 9, min_length = 1, max_length = 80,
/// format = "email", default = …)]` says more. The struct derives `serde::Deserialize` too, and its `rename`s are heeded.
#[proc_macro_derive(Form, attributes(form))]
pub fn form(input: TokenStream) -> TokenStream {
    derived(input, derive::form)
}

/// Makes an enum without fields a field of a form: its variants are to be chosen from.
///
/// The doc comment of a variant, or `#[form(title = "…")]`, is what the user sees.
#[proc_macro_derive(FormChoice, attributes(form))]
pub fn form_choice(input: TokenStream) -> TokenStream {
    derived(input, derive::choice)
}

/// Makes an enum the error of a service: the typed client gets the same variant back.
///
/// Each variant says how it is told: `#[tool_error("code")]` for the model to read, `#[not_found]` for what does not exist
/// (in a resource, the specification's code for a missing one), `#[invalid_params]`, `#[rpc(-32001)]`; one, `#[other]`, holds any other error. What it says is `#[message("…")]`, or how the enum is
/// displayed. Fields travel as JSON.
#[proc_macro_derive(
    ServiceError,
    attributes(service_error, tool_error, not_found, invalid_params, rpc, other, message)
)]
pub fn service_error(input: TokenStream) -> TokenStream {
    derived(input, derive::service_error)
}

fn derived(input: TokenStream, derive: fn(&DeriveInput) -> proc_macro2::TokenStream) -> TokenStream {
    match syn::parse::<DeriveInput>(input) {
        Ok(input) => derive(&input).into(),
        Err(error) => error.to_compile_error().into(),
    }
}
