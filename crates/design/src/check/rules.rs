//! The rules of [`Design::check`](crate::Design::check), one function for each thing a design offers.

use std::collections::HashMap;

use serde_json::Value;
use switchboard_protocol::Revision;

use super::{Fault, ItemKind, Mistake, Place};
use crate::ir::{ArgsDef, Design, MethodScope, ParamDef, ParamKind, PromptBody};
use crate::schema::{NotAnObject, is_object, misfits};
use crate::uri::UriPattern;

/// The longest name that every client takes (spec 2025-11-25, server/tools).
const LONGEST_NAME: usize = 128;

/// Mistakes, as they are found.
struct Found<'a> {
    design: &'a Design,
    mistakes: Vec<Mistake>,
    /// The place of each method in Rust.
    methods: HashMap<&'a str, Place>,
}

pub(super) fn look(design: &Design) -> Vec<Mistake> {
    let mut found = Found { design, mistakes: Vec::new(), methods: HashMap::new() };
    found.service();
    found.tools();
    found.resources();
    found.prompts();
    found.watches();
    found.notifications();
    found.methods();
    found.types();
    found.mistakes
}

impl<'a> Found<'a> {
    fn add(&mut self, place: &Place, fault: Fault) {
        self.mistakes.push(Mistake { place: place.clone(), fault });
    }

    fn service(&mut self) {
        if self.design.name.trim().is_empty() {
            self.add(&Place::Design, Fault::NoName);
        }
        if self.design.version.trim().is_empty() {
            self.add(&Place::Design, Fault::NoVersion);
        }
        let protocols = &self.design.protocols;
        for (at, name) in protocols.iter().enumerate() {
            if name.parse::<Revision>().is_err() {
                self.add(&Place::Design, Fault::UnknownProtocol(name.clone()));
            }
            if protocols[..at].contains(name) {
                self.add(&Place::Design, Fault::ProtocolTwice(name.clone()));
            }
        }
        if let Some(path) = self.design.rpc.as_ref().filter(|path| !path.starts_with('/')) {
            self.add(&Place::Design, Fault::BadEndpoint(path.clone()));
        }
    }

    /// What every item with a name must have. `known` are the names before it.
    fn item(
        &mut self,
        place: &Place,
        name: &str,
        description: Option<&str>,
        known: &mut Vec<&'a str>,
        own: &'a str,
    ) {
        let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
        if name.is_empty() {
            self.add(place, Fault::NoName);
        } else if name.len() > LONGEST_NAME || !name.chars().all(legal) {
            self.add(place, Fault::BadName);
        }
        if description.is_some_and(|text| text.trim().is_empty()) {
            self.add(place, Fault::NoDescription);
        }
        if known.contains(&own) {
            self.add(place, Fault::Duplicate);
        }
        known.push(own);
    }

    fn method(&mut self, place: &Place, rust_name: &'a str) {
        match self.methods.get(rust_name) {
            Some(other) if other != place => self.add(place, Fault::SharedMethod(rust_name.to_owned())),
            Some(_) => {}
            None => drop(self.methods.insert(rust_name, place.clone())),
        }
    }

    fn tools(&mut self) {
        let mut known = Vec::new();
        for tool in &self.design.tools {
            let place = Place::Item(ItemKind::Tool, tool.name.clone());
            self.item(&place, &tool.name, Some(&tool.description), &mut known, &tool.name);
            self.method(&place, &tool.rust_name);
            self.args(&place, &tool.args);
            self.references(&place, tool.output.schema());
            self.references(&place, tool.events.as_ref());
            if let Some(example) = &tool.example {
                let schema = self.design.types.close(&tool.args.schema);
                for issue in misfits(&schema, example) {
                    self.add(&place, Fault::BadExample(issue));
                }
            }
        }
    }

