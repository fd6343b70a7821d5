//! Views: named virtual servers in front of the same host, each at its own endpoint.
//!
//! A view names the servers, tools, prompts and resources that its clients see, and how: names, descriptions, annotations,
//! arguments that are fixed or hidden, and whether large results are kept behind a handle. Rules, limits and audit stay bound
//! to the server and its own name of a tool.
//!
//! **Invariants.** A tool whose arguments are not exactly as the view wants them is withheld, with the reason in the status. A
//! request of a view never reaches an item outside of it. Clients cannot send an argument that is fixed or hidden.
//!
//! ```
//! use switchboard::gateway::view::View;
//! use switchboard::gateway::{Gateway, GatewayOptions};
//! use switchboard::{Client, InProcess, json};
//!
//! # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
//! # demo::run(async {
//! let host = Gateway::host_builder().build();
//! host.connect("sums", InProcess::new(&demo::server())).await?;
//! let views = View::parse_all(r#"
//!     [views.kids]
//!     servers = "sums"
//!     [views.kids.server.sums.tool.add]
//!     name = "add_one"
//!     arguments.b = { fixed = 1 }
//! "#)?;
//! let gateway = Gateway::new(host, GatewayOptions::default().with_views(views));
//!
//! let view = gateway.view("kids").unwrap(); // over HTTP: /mcp/kids
//! let session = Client::new().connect(InProcess::new(&view)).await?;
//! assert_eq!(session.call_tool("add_one", json!({ "a": 41 })).await?.text(), "42");
//! # demo::done() });
//! ```
//!
//! - `document.rs` is what an operator writes, `check.rs` checks it, `view.rs` is the result, `select.rs` its sets of names and URIs
//! - `schema.rs` removes arguments from an input schema, `arguments.rs` sets those of a call

mod arguments;
mod check;
mod document;
mod error;
mod schema;
mod select;
#[expect(clippy::module_inception, reason = "the file is named for its main type")]
mod view;

pub(crate) use arguments::ArgumentRules;
pub use document::{
    AnnotationsDocument, ArgumentDocument, InstructionsDocument, LargeResultsDocument, NameList, Selection,
    ViewDocument, ViewServerDocument, ViewToolDocument,
};
pub use error::{ViewError, ViewWarning};
pub(crate) use schema::edit_schema;
pub(crate) use view::{LargeResults, READ_RESULT, ViewRules};
pub use view::{MAX_VIEWS, View};
