//! Composes several services into one design and routes each call to its service.
//!
//! Names and URIs must not collide; a prefix separates the names of a service. Item indexes are renumbered.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use switchboard_design::{CompletionTarget, Design, ItemKind, OutputDef};
use switchboard_protocol::{CallToolResult, Raw, Resource};

use crate::{Call, CallFuture, Changes, Contents, Cx, Dispatch, PromptMessages};

/// An item with the same name in two composed services.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collision {
    /// The kind of item.
    pub kind: ItemKind,
    /// The name or URI of the item.
    pub name: String,
    /// The first service that defines it.
    pub first: String,
    /// The second service that defines it.
    pub second: String,
}

impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, first, second } = self;
        write!(f, "the {kind} `{name}` is in both `{first}` and `{second}`; give one of them a prefix")
    }
}

/// All collisions of a composition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Collisions(pub Vec<Collision>);

/// Two services served as one.
pub(crate) struct ComposedService {
    design: Arc<Design>,
    parts: Vec<Arc<dyn Dispatch>>,
    tools: Vec<ItemIndex>,
    resources: Vec<ItemIndex>,
    prompts: Vec<ItemIndex>,
    watches: Vec<ItemIndex>,
    completions: Vec<ItemIndex>,
    /// The service index and original name of each method, by its name in the composition.
    methods: HashMap<String, (usize, String)>,
    pub(crate) collisions: Vec<Collision>,
}

/// The index of a service, and of an item within it.
type ItemIndex = (usize, usize);

impl ComposedService {
    /// Composes two services; the names of the second get the prefix.
    pub(crate) fn new(first: Arc<dyn Dispatch>, second: Arc<dyn Dispatch>, prefix: &str) -> Self {
        let (one, two) =
            (with_inlined_types(first.design()), with_prefix(with_inlined_types(second.design()), prefix));
        let collisions = collisions(&one, &two);
        let mut methods: HashMap<String, (usize, String)> = HashMap::new();
        for name in method_names(first.design()) {
            methods.insert(name.clone(), (0, name));
        }
        let mut two = two;
        rename_methods(&mut two, |name| {
            let free = if methods.contains_key(name) {
                format!("{}_{name}", second.design().name)
            } else {
                name.to_owned()
            };
            let own = name.strip_prefix(prefix).unwrap_or(name);
            methods.insert(free.clone(), (1, own.to_owned()));
            free
        });
        let item_indexes = |of: fn(&Design) -> usize| {
            let first = (0..of(&one)).map(|at| (0, at));
            first.chain((0..of(&two)).map(|at| (1, at))).collect::<Vec<ItemIndex>>()
        };
        Self {
            tools: item_indexes(|design| design.tools.len()),
            resources: item_indexes(|design| design.resources.len()),
            prompts: item_indexes(|design| design.prompts.len()),
            watches: item_indexes(|design| design.watches.len()),
            completions: item_indexes(|design| design.completions.len()),
            methods,
            collisions,
            design: Arc::new(merge(one, two)),
            parts: vec![first, second],
        }
    }
}

/// Returns the design with self-contained schemas: shared types are inlined.
fn with_inlined_types(design: &Design) -> Design {
    let mut own = design.clone();
    let types = std::mem::take(&mut own.types);
    if types.is_empty() {
        return own;
    }
    let inline = |schema: &mut serde_json::Value| *schema = types.bundle(schema);
    let inline_output = |output: &mut OutputDef| {
        if let OutputDef::Structured { schema } = output {
            *schema = types.bundle(schema);
        }
    };
    for tool in &mut own.tools {
        inline(&mut tool.args.schema);
        inline_output(&mut tool.output);
        tool.events.iter_mut().for_each(inline);
    }
    own.resources.iter_mut().for_each(|resource| inline_output(&mut resource.output));
    own.notifications.iter_mut().for_each(|notification| inline(&mut notification.payload));
    for method in &mut own.rpc_only {
        inline(&mut method.args.schema);
        inline_output(&mut method.output);
    }
    own
}

/// Returns the design with a prefix on every wire name and method name.
fn with_prefix(mut design: Design, prefix: &str) -> Design {
    if prefix.is_empty() {
        return design;
    }
    let prepend = |name: &mut String| name.insert_str(0, prefix);
    design.tools.iter_mut().for_each(|tool| prepend(&mut tool.name));
    design.resources.iter_mut().for_each(|resource| prepend(&mut resource.name));
    design.prompts.iter_mut().for_each(|prompt| prepend(&mut prompt.name));
    design.notifications.iter_mut().for_each(|notification| prepend(&mut notification.name));
    design.rpc_only.iter_mut().for_each(|method| prepend(&mut method.name));
    design.watches.iter_mut().for_each(|watch| prepend(&mut watch.resource));
    for completion in &mut design.completions {
        match &mut completion.target {
            CompletionTarget::Prompt(name) | CompletionTarget::Resource(name) => prepend(name),
        }
    }
    rename_methods(&mut design, |name| format!("{prefix}{name}"));
    design
}

