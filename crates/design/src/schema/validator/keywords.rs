//! JSON Schema drafts, and the keywords that contain schemas.

/// A draft of JSON Schema. Without `$schema` it is 2020-12, as MCP specifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
}

impl Draft {
    pub(super) fn from_uri(uri: &str) -> Option<Self> {
        let uri = uri.trim_end_matches('#');
        let name = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        match name {
            "json-schema.org/draft-04/schema" => Some(Self::Draft4),
            "json-schema.org/draft-06/schema" => Some(Self::Draft6),
            "json-schema.org/draft-07/schema" => Some(Self::Draft7),
            "json-schema.org/draft/2019-09/schema" => Some(Self::Draft201909),
            "json-schema.org/draft/2020-12/schema" => Some(Self::Draft202012),
            _ => None,
        }
    }

    /// Returns whether the keywords beside a `$ref` are ignored.
    pub(super) fn ref_ignores_siblings(self) -> bool {
        self <= Self::Draft7
    }
}

/// The content of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schema) enum KeywordContent {
    /// One schema; `items` can also be an array.
    Schema,
    /// An array of schemas.
    SchemaArray,
    /// An object of schemas by name.
    SchemaMap,
    /// Data without schemas.
    Data,
}

/// Returns the content of a keyword, in any draft.
pub(in crate::schema) fn keyword_content(keyword: &str) -> KeywordContent {
    match keyword {
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "items"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => KeywordContent::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => KeywordContent::SchemaArray,
        "$defs" | "definitions" | "dependencies" | "dependentSchemas" | "patternProperties"
        | "properties" => KeywordContent::SchemaMap,
        _ => KeywordContent::Data,
    }
}
