//! Several services as one: one design, and each call to whose it is.
//!
//! Names and URIs must not collide; a prefix keeps the names of a service apart. What each service numbers from 0 is here
//! numbered through.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use switchboard_design::{CompletionTarget, Design, ItemKind, OutputDef};
use switchboard_protocol::{CallToolResult, Raw, Resource};

use crate::{Call, Changes, Contents, Cx, Dispatch, Prompt, Working};

/// Two services that have something of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collision {
    /// What it is.
    pub kind: ItemKind,
    /// Its name, or its URI.
    pub name: String,
    /// The service that has it first.
    pub first: String,
    /// The service that has it too.
    pub second: String,
}

impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, first, second } = self;
        write!(f, "the {kind} `{name}` is in both `{first}` and `{second}`; give one of them a prefix")
    }
}

/// All of them at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Collisions(pub Vec<Collision>);

/// Several services as one.
pub(crate) struct Composed {
    design: Arc<Design>,
    parts: Vec<Arc<dyn Dispatch>>,
    tools: Vec<Place>,
    resources: Vec<Place>,
    prompts: Vec<Place>,
    watches: Vec<Place>,
    completions: Vec<Place>,
    /// By its name here: whose it is, and its name there.
    methods: HashMap<String, (usize, String)>,
    pub(crate) collisions: Vec<Collision>,
}

/// Which service, and which of its own.
type Place = (usize, usize);

impl Composed {
    /// This service and another, whose names get the prefix.
    pub(crate) fn new(first: Arc<dyn Dispatch>, second: Arc<dyn Dispatch>, prefix: &str) -> Self {
        let (one, two) = (closed(first.design()), prefixed(closed(second.design()), prefix));
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
        let places = |of: fn(&Design) -> usize| {
            let first = (0..of(&one)).map(|at| (0, at));
            first.chain((0..of(&two)).map(|at| (1, at))).collect::<Vec<Place>>()
        };
        Self {
            tools: places(|design| design.tools.len()),
            resources: places(|design| design.resources.len()),
            prompts: places(|design| design.prompts.len()),
            watches: places(|design| design.watches.len()),
            completions: places(|design| design.completions.len()),
            methods,
            collisions,
            design: Arc::new(merged(one, two)),
            parts: vec![first, second],
        }
    }
}

/// The same design with every schema standing on its own.
fn closed(design: &Design) -> Design {
    let mut own = design.clone();
    let types = std::mem::take(&mut own.types);
    if types.is_empty() {
        return own;
    }
    let close = |schema: &mut serde_json::Value| *schema = types.bundle(schema);
    let close_output = |output: &mut OutputDef| {
        if let OutputDef::Structured { schema } = output {
            *schema = types.bundle(schema);
        }
    };
    for tool in &mut own.tools {
        close(&mut tool.args.schema);
        close_output(&mut tool.output);
        tool.events.iter_mut().for_each(close);
    }
    own.resources.iter_mut().for_each(|resource| close_output(&mut resource.output));
    own.notifications.iter_mut().for_each(|notification| close(&mut notification.payload));
    for method in &mut own.rpc_only {
        close(&mut method.args.schema);
        close_output(&mut method.output);
    }
    own
}

/// The same design with a prefix before every name on the wire, and before the names of its methods.
fn prefixed(mut design: Design, prefix: &str) -> Design {
    if prefix.is_empty() {
        return design;
    }
    let put = |name: &mut String| name.insert_str(0, prefix);
    design.tools.iter_mut().for_each(|tool| put(&mut tool.name));
    design.resources.iter_mut().for_each(|resource| put(&mut resource.name));
    design.prompts.iter_mut().for_each(|prompt| put(&mut prompt.name));
    design.notifications.iter_mut().for_each(|notification| put(&mut notification.name));
    design.rpc_only.iter_mut().for_each(|method| put(&mut method.name));
    design.watches.iter_mut().for_each(|watch| put(&mut watch.resource));
    for completion in &mut design.completions {
        match &mut completion.target {
            CompletionTarget::Prompt(name) | CompletionTarget::Resource(name) => put(name),
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
    let mut found = Vec::new();
    let mut look = |kind: ItemKind, first: Vec<&str>, second: Vec<&str>| {
        for name in second.into_iter().filter(|name| first.contains(name)) {
            let (first, second) = (one.name.clone(), two.name.clone());
            found.push(Collision { kind, name: name.to_owned(), first, second });
        }
    };
    let tools = |design: &'_ Design| design.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    let resources = |design: &'_ Design| {
        let both = |resource: &switchboard_design::ResourceDef| [resource.name.clone(), resource.uri.clone()];
        design.resources.iter().flat_map(both).collect::<Vec<_>>()
    };
    let prompts =
        |design: &'_ Design| design.prompts.iter().map(|prompt| prompt.name.clone()).collect::<Vec<_>>();
    let events =
        |design: &'_ Design| design.notifications.iter().map(|event| event.name.clone()).collect::<Vec<_>>();
    let pairs = [
        (ItemKind::Tool, tools(one), tools(two)),
        (ItemKind::Resource, resources(one), resources(two)),
        (ItemKind::Prompt, prompts(one), prompts(two)),
        (ItemKind::Notification, events(one), events(two)),
    ];
    for (kind, first, second) in &pairs {
        look(*kind, first.iter().map(String::as_str).collect(), second.iter().map(String::as_str).collect());
    }
    found
}

/// One design of two. It is called what the first is called.
fn merged(mut one: Design, two: Design) -> Design {
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
    // What both accept; a design that lists none accepts all.
    if one.protocols.is_empty() {
        one.protocols = two.protocols;
    } else if !two.protocols.is_empty() {
        one.protocols.retain(|revision| two.protocols.contains(revision));
    }
    one
}

impl Dispatch for Composed {
    fn design(&self) -> &Arc<Design> {
        &self.design
    }

    fn call_tool(&self, tool: usize, call: Call) -> Working<CallToolResult> {
        let (part, tool) = self.tools[tool];
        self.parts[part].call_tool(tool, call)
    }

    fn read_resource(&self, resource: usize, call: Call) -> Working<Contents> {
        let (part, resource) = self.resources[resource];
        self.parts[part].read_resource(resource, call)
    }

    fn list_members(&self, resource: usize, cx: Cx) -> Working<Vec<Resource>> {
        let (part, resource) = self.resources[resource];
        self.parts[part].list_members(resource, cx)
    }

    fn get_prompt(&self, prompt: usize, call: Call) -> Working<Prompt> {
        let (part, prompt) = self.prompts[prompt];
        self.parts[part].get_prompt(prompt, call)
    }

    fn watch(&self, watch: usize, cx: Cx, changes: Changes) -> Working<()> {
        let (part, watch) = self.watches[watch];
        self.parts[part].watch(watch, cx, changes)
    }

    fn complete(&self, completion: usize, call: Call) -> Working<Vec<String>> {
        let (part, completion) = self.completions[completion];
        self.parts[part].complete(completion, call)
    }

    fn call_method(&self, rust_name: &str, call: Call) -> Option<Working<Raw>> {
        let (part, own) = self.methods.get(rust_name)?;
        self.parts[*part].call_method(own, call)
    }
}
