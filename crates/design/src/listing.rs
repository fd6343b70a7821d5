//! Converts the items of a design to the protocol types of `tools/list`, `resources/list` and `prompts/list`.
//!
//! Lists are in order of declaration and independent of the protocol revision: lowering removes fields that older
//! revisions lack. [`OutputSchemaPolicy`] is the one choice that the caller makes per revision.

use serde_json::{Value, json};
use switchboard_protocol::{
    CacheHints, Implementation, ListCapability, Prompt, PromptArgument, Raw, Resource, ResourceTemplate,
    ResourcesCapability, ServerCapabilities, Tool, ToolExecution,
};

use crate::ir::{Design, OutputDef, ParamDef, ResourceDef, ToolDef};
use crate::schema::{declared_order_text, is_object, wrap_in_result};
use crate::uri::{Route, UriPolicy};

/// The listed output schema of a tool whose structured result is not an object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutputSchemaPolicy {
    /// The schema unchanged, for revisions in which structured content can be any JSON value.
    AsIs,
    /// No schema; the result is sent as text only.
    #[default]
    ObjectsOnly,
    /// The schema of an object with the member `result`; results must be wrapped in the same way.
    Wrapped,
}

impl OutputSchemaPolicy {
    /// Returns the schema to list for an output. It may refer to the shared types of the design.
    pub fn schema(self, output: &OutputDef) -> Option<serde_json::Value> {
        let schema = output.schema()?;
        match self {
            _ if is_object(schema) => Some(schema.clone()),
            Self::AsIs => Some(schema.clone()),
            Self::ObjectsOnly => None,
            Self::Wrapped => Some(wrap_in_result(schema)),
        }
    }
}

impl Design {
    /// Returns name and version for the handshake.
    pub fn implementation(&self) -> Implementation {
        let mut implementation = Implementation::new(self.name.clone(), self.version.clone());
        implementation.title.clone_from(&self.title);
        implementation.description.clone_from(&self.description);
        implementation
    }

