//! Compiles a schema to a [`Validator`].

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use super::equality::values_equal;
use super::format::Format;
use super::index::{MAX_SCHEMAS, SchemaIndex};
use super::keywords::Draft;
use super::node::{
    ACCEPT_ALL, Applicator, ArrayRules, CompiledPattern, ContainsRule, Node, NodeId, NumberRules,
    ObjectRules, PatternId, REJECT_ALL, ResourceId, TextRules, TypeSet, UnevaluatedRules,
};
use super::number::Decimal;
use super::options::ValidatorOptions;
use super::pattern::{PatternMatcher, Reservation, UncheckedPattern};

/// A compiled schema.
///
/// ```
/// use serde_json::json;
/// use switchboard::service::design::schema::{ValidationOutcome, Validator};
///
/// let validator = Validator::new(&json!({"type": "object", "properties": {"a": {"type": "number"}}}))?;
/// assert_eq!(validator.validate(&json!({"a": 1})), ValidationOutcome::Valid);
/// let ValidationOutcome::Invalid(issues) = validator.validate(&json!({"a": "x"})) else { panic!() };
/// assert_eq!(issues[0].to_string(), "`a` must be a number; got \"x\"");
/// # Ok::<(), switchboard::service::design::schema::SchemaError>(())
/// ```
#[derive(Debug)]
pub struct Validator {
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
    pub(super) patterns: Vec<CompiledPattern>,
    /// Schemas by resource and dynamic anchor.
    pub(super) dynamic: HashMap<(ResourceId, u32), NodeId>,
    pub(super) is_dynamic: bool,
    pub(super) max_steps: u64,
    pub(super) skips_nulls: bool,
    unchecked: Vec<String>,
    /// The reservations of unchecked patterns.
    _reserved: Vec<Reservation>,
}

/// The error of compiling a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The document is not an object or a boolean.
    #[error("a schema must be an object or a boolean")]
    NotASchema,
    /// A keyword has an invalid value.
    #[error("the keyword `{0}` has an invalid value")]
    Keyword(&'static str),
    /// A reference does not resolve within the document.
    #[error("the reference {0:?} does not point to a schema in the same document")]
    Reference(String),
    /// Too many schemas, or a URI that is too long.
    #[error("the schema has more than {MAX_SCHEMAS} subschemas, or a URI longer than 8 KiB")]
    TooLarge,
}

impl Validator {
    /// Compiles a schema with the default options.
    ///
    /// # Errors
    /// When the schema is malformed, too large, or refers to another document.
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
        Self::with_options(schema, &ValidatorOptions::new())
    }

    /// Compiles a schema.
    ///
    /// # Errors
    /// When the schema is malformed, too large, or refers to another document.
    pub fn with_options(schema: &Value, options: &ValidatorOptions) -> Result<Self, SchemaError> {
        let index = SchemaIndex::new(schema)?;
        let mut compiler = Compiler {
            index,
            options,
            nodes: vec![Node { is_leaf: true, ..Node::default() }, Node { never: true, ..Node::default() }],
            ids: HashMap::new(),
            pending: Vec::new(),
            patterns: Vec::new(),
            known_patterns: HashMap::new(),
            unchecked: Vec::new(),
            reserved: Vec::new(),
            anchors: HashMap::new(),
        };
        let root = compiler.node(schema, 0)?;
        while let Some((id, map, resource)) = compiler.pending.pop() {
            let node = compiler.compile(map, resource)?;
            compiler.nodes[id as usize] = node;
        }
        let dynamic = compiler.dynamic_targets()?;
        let is_dynamic = !compiler.anchors.is_empty();
        let Compiler { nodes, patterns, unchecked, reserved: _reserved, .. } = compiler;
        let ValidatorOptions { max_steps, skip_optional_nulls: skips_nulls, .. } = *options;
        Ok(Self { nodes, root, patterns, dynamic, is_dynamic, max_steps, skips_nulls, unchecked, _reserved })
    }

    /// Returns a sentence for each unchecked pattern: unsupported or too large.
    pub fn unchecked(&self) -> &[String] {
        &self.unchecked
    }
}

