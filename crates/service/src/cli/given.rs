//! From what was given at a shell to arguments that fit: read flag by flag, then looked at as a whole.
//!
//! Everything that is wrong is told at once, and in the words of the command line.

use std::io::Read;

use clap::ArgMatches;
use serde_json::{Map, Value, json};
use switchboard_design::schema::validation_issues;
use switchboard_design::{Flag, FlagKind, InvalidParams, Issue};

use super::failure::Failure;
use crate::Bytes;

/// The id of `--args`.
pub(super) const WHOLE: &str = "@args";
/// The most that is read from a file or from stdin.
const MOST: u64 = 16 << 20;

/// The id of a flag: no option has one like it.
pub(super) fn id(flag: &Flag) -> String {
    format!("={}", flag.name)
}

/// The arguments that were given. `schema` is that of the whole object.
///
/// # Errors
/// When `--args` cannot be read, or everything that does not fit.
pub(super) fn arguments(
    matches: &ArgMatches,
    flags: &[Flag],
    schema: Option<&Value>,
) -> Result<Map<String, Value>, Failure> {
    let mut given = match matches.try_get_one::<String>(WHOLE).ok().flatten() {
        Some(text) => whole(text)?,
        None => Map::new(),
    };
    let mut issues = Vec::new();
    for flag in flags {
        match value(matches, flag) {
            Ok(Some(value)) => _ = given.insert(flag.name.clone(), value),
            Ok(None) => {}
            Err(said) => {
                // Not told a second time as missing.
                given.insert(flag.name.clone(), Value::Null);
                issues.push(Issue::for_member(&flag.name, said));
            }
        }
    }
    let is_known = |issue: &Issue, issues: &[Issue]| {
        issues.iter().any(|known| {
            issue.pointer == known.pointer || issue.pointer.starts_with(&format!("{}/", known.pointer))
        })
    };
    let own;
    let schema = match schema {
        Some(schema) => schema,
        None => {
            own = schema_of(flags);
            &own
        }
    };
    for issue in validation_issues(schema, &Value::Object(given.clone())) {
        if !is_known(&issue, &issues) {
            issues.push(issue);
        }
    }
    if issues.is_empty() {
        return Ok(given);
    }
    Err(Failure::Arguments { said: said(&issues, flags), invalid: InvalidParams::from_issues(issues) })
}

/// The schema of an object with these members.
pub(super) fn schema_of(flags: &[Flag]) -> Value {
    let properties: Map<String, Value> =
        flags.iter().map(|flag| (flag.name.clone(), flag.schema.clone())).collect();
    let required: Vec<&str> =
        flags.iter().filter(|flag| flag.required).map(|flag| flag.name.as_str()).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn value(matches: &ArgMatches, flag: &Flag) -> Result<Option<Value>, String> {
    let Ok(Some(mut texts)) = matches.try_get_many::<String>(&id(flag)) else { return Ok(None) };
    if flag.repeated {
        let items: Result<Vec<Value>, String> = texts.map(|text| one(flag, text)).collect();
        return items.map(|items| Some(Value::Array(items)));
    }
    texts.next().map(|text| one(flag, text)).transpose()
}

/// One value of a flag. Bytes are read from `@FILE` (`@-` is stdin) or given as base64.
fn one(flag: &Flag, text: &str) -> Result<Value, String> {
    if flag.kind != FlagKind::Bytes {
        return flag.parse(text);
    }
    let bytes = match text.strip_prefix('@') {
        Some("-") => bounded_bytes(std::io::stdin().lock()).map(Bytes::new),
        Some(path) => std::fs::File::open(path).and_then(bounded_bytes).map(Bytes::new),
        None => {
            return Bytes::from_base64(text)
                .map(|bytes| Value::String(bytes.to_base64()))
                .map_err(|error| format!("expected base64 or @FILE, got {text:?} ({error})"));
        }
    };
    let bytes = bytes.map_err(|error| format!("cannot read {text}: {error}"))?;
    flag.parse(&bytes.to_base64())
}

/// Each thing that is wrong, on the flag it is about.
fn said(issues: &[Issue], flags: &[Flag]) -> Vec<String> {
    let line = |issue: &Issue| {
        let named = |flag: &&Flag| {
            let at = Issue::for_member(&flag.name, "").pointer;
            issue.pointer.strip_prefix(&at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let Some(flag) = flags.iter().find(named) else { return issue.to_string() };
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

/// All arguments as one object.
fn whole(text: &str) -> Result<Map<String, Value>, Failure> {
    let wrong = |why: String| Failure::usage(format!("--args: {why}"));
    let read = match text.strip_prefix('@') {
        Some(path) => bounded(std::fs::File::open(path).map_err(|error| wrong(format!("{path}: {error}")))?),
        None if text == "-" => bounded(std::io::stdin().lock()),
        None => Ok(text.to_owned()),
    };
    let text = read.map_err(|error| wrong(error.to_string()))?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(given)) => Ok(given),
        Ok(_) => Err(wrong("one JSON object is needed".to_owned())),
        Err(error) => Err(wrong(format!("not JSON: {error}"))),
    }
}

fn bounded(source: impl Read) -> std::io::Result<String> {
    String::from_utf8(bounded_bytes(source)?).map_err(std::io::Error::other)
}

fn bounded_bytes(source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(std::io::Error::other(format!("more than {} MiB", MOST >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Given {
        data: Bytes,
        more: Option<Bytes>,
        each: Vec<Bytes>,
    }

    #[test]
    fn d5_bytes_are_read_from_a_file_or_given_as_base64() {
        let tool = crate::rt::tool::<Given, ()>("store", "Stores.", &["data", "more", "each"]);
        let design = switchboard_design::Design::new("files", "1").with_tools([tool]);
        let file = std::env::temp_dir().join(format!("switchboard-bytes-{}", std::process::id()));
        std::fs::write(&file, b"\xff\x00\xfe").unwrap();
        for flag in design.tool_flags(&design.tools[0]) {
            assert_eq!(flag.kind, FlagKind::Bytes, "{}", flag.name);
            assert_eq!(one(&flag, &format!("@{}", file.display())).unwrap(), "/wD+");
            assert_eq!(one(&flag, "aGk").unwrap(), "aGk=");
            let wrong = one(&flag, "not base64!").unwrap_err();
            assert!(wrong.starts_with("expected base64 or @FILE, got \"not base64!\""), "{wrong}");
            assert!(one(&flag, "@/no/such/file").unwrap_err().starts_with("cannot read @/no/such/file: "));
        }
        std::fs::remove_file(&file).unwrap();
    }
}
