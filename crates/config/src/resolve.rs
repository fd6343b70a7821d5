//! Several files, one set of servers: which entry wins, and which of them may be started.
//!
//! Invariants: of entries with one name the one of the strongest scope wins, whole, also when it is broken: a mistake
//! in an administrator's entry must not let another take its place. A project's server is not started, and none of its
//! variables filled in, before its exact entry was approved. A file that cannot be read harms no other.

use std::path::Path;

use crate::approval::{Approval, Approvals};
use crate::expand::Lookup;
use crate::fault::Fault;
use crate::file::{File, Written};
use crate::location::Locations;
use crate::name::{NameLimit, QualifiedName};
use crate::plan::ServerPlan;
use crate::read::Warning;
use crate::rule::{Rule, Rules, Verdict};
use crate::scope::Scope;
use crate::server_config::ServerConfig;

/// What one scope says.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The scope.
    pub scope: Scope,
    /// Its servers, in their order.
    pub servers: Vec<Written>,
    /// Its rules about calls.
    pub rules: Vec<Rule>,
    /// What is odd about them.
    pub warnings: Vec<Warning>,
}

impl Layer {
    /// Servers that come from no file.
    pub fn new(scope: Scope, servers: impl IntoIterator<Item = (String, ServerConfig)>) -> Self {
        let servers = servers.into_iter().map(|(name, entry)| Written { name, entry: Ok(entry) });
        Self { scope, servers: servers.collect(), rules: Vec::new(), warnings: Vec::new() }
    }

    /// What the file of a scope says.
    ///
    /// # Errors
    /// When the file as a whole cannot be read.
    pub fn read(scope: Scope, file: &Path) -> Result<Self, Fault> {
        let file = match scope {
            Scope::Project => File::open_shared(file)?,
            _ => File::open(file)?,
        };
        Ok(Self {
            scope,
            servers: file.servers().to_vec(),
            rules: file.rules().to_vec(),
            warnings: file.warnings().to_vec(),
        })
    }
}

/// A server of the resolved set.
#[derive(Clone, Debug, PartialEq)]
pub struct Configured {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub scope: Scope,
    /// How it is written; none if that cannot be read.
    pub entry: Option<ServerConfig>,
    /// What will be run, or why it cannot be.
    pub plan: Result<ServerPlan, Fault>,
    /// Whether it was approved; none where that is not asked.
    pub approval: Option<Approval>,
    /// Whether what its tools say of their effects is believed.
    pub trust: bool,
}

/// An entry that another one hides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// The name both have.
    pub name: String,
    /// Where the hidden one is.
    pub scope: Scope,
    /// Where the one that counts is.
    pub by: Scope,
}

/// One set of servers out of all scopes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Resolved {
    /// The servers: by scope, strongest first, and in a scope in their order.
    pub servers: Vec<Configured>,
    /// The rules of all scopes. A project's file may deny and ask, but not allow.
    pub rules: Rules,
    /// Entries that do not count.
    pub shadowed: Vec<Shadowed>,
    /// Files that could not be read.
    pub faults: Vec<Fault>,
    /// What is odd.
    pub warnings: Vec<Warning>,
}

/// What resolving needs beside the layers.
#[derive(Clone, Copy)]
pub struct ResolveContext<'a> {
    /// The project.
    pub project: &'a Path,
    /// What the user approved.
    pub approvals: &'a Approvals,
    /// Where variables are looked up.
    pub variables: Lookup<'a>,
}

impl std::fmt::Debug for ResolveContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResolveContext").field("project", &self.project).finish_non_exhaustive()
    }
}

impl Resolved {
    /// Reads every file and resolves what they say, with what the application adds.
    pub fn read(at: &Locations, added: &[Layer], variables: Lookup<'_>) -> Self {
        let mut faults = Vec::new();
        let mut layers = added.to_vec();
        for (scope, file) in Scope::files(at) {
            match Layer::read(scope, file) {
                Ok(layer) => layers.push(layer),
                Err(fault) => faults.push(fault),
            }
        }
        // Without approvals nothing of the project is approved; the rest does not depend on them.
        let approvals = Approvals::open(&at.approvals).unwrap_or_else(|fault| {
            faults.push(fault);
            Approvals::none()
        });
        let context = ResolveContext { project: &at.project, approvals: &approvals, variables };
        Self { faults, ..Self::of(&layers, context) }
    }

    /// Resolves layers, in whatever order they come.
    pub fn of(layers: &[Layer], context: ResolveContext<'_>) -> Self {
        let mut layers: Vec<&Layer> = layers.iter().collect();
        layers.sort_by_key(|layer| layer.scope);
        let mut resolved = Self::default();
        let counts = |scope: Scope, rule: &Rule| scope != Scope::Project || rule.verdict() != Verdict::Allow;
        let rules =
            layers.iter().flat_map(|layer| layer.rules.iter().filter(|rule| counts(layer.scope, rule)));
        resolved.rules = Rules::new(rules.cloned());
        for layer in layers {
            resolved.warnings.extend(layer.warnings.iter().cloned());
            for written in &layer.servers {
                let winner = resolved.servers.iter().find(|server| server.name == written.name);
                match winner.map(|server| server.scope) {
                    Some(by) => {
                        let name = written.name.clone();
                        resolved.shadowed.push(Shadowed { name, scope: layer.scope, by });
                    }
                    None => resolved.servers.push(configured(
                        layer.scope,
                        written,
                        context,
                        &mut resolved.warnings,
                    )),
                }
            }
        }
        resolved
    }

    /// The server of that name.
    pub fn server(&self, name: &str) -> Option<&Configured> {
        self.servers.iter().find(|server| server.name == name)
    }
}

fn configured(
    scope: Scope,
    written: &Written,
    context: ResolveContext<'_>,
    warnings: &mut Vec<Warning>,
) -> Configured {
    let name = written.name.clone();
    let entry = match &written.entry {
        Ok(entry) => entry,
        Err(fault) => {
            return Configured {
                name,
                scope,
                entry: None,
                plan: Err(fault.clone()),
                approval: None,
                trust: false,
            };
        }
    };
    warnings.extend(entry.misuses(scope).into_iter().map(|warning| warning.under(&name)));
    if QualifiedName::of(&name, "tool", NameLimit::DEFAULT).is_hashed() {
        let text =
            "its tools get longer names; letters, digits, `-` and single `_` in a short name keep them plain";
        warnings.push(Warning::new(&name, text));
    }
    let approval = (scope == Scope::Project).then(|| context.approvals.of(context.project, &name, entry));
    let plan = match &approval {
        Some(Approval::New | Approval::Changed(_)) => Ok(entry.unapproved()),
        Some(Approval::Approved) | None if entry.settings.disabled => Ok(entry.disabled()),
        Some(Approval::Approved) | None => {
            entry.resolve(context.variables).map_err(|fault| fault.under(&name))
        }
    };
    let trust = entry.settings.trust && scope != Scope::Project;
    let plan = plan.map(|mut plan| {
        if matches!(scope, Scope::Project | Scope::Local) {
            // Wherever this process was started.
            plan.base_directory = Some(context.project.to_owned());
        }
        plan.settings.trust = trust;
        plan.scope = Some(scope);
        plan
    });
    Configured { name, scope, entry: Some(entry.clone()), plan, approval, trust }
}
