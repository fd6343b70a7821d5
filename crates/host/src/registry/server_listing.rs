//! What one server lists: its tools, shown or withheld, and its other lists. A view of a catalog.

use std::fmt;
use std::sync::Arc;

use switchboard_protocol::Rejected;

use crate::registry::catalog::Catalog;
use crate::registry::catalog_part::CatalogPart;
use crate::registry::catalog_tool::CatalogTool;
use crate::registry::rule::WithheldReason;
use crate::registry::server_lists::ServerLists;
use crate::slot::Switch;

/// What one server lists, whether it is shown or not.
///
/// ```
/// use switchboard::{Host, InProcess, ServerSpec};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::new();
/// host.connect("sums", ServerSpec::from(InProcess::new(&demo::server())).deny_tools(["wait"])).await?;
/// let catalog = host.catalog();
/// let sums = catalog.listing("sums").expect("the server was connected");
/// let withheld: Vec<_> = sums.tools().filter_map(|(tool, reason)| Some((tool.tool().name.as_str(), reason?))).collect();
/// assert_eq!(withheld[0].0, "wait");
/// # demo::done() });
/// ```
#[derive(Clone, Copy)]
pub struct ServerListing<'a> {
    catalog: &'a Catalog,
    part: &'a CatalogPart,
}

impl<'a> ServerListing<'a> {
    pub(super) fn new(catalog: &'a Catalog, part: &'a CatalogPart) -> Self {
        Self { catalog, part }
    }

    /// Returns the name of the server; `(application)` for the tools of the application.
    pub fn server(&self) -> &'a Arc<str> {
        &self.part.server
    }

    /// Returns whether the server is enabled: otherwise nothing of it is shown.
    pub fn is_enabled(&self) -> bool {
        self.part.switch == Switch::On
    }

    /// Returns whether the tools are those of the application.
    pub fn is_application(&self) -> bool {
        self.part.slot.is_none()
    }

    /// Returns the tools in the order of the server, each with the reason why it is withheld, if it is.
    pub fn tools(
        &self,
    ) -> impl Iterator<Item = (&'a Arc<CatalogTool>, Option<&'a WithheldReason>)> + use<'a> {
        let catalog = self.catalog;
        self.part.list.tools.iter().map(move |tool| (tool, catalog.withheld(tool)))
    }

    /// Returns a tool by its name on the server, with the reason why it is withheld, if it is.
    pub fn tool(&self, name: &str) -> Option<(&'a Arc<CatalogTool>, Option<&'a WithheldReason>)> {
        let tool = self.catalog.tool_of_part(self.part, name)?;
        Some((tool, self.catalog.withheld(tool)))
    }

    /// Returns the number of its tools that are shown, if it is enabled.
    pub fn shown_count(&self) -> usize {
        self.part.list.shown.len()
    }

    /// Returns the invalid entries of its list of tools.
    pub fn rejected(&self) -> &'a [Rejected] {
        &self.part.list.rejected
    }

    /// Returns the rules that match none of its tools.
    pub fn unmatched_rules(&self) -> &'a [Arc<str>] {
        &self.part.list.unmatched_rules
    }

    /// Returns its prompts, resources and templates.
    pub fn lists(&self) -> &'a Arc<ServerLists> {
        &self.part.lists
    }
}

impl fmt::Debug for ServerListing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerListing").field("server", &self.part.server).finish_non_exhaustive()
    }
}
