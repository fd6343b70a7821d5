//! A view: its definition, checked and compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;
use switchboard_host::Catalog;
use switchboard_protocol::{Raw, ToolAnnotations};

use super::check::check_view;
use super::document::{AnnotationsDocument, InstructionsDocument, ViewDocument};
use super::error::{ViewError, ViewWarning, line_of};
use super::select::{NameSelection, UriSelection};
use crate::names::PrefixPolicy;
use crate::policy::NameSet;

/// The most views of a gateway.
pub const MAX_VIEWS: usize = 100;
/// The largest document, in bytes.
const MAX_DOCUMENT: usize = 1024 * 1024;
/// The tool that reads kept results.
pub(crate) const READ_RESULT: &str = "read_result";

/// A view of a gateway, checked. Cheap to clone.
///
/// ```
/// use switchboard::gateway::view::View;
///
/// let views = View::parse_all(r#"
/// [views.readers]
/// servers = "*"
/// tools = { include = ["read_*", "list_*"] }
/// "#)?;
/// assert_eq!(views[0].name(), "readers");
///
/// let error = View::parse_all("[views.readers]\nservers = \"*\"\ntool = 7").unwrap_err();
/// assert_eq!(error.line, Some(3));
/// # Ok::<(), switchboard::gateway::view::ViewError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub(crate) rules: Arc<ViewRules>,
}

/// What a view shows, and how.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ViewRules {
    /// `None` for the view of everything.
    pub(crate) name: Option<Arc<str>>,
    /// `None` selects all.
    pub(super) servers: Option<NameSet>,
    pub(crate) prefix: Option<PrefixPolicy>,
    pub(crate) instructions: Option<InstructionsDocument>,
    pub(super) items: ItemRules,
    pub(crate) by_server: BTreeMap<String, ServerRules>,
    pub(super) large_results: Option<LargeResults>,
}

/// The selected items.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ItemRules {
    pub(super) tools: NameSelection,
    pub(super) prompts: NameSelection,
    pub(super) resources: UriSelection,
}

/// What a view takes of one server.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ServerRules {
    pub(super) items: ItemRules,
    pub(crate) tools: BTreeMap<String, Arc<ToolRules>>,
}

/// How a view shows one tool.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ToolRules {
    pub(crate) name: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) annotations: Option<AnnotationsDocument>,
    /// The values of fixed arguments, by name.
    pub(crate) fixed: BTreeMap<String, Raw>,
    pub(crate) hidden: BTreeSet<String>,
    /// The descriptions of arguments, by name.
    pub(crate) described: BTreeMap<String, String>,
    pub(super) large_results: Option<LargeResults>,
}

/// From which size on a result is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LargeResults {
    pub(crate) above: usize,
    pub(crate) head: usize,
}

impl View {
    /// Checks a definition.
    ///
    /// # Errors
    /// Names the field that is invalid, and what to write instead.
    pub fn new(name: &str, document: ViewDocument) -> Result<Self, ViewError> {
        let rules = check_view(name, document).map_err(|(keys, message)| {
            let path: Vec<&str> = keys.iter().map(String::as_str).collect();
            ViewError::new(path.join("."), message)
        })?;
        Ok(Self { rules: Arc::new(rules) })
    }

