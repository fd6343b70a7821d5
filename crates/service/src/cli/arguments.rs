//! Parses flags and `--args` into validated arguments.
//!
//! Reports all issues at once, in terms of the command line.

use std::io::Read;

use clap::ArgMatches;
use serde_json::{Map, Value, json};
use switchboard_design::schema::validation_issues;
use switchboard_design::{Flag, FlagKind, InvalidParams, Issue};

use super::error::CliError;
use crate::Bytes;

/// The id of `--args`.
pub(super) const ARGS_ID: &str = "@args";
/// Maximum size of a file or of stdin.
const MAX_INPUT_BYTES: u64 = 16 << 20;

/// Returns the clap id of a flag, which no option shares.
pub(super) fn arg_id(flag: &Flag) -> String {
    format!("={}", flag.name)
}

/// Parses and validates the arguments. `schema` is the schema of the whole object.
///
/// # Errors
/// When `--args` cannot be read, or with all issues of the arguments.
pub(super) fn parse_arguments(
    matches: &ArgMatches,
    flags: &[Flag],
    schema: Option<&Value>,
) -> Result<Map<String, Value>, CliError> {
    let mut arguments = match matches.try_get_one::<String>(ARGS_ID).ok().flatten() {
        Some(text) => read_args_object(text)?,
        None => Map::new(),
    };
    let mut issues = Vec::new();
    for flag in flags {
        match value(matches, flag) {
            Ok(Some(value)) => _ = arguments.insert(flag.name.clone(), value),
            Ok(None) => {}
            Err(message) => {
                // Keeps the argument from being reported as missing, too.
                arguments.insert(flag.name.clone(), Value::Null);
                issues.push(Issue::for_member(&flag.name, message));
            }
        }
    }
    let is_known = |issue: &Issue, issues: &[Issue]| {
        issues.iter().any(|known| {
            issue.pointer == known.pointer || issue.pointer.starts_with(&format!("{}/", known.pointer))
        })
    };
    let built;
    let schema = match schema {
        Some(schema) => schema,
        None => {
            built = schema_of(flags);
            &built
        }
    };
    for issue in validation_issues(schema, &Value::Object(arguments.clone())) {
        if !is_known(&issue, &issues) {
            issues.push(issue);
        }
    }
    if issues.is_empty() {
        return Ok(arguments);
    }
    Err(CliError::Arguments {
        lines: describe_issues(&issues, flags),
        invalid: InvalidParams::from_issues(issues),
    })
}

/// Returns the schema of an object with these members.
pub(super) fn schema_of(flags: &[Flag]) -> Value {
    let properties: Map<String, Value> =
        flags.iter().map(|flag| (flag.name.clone(), flag.schema.clone())).collect();
    let required: Vec<&str> =
        flags.iter().filter(|flag| flag.required).map(|flag| flag.name.as_str()).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn value(matches: &ArgMatches, flag: &Flag) -> Result<Option<Value>, String> {
    let Ok(Some(mut texts)) = matches.try_get_many::<String>(&arg_id(flag)) else { return Ok(None) };
    if flag.repeated {
        let items: Result<Vec<Value>, String> = texts.map(|text| parse_value(flag, text)).collect();
        return items.map(|items| Some(Value::Array(items)));
    }
    texts.next().map(|text| parse_value(flag, text)).transpose()
}

/// Parses one value of a flag. Binary data is read from `@FILE` (`@-` is stdin) or given as base64.
fn parse_value(flag: &Flag, text: &str) -> Result<Value, String> {
    if flag.kind != FlagKind::Bytes {
        return flag.parse(text);
    }
    let bytes = match text.strip_prefix('@') {
        Some("-") => read_bytes(std::io::stdin().lock()).map(Bytes::new),
        Some(path) => std::fs::File::open(path).and_then(read_bytes).map(Bytes::new),
        None => {
            return Bytes::from_base64(text)
                .map(|bytes| Value::String(bytes.to_base64()))
                .map_err(|error| format!("expected base64 or @FILE, got {text:?} ({error})"));
        }
    };
    let bytes = bytes.map_err(|error| format!("cannot read {text}: {error}"))?;
    flag.parse(&bytes.to_base64())
}

/// Describes each issue in terms of its flag.
fn describe_issues(issues: &[Issue], flags: &[Flag]) -> Vec<String> {
    let line = |issue: &Issue| {
        let concerns = |flag: &&Flag| {
            let at = Issue::for_member(&flag.name, "").pointer;
            issue.pointer.strip_prefix(&at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let Some(flag) = flags.iter().find(concerns) else { return issue.to_string() };
        let at = Issue::for_member(&flag.name, "").pointer;
        let mut issue = issue.clone();
        issue.pointer.drain(..at.len());
        match issue.pointer.is_empty() {
            true => format!("--{}: {}", flag.long, issue.reason()),
            false => format!("--{}: {issue}", flag.long),
        }
    };
    issues.iter().map(line).collect()
}

/// Reads the value of `--args`.
fn read_args_object(text: &str) -> Result<Map<String, Value>, CliError> {
    let invalid = |reason: String| CliError::usage(format!("--args: {reason}"));
    let read = match text.strip_prefix('@') {
        Some(path) => {
            read_text(std::fs::File::open(path).map_err(|error| invalid(format!("{path}: {error}")))?)
        }
        None if text == "-" => read_text(std::io::stdin().lock()),
        None => Ok(text.to_owned()),
    };
    let text = read.map_err(|error| invalid(error.to_string()))?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(invalid("expected one JSON object".to_owned())),
        Err(error) => Err(invalid(format!("not JSON: {error}"))),
    }
}

fn read_text(source: impl Read) -> std::io::Result<String> {
    String::from_utf8(read_bytes(source)?).map_err(std::io::Error::other)
}

fn read_bytes(source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        return Err(std::io::Error::other(format!("more than {} MiB", MAX_INPUT_BYTES >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "used for its schema only")]
    struct StoreArgs {
        data: Bytes,
        more: Option<Bytes>,
        each: Vec<Bytes>,
    }

    #[test]
    fn d5_bytes_are_read_from_a_file_or_given_as_base64() {
        let tool = crate::rt::tool::<StoreArgs, ()>("store", "Stores.", &["data", "more", "each"]);
        let design = switchboard_design::Design::new("files", "1").with_tools([tool]);
        let file = std::env::temp_dir().join(format!("switchboard-bytes-{}", std::process::id()));
        std::fs::write(&file, b"\xff\x00\xfe").unwrap();
        for flag in design.tool_flags(&design.tools[0]) {
            assert_eq!(flag.kind, FlagKind::Bytes, "{}", flag.name);
            assert_eq!(parse_value(&flag, &format!("@{}", file.display())).unwrap(), "/wD+");
            assert_eq!(parse_value(&flag, "aGk").unwrap(), "aGk=");
            let wrong = parse_value(&flag, "not base64!").unwrap_err();
            assert!(wrong.starts_with("expected base64 or @FILE, got \"not base64!\""), "{wrong}");
            assert!(
                parse_value(&flag, "@/no/such/file").unwrap_err().starts_with("cannot read @/no/such/file: ")
            );
        }
        std::fs::remove_file(&file).unwrap();
    }
}
