//! Merges the layers of all scopes into one set of servers.
//!
//! Invariants: of several entries with the same name the one of the strongest scope wins, whole and even if it is
//! invalid: an error in an administrator's entry must not let another entry replace it. A project's server is not
//! started, and its variables are not substituted, before its exact entry was approved. A file that cannot be read does
//! not affect other files.

use std::path::Path;

use crate::approval::{Approval, Approvals};
use crate::error::ConfigError;
use crate::expand::VariableLookup;
use crate::file::{ConfigFile, ServerEntry};
use crate::location::Locations;
use crate::name::{NameLimit, QualifiedName};
use crate::plan::ServerPlan;
use crate::rule::{Rule, Rules, Verdict};
use crate::scope::Scope;
use crate::server_config::ServerConfig;
use crate::warning::Warning;

/// The configuration of one scope.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The scope.
    pub scope: Scope,
    /// The servers, in file order.
    pub servers: Vec<ServerEntry>,
    /// The permission rules.
    pub rules: Vec<Rule>,
    /// Warnings about the servers and rules.
    pub warnings: Vec<Warning>,
}

impl Layer {
    /// Creates a layer of servers that do not come from a file.
    pub fn new(scope: Scope, servers: impl IntoIterator<Item = (String, ServerConfig)>) -> Self {
        let servers = servers.into_iter().map(|(name, entry)| ServerEntry { name, entry: Ok(entry) });
        Self { scope, servers: servers.collect(), rules: Vec::new(), warnings: Vec::new() }
    }

    /// Reads the file of a scope.
    ///
    /// # Errors
    /// When the file as a whole cannot be read.
    pub fn read(scope: Scope, file: &Path) -> Result<Self, ConfigError> {
        let file = match scope {
            Scope::Project => ConfigFile::open_shared(file)?,
            _ => ConfigFile::open(file)?,
        };
        Ok(Self {
            scope,
            servers: file.servers().to_vec(),
            rules: file.rules().to_vec(),
            warnings: file.warnings().to_vec(),
        })
    }
}

/// A server of the resolved configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredServer {
    /// The name.
    pub name: String,
    /// The scope of its entry.
    pub scope: Scope,
    /// The entry as server_entry; `None` if it is invalid.
    pub entry: Option<ServerConfig>,
    /// The server as it will be run, or why it cannot be.
    pub plan: Result<ServerPlan, ConfigError>,
    /// Whether it was approved; `None` for scopes that need no approval.
    pub approval: Option<Approval>,
    /// Whether the annotations of its tools are trusted.
    pub trust: bool,
}

/// An entry that an entry of a stronger scope overrides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowedServer {
    /// The name of both entries.
    pub name: String,
    /// The scope of the overridden entry.
    pub scope: Scope,
    /// The scope of the entry that is used.
    pub by: Scope,
}

/// The configuration that results from all scopes.
///
/// ```
/// use std::path::Path;
///
/// use switchboard::host::config::{Approvals, Layer, ResolveContext, ResolvedConfig, Scope, ServerConfig};
///
/// let entry = |command: &str| serde_json::from_value::<ServerConfig>(serde_json::json!({ "command": command }));
/// let user = Layer::new(Scope::User, [("time".to_owned(), entry("old-clock")?)]);
/// let local = Layer::new(Scope::Local, [("time".to_owned(), entry("clock")?)]);
/// let context =
///     ResolveContext { project: Path::new("/work"), approvals: &Approvals::empty(), variables: &|_| None };
///
/// let config = ResolvedConfig::from_layers(&[user, local], context);
/// assert_eq!(config.server("time").map(|server| server.scope), Some(Scope::Local)); // the stronger scope
/// assert_eq!(config.shadowed[0].scope, Scope::User);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResolvedConfig {
    /// The servers, by scope (strongest first), then in file order.
    pub servers: Vec<ConfiguredServer>,
    /// The rules of all scopes. Allow rules of a project's file are dropped.
    pub rules: Rules,
    /// Overridden entries.
    pub shadowed: Vec<ShadowedServer>,
    /// Files that could not be read.
    pub errors: Vec<ConfigError>,
    /// Warnings of all layers.
    pub warnings: Vec<Warning>,
}

