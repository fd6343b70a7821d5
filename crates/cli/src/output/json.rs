//! Prints JSON: indented for people, unchanged for programs.

use std::collections::HashSet;

use switchboard::protocol::{OrderedMap, Raw};

use crate::error::CommandError;
use crate::output::OutputStream;
use crate::sanitize;

/// Maximum length of an object or array on one line.
const ONE_LINE: usize = 60;

/// Prints JSON unchanged on one line. For a terminal, unsafe characters are escaped; the value is the same.
///
/// # Errors
/// Returns an error if the output is closed.
pub(crate) fn print_json(out: &OutputStream, text: &Raw) -> Result<(), CommandError> {
    let shown = if out.is_terminal { sanitize::json(text.as_str()) } else { text.as_str().into() };
    Ok(out.print(&shown)?)
}

/// Encodes a value as JSON.
///
/// # Errors
/// Returns an error if the value cannot be represented as JSON.
pub(crate) fn encode(value: &impl serde::Serialize) -> Result<Raw, CommandError> {
    Ok(Raw::encode(value).map_err(switchboard::CallError::from)?)
}

/// Returns indented JSON with the members in order, sanitized for a terminal.
pub(crate) fn pretty(value: &Raw) -> String {
    sanitize::json(&indent_json(value)).into_owned()
}

/// Returns indented JSON with the members in order and strings unchanged. JSON that is nested too deeply is returned
/// unchanged.
pub(crate) fn indent_json(value: &Raw) -> String {
    let mut text = String::new();
    match write_indented(value, 0, &mut text) {
        Some(()) => text,
        None => value.as_str().to_owned(),
    }
}

fn write_indented(value: &Raw, depth: usize, into: &mut String) -> Option<()> {
    let text = value.as_str();
    let (open, close, parts) = if text.starts_with('{') {
        let members: OrderedMap<Raw> = value.decode().ok()?;
        let part =
            |(key, value): (String, Raw)| Some((format!("{}: ", serde_json::to_string(&key).ok()?), value));
        ('{', '}', members.into_iter().map(part).collect::<Option<Vec<_>>>()?)
    } else if text.starts_with('[') {
        let items: Vec<Raw> = value.decode().ok()?;
        ('[', ']', items.into_iter().map(|item| (String::new(), item)).collect())
    } else {
        into.push_str(text);
        return Some(());
    };
    // A few scalar values are easier to read on one line.
    let is_plain = |part: &Raw| !part.as_str().starts_with(['{', '[']);
    if text.len() <= ONE_LINE && parts.iter().all(|(_, part)| is_plain(part)) {
        let plain: Vec<String> =
            parts.iter().map(|(label, part)| format!("{label}{}", part.as_str())).collect();
        into.push_str(&format!("{open}{}{close}", plain.join(", ")));
        return Some(());
    }
    into.push(open);
    for (index, (label, part)) in parts.iter().enumerate() {
        into.push_str(if index == 0 { "\n" } else { ",\n" });
        into.push_str(&"  ".repeat(depth + 1));
        into.push_str(label);
        write_indented(part, depth + 1, into)?;
    }
    if !parts.is_empty() {
        into.push('\n');
        into.push_str(&"  ".repeat(depth));
    }
    into.push(close);
    Some(())
}

/// Merges the pages of a list: the members of the first page, with the entries of all pages. Duplicate entries of later
/// pages are skipped, because a server that repeats a cursor repeats a page.
pub(crate) fn merge_pages(pages: Vec<OrderedMap<Raw>>, field: &str) -> OrderedMap<Raw> {
    let mut entries: Vec<Raw> = Vec::new();
    let mut listed: HashSet<String> = HashSet::new();
    let mut whole: Option<OrderedMap<Raw>> = None;
    for mut page in pages {
        let page_entries =
            page.get(field).and_then(|list| list.decode::<Vec<Raw>>().ok()).unwrap_or_default();
        let keys: Vec<String> = page_entries.iter().map(entry_key).collect();
        entries.extend(
            page_entries
                .into_iter()
                .zip(&keys)
                .filter(|(_, key)| !listed.contains(*key))
                .map(|(entry, _)| entry),
        );
        listed.extend(keys);
        page.remove("nextCursor");
        whole.get_or_insert(page);
    }
    let mut whole = whole.unwrap_or_default();
    whole.insert(field, Raw::encode(&entries).unwrap_or_else(|_| Raw::null()));
    whole
}

/// Returns the key that identifies an entry in its list: its URI or name, else the entire entry.
fn entry_key(entry: &Raw) -> String {
    // Many resources may share one name, so their URI comes first.
    let mut keys = ["uri", "uriTemplate", "name"].into_iter();
    let key = keys.find_map(|key| entry.field_texts().find(|(name, _)| *name == key));
    key.map_or(entry.as_str(), |(_, value)| value).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn pretty_keeps_order_and_numbers_and_escapes_control_characters() {
        let text = pretty(&raw("{\"z\":1.50,\"a\":[],\"m\":[1,{\"k\":\"\u{9b}\"}]}"));
        assert_eq!(
            text,
            "{\n  \"z\": 1.50,\n  \"a\": [],\n  \"m\": [\n    1,\n    {\"k\": \"\\u009b\"}\n  ]\n}"
        );
    }

    #[test]
    fn pages_become_one_list_and_the_bytes_of_entries_stay() {
        let pages = [
            r#"{"tools":[{"name":"a", "x":1.0}],"nextCursor":"2","ttlMs":5}"#,
            r#"{"tools":[{"name":"b"}]}"#,
        ];
        let merged = merge_pages(pages.iter().map(|page| raw(page).decode().unwrap()).collect(), "tools");
        let text = Raw::encode(&merged).unwrap();
        assert_eq!(text.as_str(), r#"{"tools":[{"name":"a", "x":1.0},{"name":"b"}],"ttlMs":5}"#);
    }

    #[test]
    fn p6_repeated_cursor_lists_no_entry_twice() {
        let page = r#"{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"same"}"#;
        let last = r#"{"tools":[{"name":"b"},{"name":"c"}],"nextCursor":"same"}"#;
        let pages = [page, page, last].iter().map(|page| raw(page).decode().unwrap()).collect();
        let text = Raw::encode(&merge_pages(pages, "tools")).unwrap();
        assert_eq!(text.as_str(), r#"{"tools":[{"name":"a"},{"name":"b"},{"name":"c"}]}"#);
        let resources = r#"{"resources":[{"name":"x","uri":"a:1"},{"name":"x","uri":"a:2"}]}"#;
        let pages = [resources, resources].iter().map(|page| raw(page).decode().unwrap()).collect();
        assert_eq!(Raw::encode(&merge_pages(pages, "resources")).unwrap().as_str(), resources);
    }
}
