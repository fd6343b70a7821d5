//! What a new design changes, and for whom.

use std::fmt;

use super::compare::{Flow, Pools, compare};
use crate::check::{ItemKind, Place};
use crate::ir::{
    Design, MethodDef, MethodScope, NotificationDef, OutputDef, ParamDef, ParamKind, PromptDef, ResourceDef,
    TaskRule, ToolDef,
};

/// What a change means to those who use the service. Greater is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Only what is said about things.
    Docs,
    /// Whoever worked with the old design works with the new one.
    Additive,
    /// Somebody who worked with the old design may not work with the new one.
    Breaking,
}

/// One change of a design.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// What it means.
    pub class: Class,
    /// Where.
    pub place: Place,
    /// What changed there.
    pub what: String,
}

impl fmt::Display for Class {
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
        write!(f, "{}: {} {}", self.class, self.place, self.what)
    }
}

/// What a new design changes of an old one: the service itself, then what was there, then what is new.
///
/// The worst of it is `changes.iter().map(|change| change.class).max()`. Methods of Rust are no part of the promise; one
/// whose name on the wire changed counts as renamed.
pub fn diff(old: &Design, new: &Design) -> Vec<Change> {
    let pools = Pools { old: &old.types, new: &new.types };
    let mut found = Found { pools, place: Place::Design, changes: Vec::new() };
    found.service(old, new);
    found.each(ItemKind::Tool, &old.tools, &new.tools, Found::tool);
    found.each(ItemKind::Resource, &old.resources, &new.resources, Found::resource);
    found.each(ItemKind::Prompt, &old.prompts, &new.prompts, Found::prompt);
    found.each(ItemKind::Notification, &old.notifications, &new.notifications, Found::notification);
    let shared = |design: &Design| -> Vec<MethodDef> {
        design.rpc_only.iter().filter(|method| method.scope == MethodScope::Rpc).cloned().collect()
    };
    found.each(ItemKind::Method, &shared(old), &shared(new), Found::method);
    found.changes
}

struct Found<'a> {
    pools: Pools<'a>,
    /// Where changes are being looked for.
    place: Place,
    changes: Vec<Change>,
}

/// What is offered under a name.
trait Named: PartialEq {
    fn name(&self) -> &str;
    fn rust_name(&self) -> &str;
}

macro_rules! named {
    ($($type:ident),+) => {$(
        impl Named for $type {
            fn name(&self) -> &str {
                &self.name
            }

            fn rust_name(&self) -> &str {
                &self.rust_name
            }
        }
    )+};
}

named!(ToolDef, ResourceDef, PromptDef, NotificationDef, MethodDef);