struct Compiler<'s, 'o> {
    index: SchemaIndex<'s>,
    options: &'o ValidatorOptions,
    nodes: Vec<Node>,
    /// Nodes by the address of their schema.
    ids: HashMap<*const Value, NodeId>,
    pending: Vec<(NodeId, &'s Map<String, Value>, ResourceId)>,
    patterns: Vec<CompiledPattern>,
    known_patterns: HashMap<&'s str, PatternId>,
    unchecked: Vec<String>,
    reserved: Vec<Reservation>,
    /// The numbers of the referenced dynamic anchors.
    anchors: HashMap<&'s str, u32>,
}

type CompileResult<T> = Result<T, SchemaError>;

impl<'s> Compiler<'s, '_> {
    /// Returns the node of a schema. A new schema is compiled later.
    fn node(&mut self, schema: &'s Value, inherited: ResourceId) -> CompileResult<NodeId> {
        let map = match schema {
            Value::Bool(true) => return Ok(ACCEPT_ALL),
            Value::Bool(false) => return Ok(REJECT_ALL),
            Value::Object(map) if map.is_empty() => return Ok(ACCEPT_ALL),
            Value::Object(map) => map,
            _ => return Err(SchemaError::NotASchema),
        };
        if let Some(id) = self.ids.get(&std::ptr::from_ref(schema)) {
            return Ok(*id);
        }
        if self.nodes.len() > MAX_SCHEMAS + 1 {
            return Err(SchemaError::TooLarge);
        }
        let id = self.nodes.len() as NodeId;
        self.nodes.push(Node::default());
        self.ids.insert(schema, id);
        self.pending.push((id, map, self.index.owner(schema, inherited)));
        Ok(id)
    }