    fn args(&mut self, place: &Place, args: &ArgsDef) {
        if !is_object(&args.schema) {
            let found = NotAnObject { found: args.schema.to_string() };
            self.add(place, Fault::NotAnObject(found));
        }
        let properties = args.schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            // Null stands for an argument that is not given.
            let Some(default) = property.get("default").filter(|default| !default.is_null()) else {
                continue;
            };
            let mut schema = property.clone();
            if let (Value::Object(map), Some(defs)) = (&mut schema, args.schema.get("$defs")) {
                map.insert("$defs".into(), defs.clone());
            }
            if let Some(issue) = misfits(&self.design.types.close(&schema), default).into_iter().next() {
                let part = match place {
                    Place::Item(kind, item) => Place::Part(*kind, item.clone(), name.clone()),
                    other => other.clone(),
                };
                self.add(&part, Fault::BadArgumentDefault(issue.reason()));
            }
        }
        self.references(place, Some(&args.schema));
    }

    fn references(&mut self, place: &Place, schema: Option<&Value>) {
        let missing = schema.map(|schema| self.design.types.missing(schema));
        for name in missing.into_iter().flatten() {
            self.add(place, Fault::UnknownType(name));
        }
    }

    fn resources(&mut self) {
        let mut known = Vec::new();
        let mut shapes: Vec<(UriPattern, &str)> = Vec::new();
        for resource in &self.design.resources {
            let place = Place::Item(ItemKind::Resource, resource.name.clone());
            self.item(&place, &resource.name, Some(&resource.description), &mut known, &resource.name);
            self.method(&place, &resource.rust_name);
            self.references(&place, resource.output.schema());
            let part =
                |param: &ParamDef| Place::Part(ItemKind::Resource, resource.name.clone(), param.name.clone());
            for (at, param) in resource.params.iter().enumerate() {
                self.param(&part(param), param, &resource.params[..at]);
            }
            let pattern = match resource.pattern() {
                Ok(pattern) => pattern,
                Err(reason) => {
                    self.add(&place, Fault::BadUri { uri: resource.uri.clone(), reason });
                    continue;
                }
            };
            for name in pattern.path_variables() {
                match resource.params.iter().find(|param| param.name == name) {
                    None => self.add(&place, Fault::UnknownVariable(name.to_owned())),
                    Some(param) if param.repeated || param.default.is_some() => {
                        self.add(&part(param), Fault::LooseVariable);
                    }
                    Some(_) => {}
                }
            }
            let params = &resource.params;
            for name in
                pattern.query_variables().filter(|name| !params.iter().any(|param| param.name == *name))
            {
                self.add(&place, Fault::UnknownVariable(name.to_owned()));
            }
            if let Some((_, other)) = shapes.iter().find(|(shape, _)| shape.has_same_uris(&pattern)) {
                self.add(&place, Fault::SameUris((*other).to_owned()));
            }
            shapes.push((pattern, &resource.name));
        }
    }

    fn param(&mut self, place: &Place, param: &ParamDef, before: &[ParamDef]) {
        if param.name.is_empty() {
            self.add(place, Fault::NoName);
        }
        if before.iter().any(|other| other.name == param.name) {
            self.add(place, Fault::Duplicate);
        }
        if matches!(&param.kind, ParamKind::Choice { values } if values.is_empty()) {
            self.add(place, Fault::NoChoice);
        }
        if param.default.as_ref().is_some_and(|default| !param.takes(default)) {
            self.add(place, Fault::BadDefault);
        }
    }

    fn prompts(&mut self) {
        let mut known = Vec::new();
        for prompt in &self.design.prompts {
            let place = Place::Item(ItemKind::Prompt, prompt.name.clone());
            self.item(&place, &prompt.name, Some(&prompt.description), &mut known, &prompt.name);
            self.method(&place, &prompt.rust_name);
            for (at, argument) in prompt.arguments.iter().enumerate() {
                let part = Place::Part(ItemKind::Prompt, prompt.name.clone(), argument.name.clone());
                self.param(&part, argument, &prompt.arguments[..at]);
                if argument.repeated {
                    self.add(&part, Fault::ListArgument);
                }
            }
            if matches!(&prompt.body, PromptBody::Static { messages } if messages.is_empty()) {
                self.add(&place, Fault::NoMessages);
            }
            if let Some(example) = &prompt.example {
                for issue in misfits(&prompt.schema(), example) {
                    self.add(&place, Fault::BadExample(issue));
                }
            }
        }
    }

    fn watches(&mut self) {
        let mut known: Vec<&str> = Vec::new();
        for watch in &self.design.watches {
            let place = Place::Item(ItemKind::Watch, watch.resource.clone());
            match self.design.resources.iter().find(|resource| resource.name == watch.resource) {
                None => self.add(&place, Fault::UnknownResource),
                Some(resource) if !resource.watch => self.add(&place, Fault::NotWatchable),
                Some(_) => {}
            }
            if known.contains(&watch.resource.as_str()) {
                self.add(&place, Fault::Duplicate);
            }
            known.push(&watch.resource);
            self.method(&place, &watch.rust_name);
        }
    }

    fn notifications(&mut self) {
        let mut known = Vec::new();
        for event in &self.design.notifications {
            let place = Place::Item(ItemKind::Notification, event.name.clone());
            self.item(&place, &event.name, Some(&event.description), &mut known, &event.name);
            self.method(&place, &event.rust_name);
            self.references(&place, Some(&event.payload));
        }
    }

    fn methods(&mut self) {
        let mut known = Vec::new();
        for method in &self.design.rpc_only {
            let place = Place::Item(ItemKind::Method, method.name.clone());
            self.item(&place, &method.name, None, &mut known, &method.name);
            self.method(&place, &method.rust_name);
            self.args(&place, &method.args);
            self.references(&place, method.output.schema());
            if method.scope == MethodScope::Rpc && self.design.rpc.is_none() {
                self.add(&place, Fault::Unmapped);
            }
        }
    }

    fn types(&mut self) {
        for (name, schema) in self.design.types.iter() {
            self.references(&Place::Item(ItemKind::Type, name.to_owned()), Some(schema));
        }
    }
}
