//! Compares two designs and classifies the changes.

use std::fmt;

use super::schema_diff::{PoolVersions, diff_schemas};
use crate::check::{DesignLocation, ItemKind};
use crate::ir::{
    Design, MethodDef, MethodScope, NotificationDef, OutputDef, ParamDef, ParamKind, PromptDef, ResourceDef,
    TaskRule, ToolDef,
};
use crate::schema::SchemaRole;

/// The effect of a change on callers of the service. Ordered by severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeClass {
    /// Documentation only.
    Docs,
    /// Compatible: callers of the old design work with the new one.
    Additive,
    /// Breaking: some callers of the old design may fail with the new one.
    Breaking,
}

/// One change of a design.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The effect on callers.
    pub class: ChangeClass,
    /// The item that changed.
    pub location: DesignLocation,
    /// The change, like `was removed`.
    pub description: String,
}

impl fmt::Display for ChangeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Docs => "docs",
            Self::Additive => "compatible",
            Self::Breaking => "breaking",
        })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.class, self.location, self.description)
    }
}

/// Returns the changes between two designs: those of the service itself, then of existing items, then new items.
///
/// `changes.iter().map(|change| change.class).max()` is the most severe class. Names of Rust methods are not compared,
/// except to recognize renamed items.
pub fn diff(old: &Design, new: &Design) -> Vec<Change> {
    let pools = PoolVersions { old: &old.types, new: &new.types };
    let mut comparison = DesignComparison { pools, location: DesignLocation::Design, changes: Vec::new() };
    comparison.compare_service(old, new);
    comparison.compare_items(ItemKind::Tool, &old.tools, &new.tools, DesignComparison::compare_tool);
    comparison.compare_items(
        ItemKind::Resource,
        &old.resources,
        &new.resources,
        DesignComparison::compare_resource,
    );
    comparison.compare_items(ItemKind::Prompt, &old.prompts, &new.prompts, DesignComparison::compare_prompt);
    comparison.compare_items(
        ItemKind::Notification,
        &old.notifications,
        &new.notifications,
        DesignComparison::compare_notification,
    );
    let shared = |design: &Design| -> Vec<MethodDef> {
        design.rpc_only.iter().filter(|method| method.scope == MethodScope::Rpc).cloned().collect()
    };
    comparison.compare_items(ItemKind::Method, &shared(old), &shared(new), DesignComparison::compare_method);
    comparison.changes
}

struct DesignComparison<'a> {
    pools: PoolVersions<'a>,
    /// The item being compared.
    location: DesignLocation,
    changes: Vec<Change>,
}

/// An item with a name on the wire and a Rust method.
trait NamedItem: PartialEq {
    fn name(&self) -> &str;
    fn rust_name(&self) -> &str;
}

macro_rules! named_items {
    ($($type:ident),+) => {$(
        impl NamedItem for $type {
            fn name(&self) -> &str {
                &self.name
            }

            fn rust_name(&self) -> &str {
                &self.rust_name
            }
        }
    )+};
}

named_items!(ToolDef, ResourceDef, PromptDef, NotificationDef, MethodDef);