    /// Returns the capabilities that follow from the design: tools, prompts and resources if it has any.
    ///
    /// The server adds list changes, logging, completion and tasks.
    pub fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = (!self.tools.is_empty()).then(ListCapability::default);
        capabilities.prompts = (!self.prompts.is_empty()).then(ListCapability::default);
        capabilities.resources = (!self.resources.is_empty()).then(|| {
            let watchable = self.resources.iter().any(|resource| resource.watch);
            let resources = ResourcesCapability::default();
            if watchable { resources.with_subscribe(true) } else { resources }
        });
        capabilities
    }

    /// Returns the tools for `tools/list`.
    pub fn list_tools(&self, policy: OutputSchemaPolicy) -> Vec<Tool> {
        self.tools.iter().map(|tool| self.list_tool(tool, policy)).collect()
    }

    /// Returns one tool for `tools/list`.
    pub fn list_tool(&self, tool: &ToolDef, policy: OutputSchemaPolicy) -> Tool {
        let mut schema = self.types.bundle(&tool.args.schema);
        if let (Some(example), Value::Object(map)) = (&tool.example, &mut schema) {
            map.entry("examples").or_insert_with(|| json!([example]));
        }
        // Properties in order of declaration are easier to read for models and people.
        let text = Raw::parse(declared_order_text(&schema, &tool.args.order));
        let mut listed = Tool::new(tool.name.clone(), text.unwrap_or_else(|_| Raw::from(schema)));
        listed.title.clone_from(&tool.title);
        listed.description =
            Some(description_with_deprecation(&tool.description, tool.deprecated.as_deref()));
        listed.output_schema =
            policy.schema(&tool.output).map(|schema| Raw::from(self.types.bundle(&schema)));
        listed.annotations.clone_from(&tool.annotations);
        listed.execution = tool.task.support().map(ToolExecution::new);
        listed.icons = (!tool.icons.is_empty()).then(|| tool.icons.clone());
        listed
    }

    /// Returns the resources for `resources/list`: those that can be read without arguments and that the policy shows.
    ///
    /// Resources with an invalid URI are omitted; [`Design::check`] reports them.
    pub fn list_resources(&self, policy: &UriPolicy) -> Vec<Resource> {
        let listed = |resource: &ResourceDef| {
            let route = Route::new(resource).ok().filter(Route::needs_no_arguments)?;
            let uri = route.pattern().fixed_uri().filter(|_| policy.shows(route.pattern()))?;
            let mut listed = Resource::new(uri, resource.name.clone());
            listed.title.clone_from(&resource.title);
            listed.description =
                Some(description_with_deprecation(&resource.description, resource.deprecated.as_deref()));
            listed.mime_type.clone_from(&resource.mime);
            listed.icons = (!resource.icons.is_empty()).then(|| resource.icons.clone());
            Some(listed)
        };
        self.resources.iter().filter_map(listed).collect()
    }

    /// Returns the templates for `resources/templates/list`: the resources with parameters that the policy shows.
    ///
    /// Resources with an invalid URI are omitted; [`Design::check`] reports them.
    pub fn list_templates(&self, policy: &UriPolicy) -> Vec<ResourceTemplate> {
        let listed = |resource: &ResourceDef| {
            let pattern = resource.pattern().ok().filter(|pattern| policy.shows(pattern))?;
            if pattern.fixed_uri().is_some() && pattern.query_variables().next().is_none() {
                return None;
            }
            let mut listed = ResourceTemplate::new(pattern.to_string(), resource.name.clone());
            listed.title.clone_from(&resource.title);
            listed.description =
                Some(description_with_deprecation(&resource.description, resource.deprecated.as_deref()));
            listed.mime_type.clone_from(&resource.mime);
            listed.icons = (!resource.icons.is_empty()).then(|| resource.icons.clone());
            Some(listed)
        };
        self.resources.iter().filter_map(listed).collect()
    }

    /// Returns the prompts for `prompts/list`.
    pub fn list_prompts(&self) -> Vec<Prompt> {
        let argument = |argument: &ParamDef| {
            let mut listed = PromptArgument::new(argument.name.clone());
            listed.title.clone_from(&argument.title);
            listed.description.clone_from(&argument.description);
            listed.required = Some(argument.required);
            listed
        };
        let listed = |prompt: &crate::ir::PromptDef| {
            let mut listed = Prompt::new(prompt.name.clone());
            listed.title.clone_from(&prompt.title);
            listed.description =
                Some(description_with_deprecation(&prompt.description, prompt.deprecated.as_deref()));
            listed.arguments =
                (!prompt.arguments.is_empty()).then(|| prompt.arguments.iter().map(argument).collect());
            listed.icons = (!prompt.icons.is_empty()).then(|| prompt.icons.clone());
            listed
        };
        self.prompts.iter().map(listed).collect()
    }
}

impl ResourceDef {
    /// Returns the cache hints of the content.
    pub fn cache_hints(&self) -> CacheHints {
        let mut hints = CacheHints::default();
        (hints.ttl_ms, hints.cache_scope) = (self.ttl_ms, self.cache_scope);
        hints
    }
}

