//! One tool of the catalogue: what its server says of it, the name the model knows it by, and who answers a call.

use std::fmt;
use std::sync::Arc;

use bytestring::ByteString;
use switchboard_protocol::{Tool, ToolAnnotations};

use crate::local_tool::LocalTool;
use crate::permission::DefinitionHash;
use crate::registry::rule::Withheld;
use crate::slot::Slot;
use crate::status::Status;
use crate::validation::Checks;

/// One tool of the catalogue. Shared: a snapshot and a call hold the same one.
pub struct CatalogTool {
    pub(crate) server: Arc<str>,
    pub(crate) qualified: Arc<str>,
    /// What its calls are called in traces.
    pub(crate) span: Arc<str>,
    pub(crate) tool: Tool,
    /// The name the server has for it, to be shared by its calls.
    pub(crate) wire: ByteString,
    pub(crate) target: Target,
    pub(crate) withheld: Option<Withheld>,
    pub(crate) digest: DefinitionHash,
    pub(crate) checks: Checks,
    /// The hashes of both names, made once: a snapshot is put together from them.
    pub(crate) hashes: Hashes,
}

/// Who answers a call.
#[derive(Clone)]
pub(crate) enum Target {
    Server(Arc<Slot>),
    Local(Arc<dyn LocalTool>),
}

impl Target {
    /// Whether both are the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Server(one), Self::Server(other)) => one.id == other.id,
            (Self::Local(one), Self::Local(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Hashes {
    pub(crate) qualified: u64,
    pub(crate) bare: u64,
}

impl CatalogTool {
    /// The server that lists it; for the application's own tools, the host's word for itself.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The name the model knows it by, like `mcp__files__read`.
    pub fn name(&self) -> &str {
        &self.qualified
    }

    /// The tool as its server lists it, under the server's name for it.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// What it says of its effects. Not to be trusted unless the server is.
    pub fn effects(&self) -> ToolAnnotations {
        self.tool.effects()
    }

    /// How its server is doing; `None` for the application's own tools.
    pub fn status(&self) -> Option<Status> {
        match &self.target {
            Target::Server(slot) => Some(slot.status()),
            Target::Local(_) => None,
        }
    }

    /// Whether a call could be made now: a server that is down keeps its tools listed for a while.
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
