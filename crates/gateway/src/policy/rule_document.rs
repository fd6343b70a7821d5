//! Reads rules from a document.

use std::sync::Arc;

use super::argument_path::ArgumentPath;
use super::condition::{ArgumentCondition, ArgumentTest};
use super::document::{TomlEntry, TomlTable};
use super::error::PolicyError;
use super::name_set::NameSet;
use super::regex::Regex;
use super::rule::{Effect, PolicyRule};
use super::selector::{SELECTOR_KEYS, Selector};

/// The maximum number of rules.
pub(super) const MAX_RULES: usize = 10_000;

const RULE_KEYS: [&str; 5] = ["name", "effect", "scope", "unless_scope", "arguments"];
const TEST_KEYS: [&str; 8] =
    ["equals", "not_equals", "in", "not_in", "matches", "not_matches", "exists", "missing"];

/// The part of a document that is about rules.
pub(super) struct PolicyDocument {
    pub(super) default: Effect,
    pub(super) rules: Vec<PolicyRule>,
    pub(super) trusted: NameSet,
}

/// Reads the default and the rules. Keys of other sections are left to their readers.
pub(super) fn read_rules(root: &TomlTable<'_>) -> Result<PolicyDocument, PolicyError> {
    root.check_keys(&["default", "issuer", "trust_annotations", "rule", "limit", "audit"])?;
    let default = match root.get("default") {
        Some(entry) => read_effect(&entry)?,
        None => {
            let hint = "write `default = \"deny\"` or `default = \"allow\"` for calls that no rule matches";
            return Err(root.missing_key("default", hint));
        }
    };
    let issuer = root.get("issuer").map(|entry| entry.string()).transpose()?;
    let tables = root.get("rule").map(|rules| rules.tables(MAX_RULES)).transpose()?.unwrap_or_default();
    let rules = tables.into_iter().enumerate().map(|(index, table)| read_rule(index, table, issuer));
    let trusted = NameSet::new(root.strings("trust_annotations")?.unwrap_or_default(), false);
    Ok(PolicyDocument { default, rules: rules.collect::<Result<_, _>>()?, trusted })
}

fn read_rule(
    index: usize,
    mut table: TomlTable<'_>,
    issuer: Option<&str>,
) -> Result<PolicyRule, PolicyError> {
    let name: Option<Arc<str>> = table.get("name").map(|entry| entry.string()).transpose()?.map(Into::into);
    if let Some(name) = &name {
        table.set_path(format!("rule {} ({name})", index + 1));
    }
    table.check_keys(&[RULE_KEYS.as_slice(), &SELECTOR_KEYS].concat())?;
    let effect = match table.get("effect") {
        Some(entry) => read_effect(&entry)?,
        None => {
            let hint = "write `effect = \"allow\"` or `effect = \"deny\"`";
            return Err(table.missing_key("effect", hint));
        }
    };
    let (own_key, other_key, hint) = match effect {
        Effect::Allow => ("scope", "unless_scope", "an allow rule names the scopes that it needs in `scope`"),
        Effect::Deny => {
            ("unless_scope", "scope", "a deny rule names the scopes that lift it in `unless_scope`")
        }
    };
    if let Some(entry) = table.get(other_key) {
        return Err(entry.invalid(hint));
    }
    // A deny rule about a name binds everyone of that name.
    let issuer = issuer.filter(|_| effect == Effect::Allow);
    Ok(PolicyRule {
        index,
        name,
        line: table.line(),
        effect,
        selector: Selector::read(&table, issuer)?,
        scopes: table.strings(own_key)?.unwrap_or_default(),
        conditions: read_conditions(&table)?,
        source: table.to_json(),
    })
}

fn read_effect(entry: &TomlEntry<'_>) -> Result<Effect, PolicyError> {
    match entry.string()? {
        "allow" => Ok(Effect::Allow),
        "deny" => Ok(Effect::Deny),
        other => Err(entry.invalid(format!("`{other}` is neither `allow` nor `deny`"))),
    }
}

fn read_conditions(table: &TomlTable<'_>) -> Result<Vec<ArgumentCondition>, PolicyError> {
    let Some(entry) = table.get("arguments") else { return Ok(Vec::new()) };
    let mut conditions = Vec::new();
    for (path, entry) in entry.table()?.entries() {
        let path = ArgumentPath::parse(path).map_err(|why| entry.invalid(why))?;
        let tests = entry.table()?;
        tests.check_keys(&TEST_KEYS)?;
        let on_missing = tests.boolean("missing")?;
        let before = conditions.len();
        for (key, entry) in tests.entries().filter(|(key, _)| *key != "missing") {
            conditions.push(ArgumentCondition {
                path: path.clone(),
                test: read_test(key, &entry)?,
                on_missing,
            });
        }
        if conditions.len() == before {
            return Err(entry
                .invalid("write what is tested: equals, in, matches, exists, or one of these with `not_`"));
        }
    }
    Ok(conditions)
}

fn read_test(key: &str, entry: &TomlEntry<'_>) -> Result<ArgumentTest, PolicyError> {
    let regex =
        || Regex::new(entry.string()?).map_err(|why| entry.invalid(format!("invalid pattern: {why}")));
    Ok(match key {
        "equals" => ArgumentTest::In(vec![entry.expected()?]),
        "not_equals" => ArgumentTest::NotIn(vec![entry.expected()?]),
        "in" => ArgumentTest::In(entry.expected_list()?),
        "not_in" => ArgumentTest::NotIn(entry.expected_list()?),
        "matches" => ArgumentTest::Matches(regex()?),
        "not_matches" => ArgumentTest::NotMatches(regex()?),
        _ if entry.boolean()? => ArgumentTest::Exists,
        _ => ArgumentTest::Missing,
    })
}
