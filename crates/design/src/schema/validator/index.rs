//! The index of resources and anchors of a schema document, built before compiling because references can point forward.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::compile::SchemaError;
use super::keywords::{Draft, KeywordContent, keyword_content};
use super::node::ResourceId;
use super::uri_reference;
use crate::percent;

/// The maximum number of schemas in a document, including subschemas.
pub(super) const MAX_SCHEMAS: usize = 10_000;
/// The maximum length of an absolute URI.
const MAX_URI: usize = 8 * 1024;

/// A schema resource: the root, or a subschema with its own `$id`.
#[derive(Debug)]
pub(super) struct SchemaResource<'s> {
    pub(super) uri: String,
    pub(super) root: &'s Value,
    pub(super) draft: Draft,
}

/// Finds the schema that a `$ref` or `$dynamicRef` names: resources by URI, anchors by resource and name.
#[derive(Debug)]
pub(super) struct SchemaIndex<'s> {
    pub(super) resources: Vec<SchemaResource<'s>>,
    by_uri: HashMap<String, ResourceId>,
    /// The resource that each schema belongs to, by address.
    owners: HashMap<*const Value, ResourceId>,
    anchors: HashMap<(ResourceId, &'s str), &'s Value>,
    /// Dynamic anchors (`$dynamicAnchor`).
    pub(super) dynamic: HashMap<(ResourceId, &'s str), &'s Value>,
}

impl<'s> SchemaIndex<'s> {
    pub(super) fn new(root: &'s Value) -> Result<Self, SchemaError> {
        let resource = SchemaResource { uri: String::new(), root, draft: Draft::Draft202012 };
        let mut index = Self {
            resources: vec![resource],
            by_uri: HashMap::from([(String::new(), 0)]),
            owners: HashMap::new(),
            anchors: HashMap::new(),
            dynamic: HashMap::new(),
        };
        let mut pending = vec![(root, 0)];
        while let Some((schema, owner)) = pending.pop() {
            let Some(map) = schema.as_object() else { continue };
            let owner = index.enter(schema, map, owner)?;
            index.owners.insert(schema, owner);
            if index.owners.len() > MAX_SCHEMAS {
                return Err(SchemaError::TooLarge);
            }
            for (keyword, value) in map {
                match (keyword_content(keyword), value) {
                    (KeywordContent::Schema, schema @ Value::Object(_)) => pending.push((schema, owner)),
                    (KeywordContent::Schema | KeywordContent::SchemaArray, Value::Array(schemas)) => {
                        pending.extend(schemas.iter().map(|schema| (schema, owner)));
                    }
                    (KeywordContent::SchemaMap, Value::Object(schemas)) => {
                        pending.extend(schemas.values().map(|schema| (schema, owner)));
                    }
                    _ => {}
                }
            }
        }
        Ok(index)
    }

    /// Registers the identifiers of a schema and returns the resource it belongs to.
    fn enter(
        &mut self,
        schema: &'s Value,
        map: &'s Map<String, Value>,
        owner: ResourceId,
    ) -> Result<ResourceId, SchemaError> {
        let text = |keyword: &str| map.get(keyword).and_then(Value::as_str);
        let is_root = std::ptr::eq(schema, self.resources[owner as usize].root);
        let declared = text("$schema").and_then(Draft::from_uri);
        let mut owner = owner;
        if is_root && let Some(draft) = declared {
            self.resources[owner as usize].draft = draft;
        }
        let draft = declared.unwrap_or(self.resources[owner as usize].draft);
        let id = text(if draft == Draft::Draft4 { "id" } else { "$id" });
        if let Some(id) = id.filter(|_| !(draft.ref_ignores_siblings() && map.contains_key("$ref"))) {
            let (before, fragment) = uri_reference::split_fragment(id);
            if !before.is_empty() {
                let absolute = uri_reference::resolve(&self.resources[owner as usize].uri, before);
                if absolute.len() > MAX_URI {
                    return Err(SchemaError::TooLarge);
                }
                if is_root {
                    self.resources[owner as usize].uri.clone_from(&absolute);
                } else {
                    self.resources.push(SchemaResource { uri: absolute.clone(), root: schema, draft });
                    owner = (self.resources.len() - 1) as ResourceId;
                }
                self.by_uri.entry(absolute).or_insert(owner);
            }
            if let Some(name) = fragment.filter(|name| !name.is_empty() && draft.ref_ignores_siblings()) {
                self.anchors.entry((owner, name)).or_insert(schema);
            }
        }
        if !draft.ref_ignores_siblings() {
            for anchor in [text("$anchor"), text("$dynamicAnchor")].into_iter().flatten() {
                self.anchors.entry((owner, anchor)).or_insert(schema);
            }
        }
        if let Some(anchor) = text("$dynamicAnchor").filter(|_| draft == Draft::Draft202012) {
            self.dynamic.entry((owner, anchor)).or_insert(schema);
        }
        if draft == Draft::Draft201909 && map.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.dynamic.entry((owner, "")).or_insert(schema);
        }
        Ok(owner)
    }

    /// Returns the resource of a schema; `inherited` for a schema under an unknown keyword.
    pub(super) fn owner(&self, schema: &Value, inherited: ResourceId) -> ResourceId {
        self.owners.get(&std::ptr::from_ref(schema)).copied().unwrap_or(inherited)
    }

    /// Returns the target of a reference, with its resource.
    pub(super) fn target(&self, from: ResourceId, reference: &str) -> Option<(&'s Value, ResourceId)> {
        let (before, fragment) = uri_reference::split_fragment(reference);
        let resource = if before.is_empty() {
            from
        } else {
            let absolute = uri_reference::resolve(&self.resources[from as usize].uri, before);
            *self.by_uri.get(&absolute)?
        };
        let root = self.resources[resource as usize].root;
        let fragment = percent::decode(fragment.unwrap_or(""))?;
        if fragment.is_empty() {
            return Some((root, resource));
        }
        let Some(pointer) = fragment.strip_prefix('/') else {
            let schema = *self.anchors.get(&(resource, fragment.as_str()))?;
            return Some((schema, self.owner(schema, resource)));
        };
        let (mut schema, mut owner) = (root, resource);
        for part in pointer.split('/') {
            let part = part.replace("~1", "/").replace("~0", "~");
            schema = match schema {
                Value::Object(map) => map.get(&part)?,
                Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
            owner = self.owner(schema, owner);
        }
        Some((schema, owner))
    }

    /// Returns the dynamic anchor that a `$dynamicRef` resolves through, if any.
    pub(super) fn dynamic_anchor(
        &self,
        reference: &'s str,
        target: &Value,
        owner: ResourceId,
    ) -> Option<&'s str> {
        let fragment = uri_reference::split_fragment(reference).1?;
        let ((_, name), schema) = self.dynamic.get_key_value(&(owner, fragment))?;
        std::ptr::eq(*schema, target).then_some(*name)
    }
}
