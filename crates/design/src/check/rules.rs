//! The rules of [`Design::check`](crate::Design::check): one function per kind of item.

use std::collections::HashMap;

use serde_json::Value;
use switchboard_protocol::Revision;

use super::{DesignError, DesignErrorKind, DesignLocation, ItemKind};
use crate::ir::{ArgsDef, Design, MethodScope, ParamDef, ParamKind, PromptBody};
use crate::schema::{NotAnObjectError, is_object, validation_issues};
use crate::uri::UriPattern;

/// The longest name that every client accepts (spec 2025-11-25, server/tools).
const MAX_NAME_LENGTH: usize = 128;

/// Collects the errors of one design.
struct Checker<'a> {
    design: &'a Design,
    errors: Vec<DesignError>,
    /// The item of each Rust method seen so far.
    methods: HashMap<&'a str, DesignLocation>,
}

pub(super) fn check(design: &Design) -> Vec<DesignError> {
    let mut checker = Checker { design, errors: Vec::new(), methods: HashMap::new() };
    checker.check_service();
    checker.check_tools();
    checker.check_resources();
    checker.check_prompts();
    checker.check_watches();
    checker.check_notifications();
    checker.check_methods();
    checker.check_types();
    checker.errors
}

impl<'a> Checker<'a> {
    fn add(&mut self, location: &DesignLocation, kind: DesignErrorKind) {
        self.errors.push(DesignError { location: location.clone(), kind });
    }

    fn check_service(&mut self) {
        if self.design.name.trim().is_empty() {
            self.add(&DesignLocation::Design, DesignErrorKind::NoName);
        }
        if self.design.version.trim().is_empty() {
            self.add(&DesignLocation::Design, DesignErrorKind::NoVersion);
        }
        let protocols = &self.design.protocols;
        for (index, name) in protocols.iter().enumerate() {
            if name.parse::<Revision>().is_err() {
                self.add(&DesignLocation::Design, DesignErrorKind::UnknownProtocol(name.clone()));
            }
            if protocols[..index].contains(name) {
                self.add(&DesignLocation::Design, DesignErrorKind::DuplicateProtocol(name.clone()));
            }
        }
        if let Some(path) = self.design.rpc.as_ref().filter(|path| !path.starts_with('/')) {
            self.add(&DesignLocation::Design, DesignErrorKind::BadEndpoint(path.clone()));
        }
    }

    /// Checks name and description of an item. `names` holds the names of the items of the same kind seen so far.
    fn check_item(
        &mut self,
        location: &DesignLocation,
        name: &'a str,
        description: Option<&str>,
        names: &mut Vec<&'a str>,
    ) {
        let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
        if name.is_empty() {
            self.add(location, DesignErrorKind::NoName);
        } else if name.len() > MAX_NAME_LENGTH || !name.chars().all(legal) {
            self.add(location, DesignErrorKind::BadName);
        }
        if description.is_some_and(|text| text.trim().is_empty()) {
            self.add(location, DesignErrorKind::NoDescription);
        }
        if names.contains(&name) {
            self.add(location, DesignErrorKind::Duplicate);
        }
        names.push(name);
    }

    /// Checks that no other item has the same Rust method.
    fn check_method(&mut self, location: &DesignLocation, rust_name: &'a str) {
        match self.methods.get(rust_name) {
            Some(other) if other != location => {
                self.add(location, DesignErrorKind::SharedMethod(rust_name.to_owned()))
            }
            Some(_) => {}
            None => drop(self.methods.insert(rust_name, location.clone())),
        }
    }

    fn check_tools(&mut self) {
        let mut names = Vec::new();
        for tool in &self.design.tools {
            let location = DesignLocation::Item(ItemKind::Tool, tool.name.clone());
            self.check_item(&location, &tool.name, Some(&tool.description), &mut names);
            self.check_method(&location, &tool.rust_name);
            self.check_args(&location, &tool.args);
            self.check_references(&location, tool.output.schema());
            self.check_references(&location, tool.events.as_ref());
            if let Some(example) = &tool.example {
                let schema = self.design.types.bundle(&tool.args.schema);
                for issue in validation_issues(&schema, example) {
                    self.add(&location, DesignErrorKind::BadExample(issue));
                }
            }
        }
    }