    /// Reads the `[views.NAME]` tables of a TOML document; other keys are left to their readers.
    ///
    /// # Errors
    /// Names the line and the field that is invalid, and what to write instead.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, ViewError> {
        if text.len() > MAX_DOCUMENT {
            return Err(ViewError::new("", format!("the document is larger than {MAX_DOCUMENT} bytes")));
        }
        let file: ViewsFile = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| line_of(text, span.start));
            ViewError { line, path: String::new(), message: error.message().to_owned() }
        })?;
        if file.views.len() > MAX_VIEWS {
            return Err(ViewError::new("views", format!("more than {MAX_VIEWS} views")));
        }
        let view = |(name, document): (String, ViewDocument)| {
            let rules = check_view(&name, document).map_err(|(keys, message)| {
                let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                ViewError::new(keys.join("."), message).locate(text, &keys)
            })?;
            Ok(Self { rules: Arc::new(rules) })
        };
        file.views.into_iter().map(view).collect()
    }

    /// Returns whether the view takes a tool of a server, by its name there.
    pub fn has_tool(&self, server: &str, tool: &str) -> bool {
        self.rules.has_tool(server, tool)
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        self.rules.name.as_deref().unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct ViewsFile {
    #[serde(default)]
    views: BTreeMap<String, ViewDocument>,
}

impl ViewRules {
    pub(crate) fn has_server(&self, server: &str) -> bool {
        self.servers.as_ref().is_none_or(|servers| servers.matches(server))
    }

    /// Returns whether a tool is part of the view, by its name on the server.
    pub(crate) fn has_tool(&self, server: &str, name: &str) -> bool {
        self.has(server, |items| items.tools.has(name))
    }

    pub(crate) fn has_prompt(&self, server: &str, name: &str) -> bool {
        self.has(server, |items| items.prompts.has(name))
    }

    pub(crate) fn has_resource(&self, server: &str, uri: &str) -> bool {
        self.has(server, |items| items.resources.has(uri))
    }

    pub(crate) fn has_template(&self, server: &str, template: &str) -> bool {
        self.has(server, |items| items.resources.has_template(template))
    }

    fn has(&self, server: &str, selects: impl Fn(&ItemRules) -> bool) -> bool {
        self.has_server(server)
            && selects(&self.items)
            && self.by_server.get(server).is_none_or(|server| selects(&server.items))
    }

    /// Returns how a tool is shown, if the view says so.
    pub(crate) fn tool(&self, server: &str, name: &str) -> Option<&Arc<ToolRules>> {
        self.by_server.get(server)?.tools.get(name)
    }

    /// Returns from which size on results of a tool are kept.
    pub(crate) fn large_results(&self, server: &str, name: &str) -> Option<LargeResults> {
        self.tool(server, name).and_then(|tool| tool.large_results).or(self.large_results)
    }

    /// Returns whether results of any tool may be kept.
    pub(crate) fn keeps_results(&self) -> bool {
        let mut tools = self.by_server.values().flat_map(|server| server.tools.values());
        self.large_results.is_some() || tools.any(|tool| tool.large_results.is_some())
    }

    /// Returns the parts of the view that have no effect with this catalog.
    pub(crate) fn warnings(&self, catalog: &Catalog) -> Vec<ViewWarning> {
        let mut warnings = Vec::new();
        let mut warn = |path: String, message: String| {
            let view = self.name.as_deref().unwrap_or_default().to_owned();
            warnings.push(ViewWarning { view, path, message });
        };
        for (server, rules) in &self.by_server {
            let path = format!("server.{server}");
            if !catalog.servers().any(|known| known == server) {
                warn(path, "no server has this name".to_owned());
                continue;
            }
            let listed = |name: &str| {
                let mut tools = catalog.tools().iter();
                tools.find(|tool| *tool.server() == **server && tool.tool().name == name)
            };
            for (name, rules) in &rules.tools {
                let path = format!("{path}.tool.{name}");
                let Some(tool) = listed(name) else {
                    warn(path, "the server lists no tool with this name now".to_owned());
                    continue;
                };
                if !self.has_tool(server, name) {
                    warn(path.clone(), "the view does not include this tool; add it to `tools`".to_owned());
                }
                let schema = &tool.tool().input_schema;
                let properties = schema.fields().find(|(name, _)| *name == "properties");
                for argument in rules.described.keys() {
                    let mut known = properties.iter().flat_map(|(_, properties)| properties.fields());
                    if !known.any(|(name, _)| name == argument.as_str()) {
                        let message = "the tool has no argument with this name".to_owned();
                        warn(format!("{path}.arguments.{argument}"), message);
                    }
                }
            }
        }
        warnings
    }

    /// Returns whether the view can have prompts, whatever its servers offer.
    pub(crate) fn may_have_prompts(&self) -> bool {
        !self.items.prompts.is_empty()
    }

    /// Returns whether the view can have resources, whatever its servers offer.
    pub(crate) fn may_have_resources(&self) -> bool {
        !self.items.resources.is_empty()
    }

    /// Returns whether the view can have tools, whatever its servers offer.
    pub(crate) fn may_have_tools(&self) -> bool {
        !self.items.tools.is_empty() || self.keeps_results()
    }
}

impl AnnotationsDocument {
    /// Returns annotations with those of the view in place of their own.
    pub(crate) fn apply(self, mut annotations: ToolAnnotations) -> ToolAnnotations {
        let Self { read_only, destructive, idempotent, open_world } = self;
        annotations.read_only_hint = read_only.or(annotations.read_only_hint);
        annotations.destructive_hint = destructive.or(annotations.destructive_hint);
        annotations.idempotent_hint = idempotent.or(annotations.idempotent_hint);
        annotations.open_world_hint = open_world.or(annotations.open_world_hint);
        annotations
    }
}