impl Found<'_> {
    fn add(&mut self, class: Class, what: impl Into<String>) {
        self.changes.push(Change { class, place: self.place.clone(), what: what.into() });
    }

    /// A promise: giving it is compatible, taking it back is breaking.
    fn promise(&mut self, old: bool, new: bool, [kept, broken]: [&str; 2]) {
        match (old, new) {
            (false, true) => self.add(Class::Additive, kept),
            (true, false) => self.add(Class::Breaking, broken),
            (true, true) | (false, false) => {}
        }
    }

    fn docs(&mut self, differ: bool) {
        if differ {
            self.add(Class::Docs, "is described differently");
        }
    }

    fn service(&mut self, old: &Design, new: &Design) {
        if old.name != new.name {
            self.add(Class::Breaking, format!("is called `{}` instead of `{}`", new.name, old.name));
        }
        if old.version != new.version {
            self.add(Class::Docs, format!("has version {} instead of {}", new.version, old.version));
        }
        let docs =
            |design: &Design| (design.title.clone(), design.description.clone(), design.instructions.clone());
        self.docs(docs(old) != docs(new));
        for name in old.protocols.iter().filter(|name| !new.protocols.contains(name)) {
            // An empty list accepts everything.
            let class = if new.protocols.is_empty() { Class::Additive } else { Class::Breaking };
            self.add(class, format!("no longer lists the protocol revision {name}"));
        }
        for name in new.protocols.iter().filter(|name| !old.protocols.contains(name)) {
            let class = if old.protocols.is_empty() { Class::Breaking } else { Class::Additive };
            self.add(class, format!("lists the protocol revision {name}"));
        }
        match (&old.rpc, &new.rpc) {
            (Some(old), Some(new)) if old != new => {
                self.add(Class::Breaking, format!("has its RPC endpoint at {new} instead of {old}"));
            }
            (old, new) => {
                let said = ["has an RPC endpoint now", "has no RPC endpoint any more"];
                self.promise(old.is_some(), new.is_some(), said);
            }
        }
    }

    /// Looks at what is there under the same name, and at what came and went.
    fn each<T: Named>(&mut self, kind: ItemKind, old: &[T], new: &[T], look: fn(&mut Self, &T, &T)) {
        let known = |list: &[T], name: &str| list.iter().any(|item| item.name() == name);
        let renamed = |item: &T| {
            let same = |other: &&T| other.rust_name() == item.rust_name() && !known(old, other.name());
            new.iter().find(same)
        };
        let mut taken: Vec<&str> = Vec::new();
        for item in old {
            self.place = Place::Item(kind, item.name().to_owned());
            match new.iter().find(|other| other.name() == item.name()) {
                Some(other) if item == other && self.pools.old == self.pools.new => {}
                Some(other) => look(self, item, other),
                None => match renamed(item) {
                    Some(other) => {
                        taken.push(other.name());
                        self.add(Class::Breaking, format!("was renamed to `{}`", other.name()));
                    }
                    None => self.add(Class::Breaking, "was removed"),
                },
            }
        }
        for item in new.iter().filter(|item| !known(old, item.name()) && !taken.contains(&item.name())) {
            self.place = Place::Item(kind, item.name().to_owned());
            self.add(Class::Additive, "was added");
        }
    }

    fn tool(&mut self, old: &ToolDef, new: &ToolDef) {
        let notes = |tool: &ToolDef| {
            let tool = tool.clone();
            (tool.title, tool.description, tool.icons, tool.example, tool.since, tool.deprecated, tool.tags)
        };
        self.docs(notes(old) != notes(new));
        let effects = |tool: &ToolDef| tool.annotations.clone().unwrap_or_default();
        let (before, after) = (effects(old), effects(new));
        let said = ["is read-only now", "is no longer read-only"];
        self.promise(before.is_read_only(), after.is_read_only(), said);
        if before.is_read_only() == after.is_read_only() {
            let said = ["is idempotent now", "is no longer idempotent"];
            self.promise(before.is_idempotent(), after.is_idempotent(), said);
            let said = ["is not destructive any more", "may be destructive now"];
            self.promise(!before.is_destructive(), !after.is_destructive(), said);
        }
        let said = ["stays within its own world now", "may deal with the world outside now"];
        self.promise(!before.is_open_world(), !after.is_open_world(), said);
        self.promise(
            !old.task.is_never(),
            !new.task.is_never(),
            ["may be run as a task now", "may no longer be run as a task"],
        );
        let only = |task: TaskRule| task == TaskRule::Required;
        self.promise(
            !only(old.task),
            !only(new.task),
            ["may be run without a task now", "can only be run as a task now"],
        );
        self.scopes(&old.scopes, &new.scopes);
        self.schemas(Flow::In, "argument", [&old.args.schema, &new.args.schema]);
        self.output("result", &old.output, &new.output);
        match (&old.events, &new.events) {
            (Some(old), Some(new)) => self.schemas(Flow::Out, "event", [old, new]),
            (old, new) => {
                self.promise(old.is_some(), new.is_some(), ["sends events now", "sends no events any more"]);
            }
        }
    }

    fn scopes(&mut self, old: &[String], new: &[String]) {
        for scope in new.iter().filter(|scope| !old.contains(scope)) {
            self.add(Class::Breaking, format!("needs the scope `{scope}` now"));
        }
        for scope in old.iter().filter(|scope| !new.contains(scope)) {
            self.add(Class::Additive, format!("no longer needs the scope `{scope}`"));
        }
    }

    fn schemas(&mut self, flow: Flow, subject: &'static str, schemas: [&serde_json::Value; 2]) {
        for (class, what) in compare(self.pools, flow, subject, schemas) {
            self.add(class, format!("has a change: {what}"));
        }
    }

    fn output(&mut self, subject: &'static str, old: &OutputDef, new: &OutputDef) {
        match (old, new) {
            (OutputDef::Structured { schema: old }, OutputDef::Structured { schema: new }) => {
                self.schemas(Flow::Out, subject, [old, new]);
            }
            (old, new) if old == new => {}
            (OutputDef::Nothing, _) => self.add(Class::Additive, format!("has a {subject} now")),
            (_, OutputDef::Nothing) => self.add(Class::Breaking, format!("has no {subject} any more")),
            _ => self.add(Class::Breaking, format!("has a {subject} of another kind")),
        }
    }

    fn resource(&mut self, old: &ResourceDef, new: &ResourceDef) {
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
        self.docs(notes(old) != notes(new));
        let same = match (old.pattern(), new.pattern()) {
            (Ok(old), Ok(new)) => old.has_same_uris(&new),
            (Err(_), _) | (_, Err(_)) => old.uri == new.uri,
        };
        if !same {
            self.add(Class::Breaking, format!("is at `{}` instead of `{}`", new.uri, old.uri));
        }
        if old.mime != new.mime {
            self.add(Class::Breaking, "has another media type");
        }
        if (old.ttl_ms, old.cache_scope) != (new.ttl_ms, new.cache_scope) {
            self.add(Class::Additive, "may be cached differently");
        }
        self.promise(old.watch, new.watch, ["can be watched now", "can no longer be watched"]);
        self.scopes(&old.scopes, &new.scopes);
        self.params("parameter", &old.params, &new.params);
        self.output("content", &old.output, &new.output);
    }

    fn prompt(&mut self, old: &PromptDef, new: &PromptDef) {
        let notes = |prompt: &PromptDef| {
            let prompt = prompt.clone();
            let told = (prompt.title, prompt.description, prompt.icons, prompt.example);
            (told, prompt.since, prompt.deprecated, prompt.tags, prompt.body)
        };
        self.docs(notes(old) != notes(new));
        self.scopes(&old.scopes, &new.scopes);
        self.params("argument", &old.arguments, &new.arguments);
    }

    fn params(&mut self, subject: &str, old: &[ParamDef], new: &[ParamDef]) {
        for param in old {
            match new.iter().find(|other| other.name == param.name) {
                Some(other) => self.param(subject, param, other),
                None => self.add(Class::Breaking, format!("has no {subject} `{}` any more", param.name)),
            }
        }
        for param in new.iter().filter(|param| !old.iter().any(|other| other.name == param.name)) {
            let (class, need) =
                if param.required { (Class::Breaking, "required") } else { (Class::Additive, "optional") };
            self.add(class, format!("has the {need} {subject} `{}` now", param.name));
        }
    }

    fn param(&mut self, subject: &str, old: &ParamDef, new: &ParamDef) {
        let name = &new.name;
        if (&old.title, &old.description) != (&new.title, &new.description) {
            self.add(Class::Docs, format!("describes the {subject} `{name}` differently"));
        }
        let required = format!("requires the {subject} `{name}` now");
        let optional = format!("no longer requires the {subject} `{name}`");
        self.promise(!old.required, !new.required, [&optional, &required]);
        // What was given once is a list of one.
        let list = format!("takes several of the {subject} `{name}` now");
        let single = format!("takes only one of the {subject} `{name}` now");
        self.promise(old.repeated, new.repeated, [&list, &single]);
        if old.default != new.default {
            self.add(Class::Additive, format!("has another default for the {subject} `{name}`"));
        }
        if old.kind != new.kind {
            let class = if takes_all(&new.kind, &old.kind) { Class::Additive } else { Class::Breaking };
            self.add(class, format!("expects {} for the {subject} `{name}` now", new.kind.expected()));
        }
    }

    fn notification(&mut self, old: &NotificationDef, new: &NotificationDef) {
        self.docs(old.description != new.description);
        self.schemas(Flow::Out, "payload", [&old.payload, &new.payload]);
    }

    fn method(&mut self, old: &MethodDef, new: &MethodDef) {
        self.docs(old.description != new.description);
        self.schemas(Flow::In, "argument", [&old.args.schema, &new.args.schema]);
        self.output("result", &old.output, &new.output);
    }
}

/// Whether every text that was taken is taken still.
fn takes_all(new: &ParamKind, old: &ParamKind) -> bool {
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