/// The inputs of resolution beside the layers.
#[derive(Clone, Copy)]
pub struct ResolveContext<'a> {
    /// The directory of the project.
    pub project: &'a Path,
    /// The user's approvals.
    pub approvals: &'a Approvals,
    /// Returns the values of variables.
    pub variables: VariableLookup<'a>,
}

impl std::fmt::Debug for ResolveContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResolveContext").field("project", &self.project).finish_non_exhaustive()
    }
}

impl ResolvedConfig {
    /// Reads the files of all scopes and resolves them together with the layers of the application.
    pub fn read(at: &Locations, added: &[Layer], variables: VariableLookup<'_>) -> Self {
        let mut errors = Vec::new();
        let mut layers = added.to_vec();
        for (scope, file) in Scope::files(at) {
            match Layer::read(scope, file) {
                Ok(layer) => layers.push(layer),
                Err(error) => errors.push(error),
            }
        }
        // Without approvals no server of the project is approved; other scopes do not need them.
        let approvals = Approvals::open(&at.approvals).unwrap_or_else(|error| {
            errors.push(error);
            Approvals::empty()
        });
        let context = ResolveContext { project: &at.project, approvals: &approvals, variables };
        Self { errors, ..Self::from_layers(&layers, context) }
    }

    /// Resolves layers, in any order.
    pub fn from_layers(layers: &[Layer], context: ResolveContext<'_>) -> Self {
        let mut layers: Vec<&Layer> = layers.iter().collect();
        layers.sort_by_key(|layer| layer.scope);
        let mut resolved = Self::default();
        let applies = |scope: Scope, rule: &Rule| scope != Scope::Project || rule.verdict() != Verdict::Allow;
        let rules =
            layers.iter().flat_map(|layer| layer.rules.iter().filter(|rule| applies(layer.scope, rule)));
        resolved.rules = Rules::new(rules.cloned());
        for layer in layers {
            resolved.warnings.extend(layer.warnings.iter().cloned());
            for server_entry in &layer.servers {
                let winner = resolved.servers.iter().find(|server| server.name == server_entry.name);
                match winner.map(|server| server.scope) {
                    Some(by) => {
                        let name = server_entry.name.clone();
                        resolved.shadowed.push(ShadowedServer { name, scope: layer.scope, by });
                    }
                    None => resolved.servers.push(configured(
                        layer.scope,
                        server_entry,
                        context,
                        &mut resolved.warnings,
                    )),
                }
            }
        }
        resolved
    }

    /// Returns the server of that name.
    pub fn server(&self, name: &str) -> Option<&ConfiguredServer> {
        self.servers.iter().find(|server| server.name == name)
    }
}

fn configured(
    scope: Scope,
    server_entry: &ServerEntry,
    context: ResolveContext<'_>,
    warnings: &mut Vec<Warning>,
) -> ConfiguredServer {
    let name = server_entry.name.clone();
    let entry = match &server_entry.entry {
        Ok(entry) => entry,
        Err(error) => {
            return ConfiguredServer {
                name,
                scope,
                entry: None,
                plan: Err(error.clone()),
                approval: None,
                trust: false,
            };
        }
    };
    warnings.extend(entry.misuse_warnings(scope).into_iter().map(|warning| warning.under(&name)));
    if QualifiedName::new(&name, "tool", NameLimit::DEFAULT).is_hashed() {
        let text =
            "its tools get names with a hash; letters, digits, `-` and single `_` in a short name avoid that";
        warnings.push(Warning::new(&name, text));
    }
    let approval =
        (scope == Scope::Project).then(|| context.approvals.approval_of(context.project, &name, entry));
    let plan = match &approval {
        Some(Approval::New | Approval::Changed(_)) => Ok(entry.unapproved()),
        Some(Approval::Approved) | None if entry.settings.disabled => Ok(entry.disabled()),
        Some(Approval::Approved) | None => {
            entry.resolve(context.variables).map_err(|error| error.under(&name))
        }
    };
    let trust = entry.settings.trust && scope != Scope::Project;
    let plan = plan.map(|mut plan| {
        if matches!(scope, Scope::Project | Scope::Local) {
            // Independent of the directory in which this process was started.
            plan.base_directory = Some(context.project.to_owned());
        }
        plan.settings.trust = trust;
        plan.scope = Some(scope);
        plan
    });
    ConfiguredServer { name, scope, entry: Some(entry.clone()), plan, approval, trust }
}