impl DesignComparison<'_> {
    fn add(&mut self, class: ChangeClass, description: impl Into<String>) {
        self.changes.push(Change { class, location: self.location.clone(), description: description.into() });
    }

    /// Compares a guarantee: giving it is compatible, withdrawing it is breaking.
    fn compare_guarantee(&mut self, old: bool, new: bool, [given, withdrawn]: [&str; 2]) {
        match (old, new) {
            (false, true) => self.add(ChangeClass::Additive, given),
            (true, false) => self.add(ChangeClass::Breaking, withdrawn),
            (true, true) | (false, false) => {}
        }
    }

    fn compare_docs(&mut self, differ: bool) {
        if differ {
            self.add(ChangeClass::Docs, "is described differently");
        }
    }

    fn compare_service(&mut self, old: &Design, new: &Design) {
        if old.name != new.name {
            self.add(ChangeClass::Breaking, format!("is called `{}` instead of `{}`", new.name, old.name));
        }
        if old.version != new.version {
            self.add(ChangeClass::Docs, format!("has version {} instead of {}", new.version, old.version));
        }
        let docs =
            |design: &Design| (design.title.clone(), design.description.clone(), design.instructions.clone());
        self.compare_docs(docs(old) != docs(new));
        for name in old.protocols.iter().filter(|name| !new.protocols.contains(name)) {
            // An empty list accepts all revisions.
            let class = if new.protocols.is_empty() { ChangeClass::Additive } else { ChangeClass::Breaking };
            self.add(class, format!("no longer lists the protocol revision {name}"));
        }
        for name in new.protocols.iter().filter(|name| !old.protocols.contains(name)) {
            let class = if old.protocols.is_empty() { ChangeClass::Breaking } else { ChangeClass::Additive };
            self.add(class, format!("lists the protocol revision {name}"));
        }
        match (&old.rpc, &new.rpc) {
            (Some(old), Some(new)) if old != new => {
                self.add(ChangeClass::Breaking, format!("has its RPC endpoint at {new} instead of {old}"));
            }
            (old, new) => {
                let descriptions = ["has an RPC endpoint now", "has no RPC endpoint any more"];
                self.compare_guarantee(old.is_some(), new.is_some(), descriptions);
            }
        }
    }

    /// Compares items with the same name, and reports removed, renamed and added items.
    fn compare_items<T: NamedItem>(
        &mut self,
        kind: ItemKind,
        old: &[T],
        new: &[T],
        compare: fn(&mut Self, &T, &T),
    ) {
        let known = |list: &[T], name: &str| list.iter().any(|item| item.name() == name);
        let renamed = |item: &T| {
            let same = |other: &&T| other.rust_name() == item.rust_name() && !known(old, other.name());
            new.iter().find(same)
        };
        let mut renamed_names: Vec<&str> = Vec::new();
        for item in old {
            self.location = DesignLocation::Item(kind, item.name().to_owned());
            match new.iter().find(|other| other.name() == item.name()) {
                Some(other) if item == other && self.pools.old == self.pools.new => {}
                Some(other) => compare(self, item, other),
                None => match renamed(item) {
                    Some(other) => {
                        renamed_names.push(other.name());
                        self.add(ChangeClass::Breaking, format!("was renamed to `{}`", other.name()));
                    }
                    None => self.add(ChangeClass::Breaking, "was removed"),
                },
            }
        }
        for item in
            new.iter().filter(|item| !known(old, item.name()) && !renamed_names.contains(&item.name()))
        {
            self.location = DesignLocation::Item(kind, item.name().to_owned());
            self.add(ChangeClass::Additive, "was added");
        }
    }

    fn compare_tool(&mut self, old: &ToolDef, new: &ToolDef) {
        let notes = |tool: &ToolDef| {
            let tool = tool.clone();
            (tool.title, tool.description, tool.icons, tool.example, tool.since, tool.deprecated, tool.tags)
        };
        self.compare_docs(notes(old) != notes(new));
        let effects = |tool: &ToolDef| tool.annotations.clone().unwrap_or_default();
        let (before, after) = (effects(old), effects(new));
        let descriptions = ["is read-only now", "is no longer read-only"];
        self.compare_guarantee(before.is_read_only(), after.is_read_only(), descriptions);
        if before.is_read_only() == after.is_read_only() {
            let descriptions = ["is idempotent now", "is no longer idempotent"];
            self.compare_guarantee(before.is_idempotent(), after.is_idempotent(), descriptions);
            let descriptions = ["is not destructive any more", "may be destructive now"];
            self.compare_guarantee(!before.is_destructive(), !after.is_destructive(), descriptions);
        }
        let descriptions = ["no longer accesses external systems", "may access external systems now"];
        self.compare_guarantee(!before.is_open_world(), !after.is_open_world(), descriptions);
        self.compare_guarantee(
            !old.task.is_never(),
            !new.task.is_never(),
            ["may be run as a task now", "may no longer be run as a task"],
        );
        let only = |task: TaskRule| task == TaskRule::Required;
        self.compare_guarantee(
            !only(old.task),
            !only(new.task),
            ["may be run without a task now", "can only be run as a task now"],
        );
        self.compare_scopes(&old.scopes, &new.scopes);
        self.compare_schemas(SchemaRole::Input, "argument", [&old.args.schema, &new.args.schema]);
        self.compare_output("result", &old.output, &new.output);
        match (&old.events, &new.events) {
            (Some(old), Some(new)) => self.compare_schemas(SchemaRole::Output, "event", [old, new]),
            (old, new) => {
                self.compare_guarantee(
                    old.is_some(),
                    new.is_some(),
                    ["sends events now", "sends no events any more"],
                );
            }
        }
    }

    fn compare_scopes(&mut self, old: &[String], new: &[String]) {
        for scope in new.iter().filter(|scope| !old.contains(scope)) {
            self.add(ChangeClass::Breaking, format!("needs the scope `{scope}` now"));
        }
        for scope in old.iter().filter(|scope| !new.contains(scope)) {
            self.add(ChangeClass::Additive, format!("no longer needs the scope `{scope}`"));
        }
    }

    fn compare_schemas(&mut self, role: SchemaRole, subject: &'static str, schemas: [&serde_json::Value; 2]) {
        for (class, description) in diff_schemas(self.pools, role, subject, schemas) {
            self.add(class, format!("has a change: {description}"));
        }
    }

    fn compare_output(&mut self, subject: &'static str, old: &OutputDef, new: &OutputDef) {
        match (old, new) {
            (OutputDef::Structured { schema: old }, OutputDef::Structured { schema: new }) => {
                self.compare_schemas(SchemaRole::Output, subject, [old, new]);
            }
            (old, new) if old == new => {}
            (OutputDef::Nothing, _) => self.add(ChangeClass::Additive, format!("has a {subject} now")),
            (_, OutputDef::Nothing) => self.add(ChangeClass::Breaking, format!("has no {subject} any more")),
            _ => self.add(ChangeClass::Breaking, format!("has a {subject} of another kind")),
        }
    }

    fn compare_resource(&mut self, old: &ResourceDef, new: &ResourceDef) {
        let notes = |resource: &ResourceDef| {
            let resource = resource.clone();
            (
                resource.title,
                resource.description,
                resource.icons,
                resource.since,
                resource.deprecated,
                resource.tags,
            )
        };
        self.compare_docs(notes(old) != notes(new));
        let same = match (old.pattern(), new.pattern()) {
            (Ok(old), Ok(new)) => old.has_same_uris(&new),
            (Err(_), _) | (_, Err(_)) => old.uri == new.uri,
        };
        if !same {
            self.add(ChangeClass::Breaking, format!("is at `{}` instead of `{}`", new.uri, old.uri));
        }
        if old.mime != new.mime {
            self.add(ChangeClass::Breaking, "has another media type");
        }
        if (old.ttl_ms, old.cache_scope) != (new.ttl_ms, new.cache_scope) {
            self.add(ChangeClass::Additive, "may be cached differently");
        }
        self.compare_guarantee(old.watch, new.watch, ["can be watched now", "can no longer be watched"]);
        self.compare_scopes(&old.scopes, &new.scopes);
        self.compare_params("parameter", &old.params, &new.params);
        self.compare_output("content", &old.output, &new.output);
    }

    fn compare_prompt(&mut self, old: &PromptDef, new: &PromptDef) {
        let notes = |prompt: &PromptDef| {
            let prompt = prompt.clone();
            let docs = (prompt.title, prompt.description, prompt.icons, prompt.example);
            (docs, prompt.since, prompt.deprecated, prompt.tags, prompt.body)
        };
        self.compare_docs(notes(old) != notes(new));
        self.compare_scopes(&old.scopes, &new.scopes);
        self.compare_params("argument", &old.arguments, &new.arguments);
    }

    fn compare_params(&mut self, subject: &str, old: &[ParamDef], new: &[ParamDef]) {
        for param in old {
            match new.iter().find(|other| other.name == param.name) {
                Some(other) => self.compare_param(subject, param, other),
                None => {
                    self.add(ChangeClass::Breaking, format!("has no {subject} `{}` any more", param.name))
                }
            }
        }
        for param in new.iter().filter(|param| !old.iter().any(|other| other.name == param.name)) {
            let (class, need) = if param.required {
                (ChangeClass::Breaking, "required")
            } else {
                (ChangeClass::Additive, "optional")
            };
            self.add(class, format!("has the {need} {subject} `{}` now", param.name));
        }
    }

    fn compare_param(&mut self, subject: &str, old: &ParamDef, new: &ParamDef) {
        let name = &new.name;
        if (&old.title, &old.description) != (&new.title, &new.description) {
            self.add(ChangeClass::Docs, format!("describes the {subject} `{name}` differently"));
        }
        let required = format!("requires the {subject} `{name}` now");
        let optional = format!("no longer requires the {subject} `{name}`");
        self.compare_guarantee(!old.required, !new.required, [&optional, &required]);
        // A single value is accepted as a list of one item.
        let list = format!("takes several of the {subject} `{name}` now");
        let single = format!("takes only one of the {subject} `{name}` now");
        self.compare_guarantee(old.repeated, new.repeated, [&list, &single]);
        if old.default != new.default {
            self.add(ChangeClass::Additive, format!("has another default for the {subject} `{name}`"));
        }
        if old.kind != new.kind {
            let class =
                if accepts_all(&new.kind, &old.kind) { ChangeClass::Additive } else { ChangeClass::Breaking };
            self.add(class, format!("expects {} for the {subject} `{name}` now", new.kind.expected()));
        }
    }

    fn compare_notification(&mut self, old: &NotificationDef, new: &NotificationDef) {
        self.compare_docs(old.description != new.description);
        self.compare_schemas(SchemaRole::Output, "payload", [&old.payload, &new.payload]);
    }

    fn compare_method(&mut self, old: &MethodDef, new: &MethodDef) {
        self.compare_docs(old.description != new.description);
        self.compare_schemas(SchemaRole::Input, "argument", [&old.args.schema, &new.args.schema]);
        self.compare_output("result", &old.output, &new.output);
    }
}

/// Returns whether every text that was valid for the old type is valid for the new one.
fn accepts_all(new: &ParamKind, old: &ParamKind) -> bool {
    match (new, old) {
        (ParamKind::Any | ParamKind::Text, _) | (ParamKind::Number, ParamKind::Integer) => true,
        (ParamKind::Choice { values: new }, ParamKind::Choice { values: old }) => {
            old.iter().all(|value| new.contains(value))
        }
        (new, old) => new == old,
    }
}

#[cfg(test)]
mod tests;