    /// Returns the nodes of all referenced dynamic anchors. Compiling them may find further references.
    fn dynamic_targets(&mut self) -> CompileResult<HashMap<(ResourceId, u32), NodeId>> {
        let mut targets = HashMap::new();
        loop {
            let found: Vec<(ResourceId, u32, &'s Value)> = self
                .index
                .dynamic
                .iter()
                .filter_map(|((owner, name), schema)| Some((*owner, *self.anchors.get(name)?, *schema)))
                .collect();
            for (owner, anchor, schema) in found {
                let id = self.node(schema, owner)?;
                targets.insert((owner, anchor), id);
            }
            if self.pending.is_empty() {
                return Ok(targets);
            }
            while let Some((id, map, resource)) = self.pending.pop() {
                let node = self.compile(map, resource)?;
                self.nodes[id as usize] = node;
            }
        }
    }

    fn compile(&mut self, map: &'s Map<String, Value>, resource: ResourceId) -> CompileResult<Node> {
        let draft = self.index.resources[resource as usize].draft;
        let mut node = Node { resource, ..Node::default() };
        if draft.ref_ignores_siblings() && map.contains_key("$ref") {
            node.applicators.extend(self.references(map, resource, draft)?);
            return Ok(node);
        }
        node.types = types(map)?;
        node.values = values(map, draft)?;
        node.number = number_rules(map, draft)?.map(Box::new);
        node.text = self.text_rules(map)?.map(Box::new);
        node.object = self.object_rules(map, resource, draft)?.map(Box::new);
        node.array = self.array_rules(map, resource, draft)?.map(Box::new);
        node.applicators = self.references(map, resource, draft)?;
        self.combinations(map, resource, draft, &mut node.applicators)?;
        if !draft.ref_ignores_siblings() {
            let properties = self.other_members(map, "unevaluatedProperties", resource)?;
            let items = self.subschema(map, "unevaluatedItems", resource)?;
            if properties.is_some() || items.is_some() {
                node.unevaluated = Some(Box::new(UnevaluatedRules { properties, items }));
            }
        }
        node.is_leaf = node.values.is_none()
            && node.number.is_none()
            && node.text.is_none()
            && node.object.is_none()
            && node.array.is_none()
            && node.applicators.is_empty()
            && node.unevaluated.is_none();
        Ok(node)
    }

    fn references(
        &mut self,
        map: &'s Map<String, Value>,
        resource: ResourceId,
        draft: Draft,
    ) -> CompileResult<Vec<Applicator>> {
        let mut found = Vec::new();
        if let Some(reference) = map.get("$ref") {
            let (_, target) = self.target(reference, resource)?;
            found.push(Applicator::Ref(target));
        }
        let dynamic = match draft {
            Draft::Draft202012 => map.get("$dynamicRef"),
            Draft::Draft201909 => map.get("$recursiveRef"),
            _ => None,
        };
        if let Some(reference) = dynamic {
            let ((schema, owner), initial) = self.target(reference, resource)?;
            let text = reference.as_str().unwrap_or_default();
            found.push(match self.index.dynamic_anchor(text, schema, owner) {
                Some(name) => {
                    let next = self.anchors.len() as u32;
                    Applicator::DynamicRef { initial, anchor: *self.anchors.entry(name).or_insert(next) }
                }
                None => Applicator::Ref(initial),
            });
        }
        Ok(found)
    }

    fn target(
        &mut self,
        reference: &Value,
        resource: ResourceId,
    ) -> CompileResult<((&'s Value, ResourceId), NodeId)> {
        let text = reference.as_str().ok_or(SchemaError::Keyword("$ref"))?;
        let unknown = || SchemaError::Reference(text.chars().take(200).collect());
        let (schema, owner) = self.index.target(resource, text).ok_or_else(unknown)?;
        let id = self.node(schema, owner).map_err(|error| match error {
            SchemaError::NotASchema => unknown(),
            other => other,
        })?;
        Ok(((schema, owner), id))
    }

    fn combinations(
        &mut self,
        map: &'s Map<String, Value>,
        resource: ResourceId,
        draft: Draft,
        applicators: &mut Vec<Applicator>,
    ) -> CompileResult<()> {
        if let Some(nodes) = self.subschemas(map, "allOf", resource)? {
            applicators.push(Applicator::AllOf(nodes));
        }
        if let Some(nodes) = self.subschemas(map, "anyOf", resource)? {
            applicators.push(Applicator::AnyOf(nodes));
        }
        if let Some(nodes) = self.subschemas(map, "oneOf", resource)? {
            applicators.push(Applicator::OneOf(nodes));
        }
        if let Some(node) = self.subschema(map, "not", resource)? {
            applicators.push(Applicator::Not(node));
        }
        if draft >= Draft::Draft7
            && let Some(condition) = self.subschema(map, "if", resource)?
        {
            let then = self.subschema(map, "then", resource)?.unwrap_or(ACCEPT_ALL);
            let otherwise = self.subschema(map, "else", resource)?.unwrap_or(ACCEPT_ALL);
            applicators.push(Applicator::If { condition, then, otherwise });
        }
        let schemas = map.get("dependentSchemas").filter(|_| !draft.ref_ignores_siblings());
        for (keyword, schemas) in [("dependentSchemas", schemas), ("dependencies", map.get("dependencies"))] {
            let Some(schemas) = schemas else { continue };
            let schemas = schemas.as_object().ok_or(SchemaError::Keyword(keyword))?;
            // Later drafts keep `dependencies` for compatibility. An array in it lists required members; see `object_rules`.
            let is_schema = |schema: &Value| keyword != "dependencies" || !schema.is_array();
            for (name, schema) in schemas.iter().filter(|(_, schema)| is_schema(schema)) {
                let (name, node) = (name.as_str().into(), self.node(schema, resource)?);
                applicators.push(Applicator::Dependent { name, node });
            }
        }
        Ok(())
    }

    fn text_rules(&mut self, map: &'s Map<String, Value>) -> CompileResult<Option<TextRules>> {
        let min = count(map, "minLength")?;
        let max = count(map, "maxLength")?;
        let pattern = match map.get("pattern") {
            Some(Value::String(pattern)) => self.pattern(pattern),
            Some(_) => return Err(SchemaError::Keyword("pattern")),
            None => None,
        };
        let format = map.get("format").and_then(Value::as_str).filter(|_| self.options.assert_formats);
        let format = format.and_then(Format::from_name);
        let is_any = min.is_some() || max.is_some() || pattern.is_some() || format.is_some();
        Ok(is_any.then_some(TextRules { min, max, pattern, format }))
    }

    fn pattern(&mut self, source: &'s str) -> PatternId {
        if let Some(known) = self.known_patterns.get(source) {
            return *known;
        }
        let id = match PatternMatcher::new(source, &self.options.patterns) {
            Ok(matcher) => {
                self.patterns.push(CompiledPattern { source: source.into(), matcher });
                Some((self.patterns.len() - 1) as u32)
            }
            Err(UncheckedPattern { reason, reserved }) => {
                self.reserved.extend(reserved);
                // A schema may have thousands of patterns.
                if self.unchecked.len() < 20 {
                    let shown: String = source.chars().take(100).collect();
                    self.unchecked.push(format!("the pattern {shown:?} is not checked: {reason}"));
                }
                None
            }
        };
        self.known_patterns.insert(source, id);
        id
    }

    fn object_rules(
        &mut self,
        map: &'s Map<String, Value>,
        resource: ResourceId,
        draft: Draft,
    ) -> CompileResult<Option<ObjectRules>> {
        let mut rules = ObjectRules {
            min: count(map, "minProperties")?,
            max: count(map, "maxProperties")?,
            ..ObjectRules::default()
        };
        if let Some(required) = map.get("required") {
            rules.required = names(required).ok_or(SchemaError::Keyword("required"))?;
        }
        let required = map.get("dependentRequired").filter(|_| !draft.ref_ignores_siblings());
        for (keyword, dependents) in
            [("dependentRequired", required), ("dependencies", map.get("dependencies"))]
        {
            let Some(dependents) = dependents else { continue };
            let dependents = dependents.as_object().ok_or(SchemaError::Keyword(keyword))?;
            for (name, others) in dependents.iter().filter(|(_, others)| others.is_array()) {
                let others = names(others).ok_or(SchemaError::Keyword(keyword))?;
                rules.dependent_required.push((name.as_str().into(), others));
            }
        }
        if let Some(properties) = map.get("properties") {
            let properties = properties.as_object().ok_or(SchemaError::Keyword("properties"))?;
            let mut nodes = Vec::with_capacity(properties.len());
            for (name, schema) in properties {
                nodes.push((Box::from(name.as_str()), self.node(schema, resource)?));
            }
            nodes.sort_unstable_by(|(one, _): &(Box<str>, NodeId), (other, _)| one.cmp(other));
            rules.properties = nodes.into();
        }
        if let Some(patterns) = map.get("patternProperties") {
            let patterns = patterns.as_object().ok_or(SchemaError::Keyword("patternProperties"))?;
            for (source, schema) in patterns {
                let pattern = self.pattern(source);
                rules.patterns.push((pattern, self.node(schema, resource)?));
            }
        }
        rules.additional = self.other_members(map, "additionalProperties", resource)?;
        if draft >= Draft::Draft6 {
            rules.names = self.subschema(map, "propertyNames", resource)?;
        }
        let is_any = rules.min.is_some()
            || rules.max.is_some()
            || !rules.required.is_empty()
            || !rules.dependent_required.is_empty()
            || rules.visits_members();
        Ok(is_any.then_some(rules))
    }

    fn array_rules(
        &mut self,
        map: &'s Map<String, Value>,
        resource: ResourceId,
        draft: Draft,
    ) -> CompileResult<Option<ArrayRules>> {
        let mut rules = ArrayRules {
            min: count(map, "minItems")?,
            max: count(map, "maxItems")?,
            unique: map.get("uniqueItems") == Some(&Value::Bool(true)),
            ..ArrayRules::default()
        };
        if draft == Draft::Draft202012
            && let Some(prefix) = self.subschemas(map, "prefixItems", resource)?
        {
            rules.prefix = prefix;
        }
        match map.get("items") {
            // Not part of 2020-12, but schemas without `$schema` are often older.
            Some(Value::Array(_)) => {
                rules.prefix = self.subschemas(map, "items", resource)?.unwrap_or_default();
                rules.items = self.subschema(map, "additionalItems", resource)?;
            }
            _ => rules.items = self.subschema(map, "items", resource)?,
        }
        if draft >= Draft::Draft6
            && let Some(node) = self.subschema(map, "contains", resource)?
        {
            let (mut min, mut max) = (1, None);
            if !draft.ref_ignores_siblings() {
                min = count(map, "minContains")?.unwrap_or(1);
                max = count(map, "maxContains")?;
            }
            rules.contains =
                Some(ContainsRule { node, min, max, counts_as_evaluated: draft == Draft::Draft202012 });
        }
        let is_any = rules.min.is_some()
            || rules.max.is_some()
            || rules.unique
            || !rules.prefix.is_empty()
            || rules.items.is_some()
            || rules.contains.is_some();
        Ok(is_any.then_some(rules))
    }

    fn subschema(
        &mut self,
        map: &'s Map<String, Value>,
        keyword: &'static str,
        resource: ResourceId,
    ) -> CompileResult<Option<NodeId>> {
        let Some(schema) = map.get(keyword) else { return Ok(None) };
        if !schema.is_object() && !schema.is_boolean() {
            return Err(SchemaError::Keyword(keyword));
        }
        self.node(schema, resource).map(Some)
    }

    /// Returns the schema of unnamed members, unless the options ignore them.
    fn other_members(
        &mut self,
        map: &'s Map<String, Value>,
        keyword: &'static str,
        resource: ResourceId,
    ) -> CompileResult<Option<NodeId>> {
        let node = self.subschema(map, keyword, resource)?;
        Ok(node.filter(|node| !(self.options.ignore_unknown_members && *node == REJECT_ALL)))
    }

    fn subschemas(
        &mut self,
        map: &'s Map<String, Value>,
        keyword: &'static str,
        resource: ResourceId,
    ) -> CompileResult<Option<Box<[NodeId]>>> {
        let Some(schemas) = map.get(keyword) else { return Ok(None) };
        let schemas = schemas.as_array().ok_or(SchemaError::Keyword(keyword))?;
        let nodes: CompileResult<Vec<NodeId>> =
            schemas.iter().map(|schema| self.node(schema, resource)).collect();
        Ok(Some(nodes?.into()))
    }
}

fn types(map: &Map<String, Value>) -> CompileResult<TypeSet> {
    let invalid = SchemaError::Keyword("type");
    match map.get("type") {
        None => Ok(TypeSet::default()),
        Some(Value::String(name)) => TypeSet::default().with(name).ok_or(invalid),
        Some(Value::Array(names)) if !names.is_empty() => {
            names.iter().try_fold(TypeSet::default(), |types, name| types.with(name.as_str()?)).ok_or(invalid)
        }
        Some(_) => Err(invalid),
    }
}

/// Returns the values of `enum` and `const`: those of `enum` that equal `const` if both are present.
fn values(map: &Map<String, Value>, draft: Draft) -> CompileResult<Option<Box<[Value]>>> {
    let constant = map.get("const").filter(|_| draft >= Draft::Draft6);
    match (map.get("enum"), constant) {
        (None, None) => Ok(None),
        (None, Some(constant)) => Ok(Some([constant.clone()].into())),
        (Some(Value::Array(values)), None) => Ok(Some(values.clone().into())),
        (Some(Value::Array(values)), Some(constant)) => {
            Ok(Some(values.iter().filter(|value| values_equal(value, constant)).cloned().collect()))
        }
        (Some(_), _) => Err(SchemaError::Keyword("enum")),
    }
}

fn number_rules(map: &Map<String, Value>, draft: Draft) -> CompileResult<Option<NumberRules>> {
    let bound = |keyword: &'static str| match map.get(keyword) {
        Some(Value::Number(bound)) => Ok(Some(bound.clone())),
        Some(Value::Bool(_)) if draft == Draft::Draft4 => Ok(None),
        Some(_) => Err(SchemaError::Keyword(keyword)),
        None => Ok(None),
    };
    let mut rules = NumberRules {
        minimum: bound("minimum")?,
        maximum: bound("maximum")?,
        above: bound("exclusiveMinimum")?,
        below: bound("exclusiveMaximum")?,
        multiple_of: None,
    };
    // In draft 4 these are booleans that make the other bound exclusive.
    if map.get("exclusiveMinimum") == Some(&Value::Bool(true)) {
        rules.above = rules.minimum.take();
    }
    if map.get("exclusiveMaximum") == Some(&Value::Bool(true)) {
        rules.below = rules.maximum.take();
    }
    if let Some(step) = bound("multipleOf")? {
        let invalid = SchemaError::Keyword("multipleOf");
        let decimal = Decimal::new(&step).filter(|step| !step.is_zero()).ok_or(invalid)?;
        rules.multiple_of = Some((step, decimal));
    }
    let bounds: [&Option<Number>; 4] = [&rules.minimum, &rules.maximum, &rules.above, &rules.below];
    let is_any = bounds.iter().any(|bound| bound.is_some()) || rules.multiple_of.is_some();
    Ok(is_any.then_some(rules))
}

/// Returns a non-negative integer, which may be written as `2.0`.
fn count(map: &Map<String, Value>, keyword: &'static str) -> CompileResult<Option<u64>> {
    let Some(value) = map.get(keyword) else { return Ok(None) };
    let float =
        || value.as_f64().filter(|float| *float >= 0.0 && float.fract() == 0.0).map(|float| float as u64);
    value.as_u64().or_else(float).map(Some).ok_or(SchemaError::Keyword(keyword))
}

fn names(value: &Value) -> Option<Box<[Box<str>]>> {
    value.as_array()?.iter().map(|name| name.as_str().map(Box::from)).collect()
}
