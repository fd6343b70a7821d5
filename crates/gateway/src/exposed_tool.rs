//! A tool as a view shows it: its definition, its annotations, and the arguments that clients cannot send.

use std::sync::Arc;

use switchboard_host::CatalogTool;
use switchboard_protocol::{Raw, RpcError, Tool, ToolAnnotations};

use crate::names::NamedItem;
use crate::view::{AnnotationsDocument, ArgumentRules, LargeResults, ViewRules, edit_schema};

/// A tool of a server, as a view shows it.
pub(crate) struct ExposedTool {
    catalog: Arc<CatalogTool>,
    /// `None` if it is shown as the server lists it.
    changed: Option<Box<ChangedTool>>,
    /// From which size on its results are kept.
    pub(crate) large_results: Option<LargeResults>,
}

/// An entry of the list of tools.
pub(crate) enum ToolEntry {
    OfServer(NamedItem<ExposedTool>),
    /// The tool that reads kept results.
    ReadResult,
}

struct ChangedTool {
    shown: Tool,
    annotations: Option<AnnotationsDocument>,
    arguments: Option<ArgumentRules>,
}

impl ExposedTool {
    /// Shows a tool by the rules of a view.
    ///
    /// # Errors
    /// The reason why it cannot be shown as the view wants it.
    pub(crate) fn new(catalog: &Arc<CatalogTool>, server: &str, rules: &ViewRules) -> Result<Self, String> {
        let tool = catalog.tool();
        let large_results = rules.large_results(server, &tool.name);
        let changed = match rules.tool(server, &tool.name) {
            Some(rules) => {
                let mut shown = tool.clone();
                shown.input_schema = edit_schema(&tool.input_schema, rules)?;
                if let Some(title) = &rules.title {
                    shown.title = Some(title.clone());
                    if let Some(annotations) = &mut shown.annotations {
                        annotations.title = None;
                    }
                }
                shown.description = rules.description.clone().or(shown.description);
                if let Some(overrides) = rules.annotations {
                    shown.annotations = Some(overrides.apply(shown.annotations.unwrap_or_default()));
                }
                let arguments = ArgumentRules::new(rules, &shown.input_schema);
                Some(Box::new(ChangedTool { shown, annotations: rules.annotations, arguments }))
            }
            None => None,
        };
        Ok(Self { catalog: Arc::clone(catalog), changed, large_results })
    }

    /// Returns the definition that clients see, but for the name.
    pub(crate) fn tool(&self) -> &Tool {
        self.changed.as_ref().map_or_else(|| self.catalog.tool(), |changed| &changed.shown)
    }

    /// Returns the annotations that rules may rely on: those of the view, and those of the server if it is trusted.
    pub(crate) fn annotations(&self, is_trusted: bool) -> Option<ToolAnnotations> {
        let of_view = self.changed.as_ref().and_then(|changed| changed.annotations);
        match (of_view, is_trusted) {
            (Some(of_view), true) => Some(of_view.apply(self.catalog.effects())),
            (Some(of_view), false) => Some(of_view.apply(ToolAnnotations::new())),
            (None, true) => Some(self.catalog.effects()),
            (None, false) => None,
        }
    }

    /// Returns the arguments for the server.
    ///
    /// # Errors
    /// When the client cannot send these arguments.
    pub(crate) fn apply_arguments(&self, arguments: &Raw) -> Result<Raw, RpcError> {
        match self.changed.as_ref().and_then(|changed| changed.arguments.as_ref()) {
            Some(rules) => rules.apply(arguments),
            None => Ok(arguments.clone()),
        }
    }
}