/// Returns the description, preceded by the reason for a deprecation.
fn description_with_deprecation(description: &str, deprecated: Option<&str>) -> String {
    match deprecated {
        Some(reason) => format!("Deprecated: {reason}\n\n{description}"),
        None => description.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;
    use crate::tests::sample::assistant;

    fn value<T: Serialize>(value: &T) -> Value {
        serde_json::to_value(value).unwrap()
    }

    #[test]
    fn tools_are_listed_in_order_with_self_contained_schemas() {
        let listed = value(&assistant().list_tools(OutputSchemaPolicy::ObjectsOnly));
        assert_eq!(
            listed[0],
            json!({
                "name": "analyze_sentiment",
                "description": "Analyze sentiment of text",
                "inputSchema": {
                    "type": "object",
                    "properties": {"text": {"type": "string", "minLength": 1, "description": "Input text to analyze"}},
                    "required": ["text"],
                    "additionalProperties": false,
                    "examples": [{"text": "I love this new feature!"}],
                },
                "outputSchema": {
                    "type": "object",
                    "properties": {"sentiment": {"type": "string"}, "score": {"type": "number"}},
                    "required": ["sentiment", "score"],
                },
                "annotations": {"readOnlyHint": true},
            })
        );
        assert_eq!(listed[1]["name"], "search_knowledge");
        assert_eq!(listed[1]["inputSchema"]["$defs"]["Filter"]["type"], "object");
        assert_eq!(listed[1].get("outputSchema"), None);
        assert_eq!(listed[2]["name"], "clear");
        assert_eq!(listed[2]["execution"], json!({"taskSupport": "optional"}));
        assert_eq!(
            listed[2]["inputSchema"],
            json!({"type": "object", "properties": {}, "additionalProperties": false})
        );
    }

    #[test]
    fn v12_the_listed_schema_has_the_example_and_the_declared_order() {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string"}, "z": {"type": "integer"}}});
        let args = crate::ir::ArgsDef::new(schema).unwrap().with_order(["z", "a"]);
        let tool = ToolDef::new("t", "T").with_args(args).with_example(json!({"z": 1}));
        let listed = Design::new("d", "1").with_tools([tool]).list_tools(OutputSchemaPolicy::AsIs);
        let text = listed[0].input_schema.as_str();
        assert!(text.contains(r#""properties":{"z":{"type":"integer"},"a":{"type":"string"}}"#), "{text}");
        assert!(text.contains(r#""examples":[{"z":1}]"#), "{text}");
    }

    #[test]
    fn only_available_capabilities_are_declared() {
        let expected = json!({"tools": {}, "prompts": {}, "resources": {"subscribe": true}});
        assert_eq!(value(&assistant().capabilities()), expected);
        let resource = ResourceDef::new("r", "x://r", "Reads");
        let plain = Design::new("d", "1").with_resources([resource]);
        assert_eq!(value(&plain.capabilities()), json!({"resources": {}}));
        assert_eq!(value(&plain.implementation()), json!({"name": "d", "version": "1"}));
    }

    #[test]
    fn a_non_object_result_is_listed_by_the_policy() {
        let design = assistant();
        let schema = |policy| value(&design.list_tools(policy)[1]).get("outputSchema").cloned();
        let list = json!({"type": "array", "items": {"type": "string"}});
        assert_eq!(schema(OutputSchemaPolicy::AsIs), Some(list.clone()));
        assert_eq!(schema(OutputSchemaPolicy::ObjectsOnly), None);
        let wrapped = json!({"type": "object", "properties": {"result": list}, "required": ["result"]});
        assert_eq!(schema(OutputSchemaPolicy::Wrapped), Some(wrapped));
    }

    #[test]
    fn a_resource_is_listed_where_it_can_be_read_without_arguments() {
        let design = assistant();
        let all = UriPolicy::default();
        let uris: Vec<String> = design.list_resources(&all).into_iter().map(|listed| listed.uri).collect();
        assert_eq!(uris, ["doc://list", "conversation://history", "status://system"]);
        let templates: Vec<String> =
            design.list_templates(&all).into_iter().map(|listed| listed.uri_template).collect();
        assert_eq!(templates, ["doc://files/{id}", "conversation://history{?limit,flag,nums*}"]);
        let fewer = UriPolicy::new([""; 0], ["doc://**"]).unwrap();
        assert_eq!(design.list_resources(&fewer).len(), 2);
        assert_eq!(design.list_templates(&fewer).len(), 1);
    }

    #[test]
    fn prompts_are_listed_with_their_arguments() {
        let listed = value(&assistant().list_prompts());
        assert_eq!(
            listed[1],
            json!({
                "name": "contextual_prompts",
                "description": "Generate prompts based on context",
                "arguments": [
                    {"name": "context", "description": "Where we are", "required": true},
                    {"name": "task", "required": false},
                ],
            })
        );
    }

    #[test]
    fn a_deprecation_precedes_the_description() {
        let mut design = assistant();
        design.tools[0].deprecated = Some("use `classify`".into());
        let listed = design.list_tools(OutputSchemaPolicy::AsIs);
        assert_eq!(
            listed[0].description.as_deref(),
            Some("Deprecated: use `classify`\n\nAnalyze sentiment of text")
        );
    }

    #[test]
    fn a_design_round_trips_and_matches_its_json_schema() {
        let design = assistant();
        let text = serde_json::to_string(&design).unwrap();
        assert_eq!(serde_json::from_str::<Design>(&text).unwrap(), design);
        let json: Value = serde_json::from_str(&text).unwrap();
        let validator = crate::schema::Validator::new(&Design::json_schema()).unwrap();
        assert_eq!(validator.issues(&json), []);
        assert_eq!(validator.is_valid(&json!({"name": "x"})), Ok(false));
    }
}
