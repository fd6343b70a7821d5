//! Resources and resource templates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use switchboard_protocol::{CacheScope, Icon, setters};

use super::{OutputDef, ParamDef};

/// A resource, or a resource template if its URI has variables.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ResourceDef {
    /// The name on the wire.
    pub name: String,
    /// The name of the Rust method.
    pub rust_name: String,
    /// The URI, or a URI with variables; see [`UriPattern`](crate::UriPattern).
    pub uri: String,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description. Must not be empty.
    pub description: String,
    /// The media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
    /// The parameters, in order of declaration. Those that are not in the path of the URI are in its query.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<ParamDef>,
    /// The content.
    #[serde(default)]
    pub output: OutputDef,
    /// The Rust method that lists the concrete resources of a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    /// Whether clients can subscribe to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub watch: bool,
    /// The cache lifetime in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Whether a cached copy may be shared between users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub cache_scope: Option<CacheScope>,
    /// The icons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub icons: Vec<Icon>,
    /// The version of the service that introduced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The reason for its deprecation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// The scopes that a caller needs. Callers without them do not see the item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Tags for grouping.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl ResourceDef {
    /// Creates a text resource without parameters. Its Rust method has the same name.
    pub fn new(name: impl Into<String>, uri: impl Into<String>, description: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            rust_name: name.clone(),
            name,
            uri: uri.into(),
            description: description.into(),
            output: OutputDef::Text,
            ..Self::default()
        }
    }
}

setters!(ResourceDef:
    set with_name name String;
    set with_rust_name rust_name String;
    some with_title title String;
    some with_mime mime String;
    set with_params params Vec<ParamDef>;
    set with_output output OutputDef;
    some with_list list String;
    set with_watch watch bool;
    some with_ttl_ms ttl_ms u64;
    some with_cache_scope cache_scope CacheScope;
    set with_icons icons Vec<Icon>;
    some with_since since String;
    some with_deprecated deprecated String;
    set with_scopes scopes Vec<String>;
    set with_tags tags Vec<String>;
);
