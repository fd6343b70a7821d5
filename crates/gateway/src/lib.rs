//! A gateway: many MCP servers behind one endpoint. A [`Handler`](switchboard_session::server::Handler) in front of a
//! [`Host`].
//!
//! ```text
//!   client ──▶ Server ──▶ handler ── names, owners ──▶ relay ──▶ Host ──▶ upstream
//!     ▲                     ▲                           │
//!     └── changes ──────────┘       parked ◀── questions┘
//! ```
//!
//! Lists come from the catalog that the host keeps; a request goes to the one server that owns its tool, prompt or
//! resource. Client and server may speak different revisions: a question of a server reaches the client as a request
//! (legacy) or as a result that requires input (modern). In the second case the running call is *parked* until the client
//! sends the answer.
//!
//! **Invariants.** A list never waits for a server that has failed. A name or URI that two servers claim belongs to neither
//! of them unchanged. A question reaches only the client whose call it belongs to. A parked call is continued at most once
//! at a time, only by the principal that started it, and is never started again.
//!
//! ```
//! use switchboard::gateway::{Gateway, GatewayOptions};
//! use switchboard::{Client, InProcess, json};
//!
//! # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
//! # demo::run(async {
//! let host = Gateway::host_builder().build();
//! host.connect("sums", InProcess::new(&demo::server())).await?;
//! let gateway = Gateway::new(host, GatewayOptions::default());
//!
//! let session = Client::new().connect(InProcess::new(gateway.server())).await?;
//! let sum = session.call_tool("sums__add", json!({ "a": 19, "b": 23 })).await?;
//! assert_eq!(sum.text(), "42");
//! # demo::done() });
//! ```
//!
//! [`Host`]: switchboard_host::Host

mod access;
mod access_layer;
mod active_calls;
pub mod audit;
mod capabilities;
mod changes;
pub mod config;
mod drain;
mod endpoint;
mod error;
mod error_reason;
mod exchange;
mod expose;
mod exposed;
mod exposed_tool;
mod gateway;
mod handler;
mod held_exchange;
mod instructions;
pub mod limits;
mod meta;
pub mod metrics;
mod names;
mod open_record;
mod options;
mod owned_tasks;
mod page;
mod page_cache;
mod parked;
pub mod policy;
mod questions;
mod read_result;
mod refusal;
mod relay;
mod resource_owner;
mod results;
mod roots_cache;
mod sharing;
mod span_layer;
mod state;
mod status;
mod subscriptions;
mod task_followers;
mod task_questions;
mod tasks;
mod template_index;
mod trace_parent;
mod upstream_error;
mod upstream_request;
mod uri_template;
mod url_questions;
pub mod view;
mod view_server;
mod view_services;
mod view_sessions;
mod view_state;
mod view_table;

pub use endpoint::GatewayEndpoint;
pub use gateway::Gateway;
pub use names::{ItemKind, PrefixPolicy, WithheldItem, WithheldReason};
pub use options::{GatewayOptions, ParkedLimits};
pub use refusal::{Refusal, RefusalStream};
pub use results::ResultLimits;
pub use status::{GatewayStatus, ParkedCallStatus, QuarantinedTool, ViewStatus};
pub use trace_parent::TraceParent;
