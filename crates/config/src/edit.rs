//! Edits one member of a JSON text; all other bytes stay.

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::document::{Member, Node};

/// The indentation of an object in a text.
struct IndentStyle {
    /// The white space before a member: a line break and its indentation, or less.
    lead: String,
    /// The white space before the closing bracket.
    close: String,
    /// One level of indentation.
    step: String,
}

/// Returns the text with the member set: replaced in place, or else appended.
pub(crate) fn set(text: &str, object: &Node, key: &str, value: &impl Serialize) -> String {
    let members = object.members().unwrap_or_default();
    let layout = IndentStyle::of(text, object);
    let json = layout.print(value);
    if let Some(member) = members.iter().find(|member| member.key == key) {
        return splice(text, member.node.span.start, member.node.span.end, &json);
    }
    let key = serde_json::Value::from(key).to_string();
    match members.last() {
        Some(last) => {
            let end = last.node.span.end;
            splice(text, end, end, &format!(",{}{key}: {json}", layout.lead))
        }
        None => {
            let inside = format!("{{{}{key}: {json}{}}}", layout.lead, layout.close);
            splice(text, object.span.start, object.span.end, &inside)
        }
    }
}

/// Returns the text without the member.
pub(crate) fn remove(text: &str, object: &Node, key: &str) -> String {
    let members = object.members().unwrap_or_default();
    let Some(index) = members.iter().position(|member| member.key == key) else { return text.to_owned() };
    let end = |member: &Member| member.node.span.end;
    match (index, members.get(index + 1)) {
        (0, Some(next)) => splice(text, members[0].key_span.start, next.key_span.start, ""),
        (0, None) => splice(text, object.span.start, object.span.end, "{}"),
        _ => splice(text, end(&members[index - 1]), end(&members[index]), ""),
    }
}

fn splice(text: &str, start: usize, end: usize, with: &str) -> String {
    [&text[..start], with, &text[end..]].concat()
}

impl IndentStyle {
    fn of(text: &str, object: &Node) -> Self {
        let own = indentation(text, object.span.start);
        let root_step =
            text.lines().skip(1).map(leading_blanks).find(|step| !step.is_empty()).unwrap_or("  ");
        match object.members().unwrap_or_default() {
            [] => Self {
                lead: format!("\n{own}{root_step}"),
                close: format!("\n{own}"),
                step: root_step.to_owned(),
            },
            [members @ .., last] => {
                let before = members.last().map_or(object.span.start, |member| member.node.span.end);
                // Between two members are a comma and, in relaxed syntax, comments; only the white space matters.
                let between = &text[before + 1..last.key_span.start];
                let white = &between[between.trim_end().len()..];
                let lead = white.rfind('\n').map_or(white, |newline| &white[newline..]);
                let inner = lead.trim_start_matches('\n');
                let step = inner.strip_prefix(own).filter(|step| !step.is_empty()).unwrap_or(root_step);
                Self { lead: lead.to_owned(), close: String::new(), step: step.to_owned() }
            }
        }
    }

    /// Returns the value as JSON, indented to follow `lead`.
    fn print(&self, value: &impl Serialize) -> String {
        let Some(indent) = self.lead.strip_prefix('\n') else { return compact(value) };
        let mut out = Vec::new();
        let mut printer =
            Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(self.step.as_bytes()));
        if value.serialize(&mut printer).is_err() {
            return compact(value);
        }
        String::from_utf8(out).unwrap_or_default().replace('\n', &format!("\n{indent}"))
    }
}

fn compact(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Returns the white space at the beginning of the line that has this byte.
fn indentation(text: &str, byte: usize) -> &str {
    let start = text[..byte].rfind('\n').map_or(0, |newline| newline + 1);
    leading_blanks(&text[start..])
}

fn leading_blanks(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::document::Syntax;

    fn change(text: &str, change: impl Fn(&Node) -> String) -> String {
        change(&Node::parse(text, Syntax::Relaxed).ok().unwrap())
    }

    #[test]
    fn a_member_is_added_with_the_indentation_of_its_neighbors() {
        for (text, expected) in [
            ("{}", "{\n  \"k\": [\n    1\n  ]\n}"),
            ("{\"a\": 1}", "{\"a\": 1,\"k\": [1]}"),
            ("{\"a\": 1, \"b\": 2}", "{\"a\": 1, \"b\": 2, \"k\": [1]}"),
            ("{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 1,\n\t\"k\": [\n\t\t1\n\t]\n}\n"),
            (
                "{\n    \"a\": 1, // one\n    \"b\": 2 // two\n}",
                "{\n    \"a\": 1, // one\n    \"b\": 2,\n    \"k\": [\n        1\n    ] // two\n}",
            ),
        ] {
            assert_eq!(change(text, |root| set(text, root, "k", &json!([1]))), expected);
        }
    }

    #[test]
    fn a_member_is_replaced_or_removed_in_place() {
        let text = "{\n  \"a\": 1,\n  \"b\" :  2,\n  \"c\": 3\n}";
        assert_eq!(change(text, |root| set(text, root, "b", &json!("x"))), text.replace('2', "\"x\""));
        assert_eq!(change(text, |root| remove(text, root, "a")), "{\n  \"b\" :  2,\n  \"c\": 3\n}");
        assert_eq!(change(text, |root| remove(text, root, "b")), "{\n  \"a\": 1,\n  \"c\": 3\n}");
        assert_eq!(change(text, |root| remove(text, root, "c")), "{\n  \"a\": 1,\n  \"b\" :  2\n}");
        assert_eq!(change("{ \"a\": 1 }", |root| remove("{ \"a\": 1 }", root, "a")), "{}");
        assert_eq!(change(text, |root| remove(text, root, "z")), text);
    }
}
