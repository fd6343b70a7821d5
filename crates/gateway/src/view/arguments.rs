//! The arguments of a call as the server gets them: those of the client, and those that the view fixes.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use switchboard_protocol::{Raw, RpcError};

use super::view::ToolRules;
use crate::error_reason::ErrorReason;
use crate::policy::fold_case;

/// A name that languages with prototypes read as the parent of an object, not as its member.
const PROTOTYPE: &str = "__proto__";

/// The arguments that clients of a view cannot send, and those that it sets.
#[derive(Debug)]
pub(crate) struct ArgumentRules {
    rules: Arc<ToolRules>,
    /// The names of fixed and hidden arguments, without case: some servers ignore it.
    refused: BTreeSet<String>,
    /// The names that the shown schema has.
    shown: BTreeSet<String>,
}

impl ArgumentRules {
    /// Creates the rules of a tool with its shown schema; `None` if the view fixes and hides none of its arguments.
    pub(crate) fn new(rules: &Arc<ToolRules>, schema: &Raw) -> Option<Self> {
        if rules.fixed.is_empty() && rules.hidden.is_empty() {
            return None;
        }
        let refused = rules.fixed.keys().chain(&rules.hidden).map(|name| fold_case(name)).collect();
        let properties = schema.fields().find(|(name, _)| *name == "properties");
        let shown = properties
            .iter()
            .flat_map(|(_, properties)| properties.fields())
            .map(|(name, _)| name.as_str().to_owned())
            .collect();
        Some(Self { rules: Arc::clone(rules), refused, shown })
    }

    /// Returns the arguments for the server. Those of the client stay byte for byte.
    ///
    /// # Errors
    /// When the client sends an argument that it cannot send, or arguments that servers may read differently.
    pub(crate) fn apply(&self, arguments: &Raw) -> Result<Raw, RpcError> {
        // Peers treat `"arguments": null` like none.
        let arguments = if arguments.is_null() { &Raw::empty_object() } else { arguments };
        if !arguments.is_object() {
            return Err(invalid(ErrorReason::ArgumentsNotAnObject, "the arguments are not an object", None));
        }
        if arguments.canonical().is_err() {
            let message = "the arguments have the same key twice, or too many parts; send each key once";
            return Err(invalid(ErrorReason::DuplicateKey, message, None));
        }
        for (name, _) in arguments.fields() {
            let name = name.as_str();
            let is_refused = self.refused.contains(&fold_case(name)) || name == PROTOTYPE;
            if is_refused && !self.shown.contains(name) {
                let message =
                    format!("Unknown argument: {name}\nSend only arguments of the tool's input schema.");
                return Err(invalid(ErrorReason::UnknownArgument, &message, Some(name)));
            }
        }
        if self.rules.fixed.is_empty() {
            return Ok(arguments.clone());
        }
        let text = arguments.as_str().trim_end();
        let mut joined = text.strip_suffix('}').unwrap_or("{").to_owned();
        let mut needs_comma = arguments.fields().next().is_some();
        for (name, value) in &self.rules.fixed {
            if std::mem::replace(&mut needs_comma, true) {
                joined.push(',');
            }
            let name = Raw::encode(name).map_err(|error| RpcError::internal(error.to_string()))?;
            joined.push_str(name.as_str());
            joined.push(':');
            joined.push_str(value.as_str());
        }
        joined.push('}');
        Raw::parse(joined).map_err(|error| RpcError::internal(error.to_string()))
    }
}

fn invalid(reason: ErrorReason, message: &str, argument: Option<&str>) -> RpcError {
    let mut data = json!({ "reason": reason.as_str() });
    if let Some(argument) = argument {
        data["argument"] = argument.into();
    }
    RpcError::invalid_params(message).with_data(Raw::from(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(arguments: &str) -> Result<String, String> {
        let rules = Arc::new(ToolRules {
            fixed: [("repo".to_owned(), Raw::parse(r#""acme/shop""#).unwrap())].into(),
            hidden: ["token".to_owned()].into(),
            ..ToolRules::default()
        });
        let schema = Raw::parse(r#"{"properties":{"query":{},"Token":{}}}"#).unwrap();
        let rules = ArgumentRules::new(&rules, &schema).unwrap();
        let applied = rules.apply(&Raw::parse(arguments.to_owned()).unwrap());
        applied.map(|raw| raw.as_str().to_owned()).map_err(|error| error.data.unwrap().as_str().to_owned())
    }

    #[test]
    fn fixed_arguments_are_added_and_others_stay_byte_for_byte() {
        assert_eq!(apply("{}").unwrap(), r#"{"repo":"acme/shop"}"#);
        assert_eq!(apply("null").unwrap(), r#"{"repo":"acme/shop"}"#);
        assert_eq!(
            apply(r#"{ "query": "a\u0062" ,"n":1.0 } "#).unwrap(),
            r#"{ "query": "a\u0062" ,"n":1.0 ,"repo":"acme/shop"}"#
        );
        assert_eq!(apply(r#"{"Token":1}"#).unwrap(), r#"{"Token":1,"repo":"acme/shop"}"#, "a shown argument");
    }

    #[test]
    fn a_client_cannot_send_an_argument_of_the_view() {
        for arguments in [
            r#"{"repo":"other"}"#,
            r#"{"repo":"acme/shop"}"#,
            r#"{"query":1,"rep\u006f":"other"}"#,
            r#"{"Repo":"other"}"#,
            r#"{"REPO":"other"}"#,
            r#"{"token":1}"#,
            r#"{"to\u212aen":1}"#,
            r#"{"__proto__":{"token":1}}"#,
        ] {
            assert!(apply(arguments).unwrap_err().contains("unknown_argument"), "{arguments}");
        }
    }

    #[test]
    fn arguments_that_servers_may_read_differently_are_refused() {
        for arguments in [
            r#"{"query":1,"query":2}"#,
            r#"{"query":{"repo":1,"repo":2}}"#,
            r#"{"query":[{"a":1,"\u0061":2}]}"#,
        ] {
            assert!(apply(arguments).unwrap_err().contains("duplicate_key"), "{arguments}");
        }
        for arguments in ["[]", "1", r#""{}""#, r#"["repo"]"#] {
            assert!(apply(arguments).unwrap_err().contains("not_an_object"), "{arguments}");
        }
        assert!(apply(r#"{"query":{"repo":"nested is another argument"}}"#).is_ok());
    }
}
