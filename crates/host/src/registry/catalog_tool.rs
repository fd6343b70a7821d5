//! A tool of the catalog: its definition, its qualified name and the target of its calls.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytestring::ByteString;
use switchboard_protocol::{Raw, Tool, ToolAnnotations};

use crate::local_tool::LocalTool;
use crate::permission::DefinitionHash;
use crate::registry::rule::WithheldReason;
use crate::slot::Slot;
use crate::status::Status;
use crate::validation::ToolValidators;

/// A tool of the catalog, shared by snapshots and calls.
///
/// ```
/// use switchboard::{Host, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::new();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// let tool = &host.server_tools()[0];
/// assert_eq!((tool.server(), tool.name()), ("sums", "mcp__sums__add"));
/// assert_eq!(tool.tool().name, "add"); // its name on the server
/// assert!(tool.is_available());
/// # demo::done() });
/// ```
pub struct CatalogTool {
    pub(crate) server: Arc<str>,
    pub(crate) qualified: Arc<str>,
    /// The span name of its calls.
    pub(crate) span: Arc<str>,
    pub(crate) tool: Tool,
    /// Its name on the server, shared by its calls.
    pub(crate) wire_name: ByteString,
    pub(crate) target: CallTarget,
    pub(crate) withheld: Option<WithheldReason>,
    pub(crate) digest: DefinitionHash,
    pub(crate) checks: ToolValidators,
    /// The hashes of both names, computed once for all snapshots.
    pub(crate) hashes: NameHashes,
    /// The length of its definition as JSON, computed when it is first asked for.
    pub(crate) definition_bytes: OnceLock<usize>,
}

/// The target of a call.
#[derive(Clone)]
pub(crate) enum CallTarget {
    Server(Arc<Slot>),
    Local(Arc<dyn LocalTool>),
}

impl CallTarget {
    /// Returns whether both are the same slot or local tool.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Server(one), Self::Server(other)) => one.id == other.id,
            (Self::Local(one), Self::Local(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct NameHashes {
    pub(crate) qualified: u64,
    pub(crate) bare: u64,
}

impl CatalogTool {
    /// Returns the name of its server; `(application)` for tools of the application.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the qualified name, like `mcp__files__read`.
    pub fn name(&self) -> &str {
        &self.qualified
    }

    /// Returns the tool as its server lists it.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Returns the length of its definition as JSON, in bytes.
    pub fn definition_bytes(&self) -> usize {
        *self
            .definition_bytes
            .get_or_init(|| Raw::encode(&self.tool).map_or(0, |definition| definition.len()))
    }

    /// Checks arguments against its input schema, as a call does.
    ///
    /// # Errors
    /// The mismatches, with their paths.
    pub fn check_arguments(&self, arguments: &Raw) -> Result<(), String> {
        self.checks.arguments(&self.tool, arguments)
    }

    /// Returns its annotations. Untrusted unless the server is trusted.
    pub fn effects(&self) -> ToolAnnotations {
        self.tool.effects()
    }

    /// Returns the status of its server; `None` for tools of the application.
    pub fn status(&self) -> Option<Status> {
        match &self.target {
            CallTarget::Server(slot) => Some(slot.status()),
            CallTarget::Local(_) => None,
        }
    }

    /// Returns whether a call could be made now: the tools of a lost server stay listed for a grace period.
    pub fn is_available(&self) -> bool {
        match self.status() {
            Some(status) => matches!(
                status,
                Status::Ready(_) | Status::Degraded { .. } | Status::Asleep | Status::Starting { .. }
            ),
            None => true,
        }
    }
}

impl fmt::Debug for CatalogTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogTool")
            .field("name", &self.qualified)
            .field("server", &self.server)
            .field("withheld", &self.withheld)
            .finish_non_exhaustive()
    }
}
