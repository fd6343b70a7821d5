//! Drafts, and where each keyword has schemas.

/// A dialect of JSON Schema. Without `$schema` it is 2020-12, as MCP says.
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

    /// Whether `$ref` hides the keywords beside it.
    pub(super) fn ref_stands_alone(self) -> bool {
        self <= Self::Draft7
    }
}

/// What a keyword holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// One schema; `items` may also hold several.
    Schema,
    /// An array of schemas.
    Schemas,
    /// Schemas by name.
    Named,
    /// No schemas.
    Other,
}

pub(super) fn place(keyword: &str) -> Place {
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
        | "unevaluatedProperties" => Place::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Place::Schemas,
        "$defs" | "definitions" | "dependencies" | "dependentSchemas" | "patternProperties"
        | "properties" => Place::Named,
        _ => Place::Other,
    }
}
