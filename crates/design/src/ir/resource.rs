//! A resource of a service, or a family of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use switchboard_protocol::{CacheScope, Icon};

use super::{OutputDef, ParamDef};
use crate::setter::setters;

/// Something the service lets others read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ResourceDef {
    /// Its name on the wire.
    pub name: String,
    /// The method it is in Rust.
    pub rust_name: String,
    /// Where it is, as written; see [`UriPattern`](crate::UriPattern).
    pub uri: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is. May not be empty.
    pub description: String,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
    /// Its parameters, in order of declaration; those that the path does not name are in the query.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<ParamDef>,
    /// What it holds.
    #[serde(default)]
    pub output: OutputDef,
    /// The method that lists its members, when its URI has variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<String>,
    /// Whether others may subscribe to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub watch: bool,
    /// How many milliseconds it stays fresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub cache_scope: Option<CacheScope>,
    /// Pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub icons: Vec<Icon>,
    /// The version of the service that had it first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Why not to use it any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// What a caller must be allowed; who is not does not see it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Words to group it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl ResourceDef {
    /// A resource without parameters; its method has the same name.
    pub fn new(name: impl Into<String>, uri: impl Into<String>, description: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            rust_name: name.clone(),
            name,
            uri: uri.into(),
            title: None,
            description: description.into(),
            mime: None,
            params: Vec::new(),
            output: OutputDef::Text,
            list: None,
            watch: false,
            ttl_ms: None,
            cache_scope: None,
            icons: Vec::new(),
            since: None,
            deprecated: None,
            scopes: Vec::new(),
            tags: Vec::new(),
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