    fn check_args(&mut self, location: &DesignLocation, args: &ArgsDef) {
        if !is_object(&args.schema) {
            let error = NotAnObjectError { found: args.schema.to_string() };
            self.add(location, DesignErrorKind::NotAnObject(error));
        }
        let properties = args.schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            // A null default means that the argument is absent.
            let Some(default) = property.get("default").filter(|default| !default.is_null()) else {
                continue;
            };
            let mut schema = property.clone();
            if let (Value::Object(map), Some(defs)) = (&mut schema, args.schema.get("$defs")) {
                map.insert("$defs".into(), defs.clone());
            }
            if let Some(issue) =
                validation_issues(&self.design.types.bundle(&schema), default).into_iter().next()
            {
                let argument_location = match location {
                    DesignLocation::Item(kind, item) => {
                        DesignLocation::Argument(*kind, item.clone(), name.clone())
                    }
                    other => other.clone(),
                };
                self.add(&argument_location, DesignErrorKind::BadArgumentDefault(issue.reason()));
            }
        }
        self.check_references(location, Some(&args.schema));
    }

    /// Checks that every type a schema refers to exists.
    fn check_references(&mut self, location: &DesignLocation, schema: Option<&Value>) {
        let missing = schema.map(|schema| self.design.types.unresolved_references(schema));
        for name in missing.into_iter().flatten() {
            self.add(location, DesignErrorKind::UnknownType(name));
        }
    }

    fn check_resources(&mut self) {
        let mut names = Vec::new();
        let mut patterns: Vec<(UriPattern, &str)> = Vec::new();
        for resource in &self.design.resources {
            let location = DesignLocation::Item(ItemKind::Resource, resource.name.clone());
            self.check_item(&location, &resource.name, Some(&resource.description), &mut names);
            self.check_method(&location, &resource.rust_name);
            self.check_references(&location, resource.output.schema());
            let argument_location = |param: &ParamDef| {
                DesignLocation::Argument(ItemKind::Resource, resource.name.clone(), param.name.clone())
            };
            for (index, param) in resource.params.iter().enumerate() {
                self.check_param(&argument_location(param), param, &resource.params[..index]);
            }
            let pattern = match resource.pattern() {
                Ok(pattern) => pattern,
                Err(reason) => {
                    self.add(&location, DesignErrorKind::BadUri { uri: resource.uri.clone(), reason });
                    continue;
                }
            };
            for name in pattern.path_variables() {
                match resource.params.iter().find(|param| param.name == name) {
                    None => self.add(&location, DesignErrorKind::UnknownVariable(name.to_owned())),
                    Some(param) if param.repeated || param.default.is_some() => {
                        self.add(&argument_location(param), DesignErrorKind::OptionalPathVariable);
                    }
                    Some(_) => {}
                }
            }
            let params = &resource.params;
            for name in
                pattern.query_variables().filter(|name| !params.iter().any(|param| param.name == *name))
            {
                self.add(&location, DesignErrorKind::UnknownVariable(name.to_owned()));
            }
            if let Some((_, other)) = patterns.iter().find(|(known, _)| known.has_same_uris(&pattern)) {
                self.add(&location, DesignErrorKind::SameUris((*other).to_owned()));
            }
            patterns.push((pattern, &resource.name));
        }
    }

    /// Checks one parameter. `before` holds the parameters declared before it.
    fn check_param(&mut self, location: &DesignLocation, param: &ParamDef, before: &[ParamDef]) {
        if param.name.is_empty() {
            self.add(location, DesignErrorKind::NoName);
        }
        if before.iter().any(|other| other.name == param.name) {
            self.add(location, DesignErrorKind::Duplicate);
        }
        if matches!(&param.kind, ParamKind::Choice { values } if values.is_empty()) {
            self.add(location, DesignErrorKind::EmptyChoice);
        }
        if param.default.as_ref().is_some_and(|default| !param.accepts(default)) {
            self.add(location, DesignErrorKind::BadDefault);
        }
    }

    fn check_prompts(&mut self) {
        let mut names = Vec::new();
        for prompt in &self.design.prompts {
            let location = DesignLocation::Item(ItemKind::Prompt, prompt.name.clone());
            self.check_item(&location, &prompt.name, Some(&prompt.description), &mut names);
            self.check_method(&location, &prompt.rust_name);
            for (index, argument) in prompt.arguments.iter().enumerate() {
                let argument_location =
                    DesignLocation::Argument(ItemKind::Prompt, prompt.name.clone(), argument.name.clone());
                self.check_param(&argument_location, argument, &prompt.arguments[..index]);
                if argument.repeated {
                    self.add(&argument_location, DesignErrorKind::ListArgument);
                }
            }
            if matches!(&prompt.body, PromptBody::Static { messages } if messages.is_empty()) {
                self.add(&location, DesignErrorKind::NoMessages);
            }
            if let Some(example) = &prompt.example {
                for issue in validation_issues(&prompt.schema(), example) {
                    self.add(&location, DesignErrorKind::BadExample(issue));
                }
            }
        }
    }

    fn check_watches(&mut self) {
        let mut names: Vec<&str> = Vec::new();
        for watch in &self.design.watches {
            let location = DesignLocation::Item(ItemKind::Watch, watch.resource.clone());
            match self.design.resources.iter().find(|resource| resource.name == watch.resource) {
                None => self.add(&location, DesignErrorKind::UnknownResource),
                Some(resource) if !resource.watch => self.add(&location, DesignErrorKind::NotWatchable),
                Some(_) => {}
            }
            if names.contains(&watch.resource.as_str()) {
                self.add(&location, DesignErrorKind::Duplicate);
            }
            names.push(&watch.resource);
            self.check_method(&location, &watch.rust_name);
        }
    }

    fn check_notifications(&mut self) {
        let mut names = Vec::new();
        for event in &self.design.notifications {
            let location = DesignLocation::Item(ItemKind::Notification, event.name.clone());
            self.check_item(&location, &event.name, Some(&event.description), &mut names);
            self.check_method(&location, &event.rust_name);
            self.check_references(&location, Some(&event.payload));
        }
    }

    fn check_methods(&mut self) {
        let mut names = Vec::new();
        for method in &self.design.rpc_only {
            let location = DesignLocation::Item(ItemKind::Method, method.name.clone());
            self.check_item(&location, &method.name, None, &mut names);
            self.check_method(&location, &method.rust_name);
            self.check_args(&location, &method.args);
            self.check_references(&location, method.output.schema());
            if method.scope == MethodScope::Rpc && self.design.rpc.is_none() {
                self.add(&location, DesignErrorKind::Unmapped);
            }
        }
    }

    fn check_types(&mut self) {
        for (name, schema) in self.design.types.iter() {
            self.check_references(&DesignLocation::Item(ItemKind::Type, name.to_owned()), Some(schema));
        }
    }
}