fn rename_methods(design: &mut Design, mut rename: impl FnMut(&str) -> String) {
    let tools = design.tools.iter_mut().map(|tool| &mut tool.rust_name);
    let resources = design.resources.iter_mut().map(|resource| &mut resource.rust_name);
    let prompts = design.prompts.iter_mut().map(|prompt| &mut prompt.rust_name);
    let watches = design.watches.iter_mut().map(|watch| &mut watch.rust_name);
    let events = design.notifications.iter_mut().map(|notification| &mut notification.rust_name);
    let completions = design.completions.iter_mut().map(|completion| &mut completion.rust_name);
    let methods = design.rpc_only.iter_mut().map(|method| &mut method.rust_name);
    let all =
        tools.chain(resources).chain(prompts).chain(watches).chain(events).chain(completions).chain(methods);
    all.for_each(|name| *name = rename(name));
}

fn method_names(design: &Design) -> Vec<String> {
    let mut names = Vec::new();
    rename_methods(&mut design.clone(), |name| {
        names.push(name.to_owned());
        name.to_owned()
    });
    names
}

fn collisions(one: &Design, two: &Design) -> Vec<Collision> {
    let names = |design: &Design| {
        let tools = design.tools.iter().map(|tool| (ItemKind::Tool, tool.name.clone()));
        let resources = design.resources.iter().flat_map(|resource| {
            [&resource.name, &resource.uri].map(|name| (ItemKind::Resource, name.clone()))
        });
        let prompts = design.prompts.iter().map(|prompt| (ItemKind::Prompt, prompt.name.clone()));
        let events = design.notifications.iter().map(|event| (ItemKind::Notification, event.name.clone()));
        tools.chain(resources).chain(prompts).chain(events).collect::<Vec<_>>()
    };
    let first_names = names(one);
    let common = names(two).into_iter().filter(|named| first_names.contains(named));
    let (first, second) = (&one.name, &two.name);
    common
        .map(|(kind, name)| Collision { kind, name, first: first.clone(), second: second.clone() })
        .collect()
}

/// Merges two designs. Name, version and title are those of the first.
fn merge(mut one: Design, two: Design) -> Design {
    one.tools.extend(two.tools);
    one.resources.extend(two.resources);
    one.prompts.extend(two.prompts);
    one.watches.extend(two.watches);
    one.notifications.extend(two.notifications);
    one.completions.extend(two.completions);
    one.rpc_only.extend(two.rpc_only);
    one.rpc = one.rpc.or(two.rpc);
    one.instructions = match (one.instructions, two.instructions) {
        (Some(first), Some(second)) => Some(format!("{first}\n\n{second}")),
        (first, second) => first.or(second),
    };
    // Keeps the revisions that both support; an empty list supports all.
    if one.protocols.is_empty() {
        one.protocols = two.protocols;
    } else if !two.protocols.is_empty() {
        one.protocols.retain(|revision| two.protocols.contains(revision));
    }
    one
}

impl Dispatch for ComposedService {
    fn design(&self) -> &Arc<Design> {
        &self.design
    }

    fn call_tool(&self, tool: usize, call: Call) -> CallFuture<CallToolResult> {
        let (part, tool) = self.tools[tool];
        self.parts[part].call_tool(tool, call)
    }

    fn read_resource(&self, resource: usize, call: Call) -> CallFuture<Contents> {
        let (part, resource) = self.resources[resource];
        self.parts[part].read_resource(resource, call)
    }

    fn list_members(&self, resource: usize, cx: Cx) -> CallFuture<Vec<Resource>> {
        let (part, resource) = self.resources[resource];
        self.parts[part].list_members(resource, cx)
    }

    fn get_prompt(&self, prompt: usize, call: Call) -> CallFuture<PromptMessages> {
        let (part, prompt) = self.prompts[prompt];
        self.parts[part].get_prompt(prompt, call)
    }

    fn watch(&self, watch: usize, cx: Cx, changes: Changes) -> CallFuture<()> {
        let (part, watch) = self.watches[watch];
        self.parts[part].watch(watch, cx, changes)
    }

    fn complete(&self, completion: usize, call: Call) -> CallFuture<Vec<String>> {
        let (part, completion) = self.completions[completion];
        self.parts[part].complete(completion, call)
    }

    fn call_method(&self, rust_name: &str, call: Call) -> Option<CallFuture<Raw>> {
        let (part, own) = self.methods.get(rust_name)?;
        self.parts[*part].call_method(own, call)
    }
}
