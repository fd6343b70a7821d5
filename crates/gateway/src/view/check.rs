//! Checks the definition of a view: every field has a limit, and every error names its field.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use switchboard_protocol::Raw;

use super::document::{
    ArgumentDocument, InstructionsDocument, LargeResultsDocument, ViewDocument, ViewServerDocument,
    ViewToolDocument,
};
use super::select::{MAX_NAME, NameSelection, UriSelection, name_set};
use super::view::{ItemRules, LargeResults, READ_RESULT, ServerRules, ToolRules, ViewRules};

/// The longest name of a view, and of a tool.
const MAX_VIEW_NAME: usize = 64;
const MAX_TOOL_NAME: usize = 128;
/// The most servers of one view, tools of one server and arguments of one tool that have a table.
const MAX_TABLES: usize = 1_000;
/// The longest text, and the longest fixed value, in bytes.
const MAX_TEXT: usize = 16 * 1024;
const MAX_FIXED: usize = 64 * 1024;
/// The least size above which results are kept, and the longest head.
const MIN_ABOVE: usize = 256;
const MAX_HEAD: usize = 64 * 1024;

/// The keys of a field, and what is wrong with it.
pub(super) type FieldError = (Vec<String>, String);

/// Names the field of an error within its table.
fn at<T>(result: Result<T, String>, field: &str) -> Result<T, FieldError> {
    result.map_err(|message| (vec![field.to_owned()], message))
}

/// Puts the keys of a table in front of those of an error.
fn within<T>(result: Result<T, FieldError>, table: &[&str]) -> Result<T, FieldError> {
    result
        .map_err(|(keys, message)| (table.iter().map(|key| (*key).to_owned()).chain(keys).collect(), message))
}

pub(super) fn check_view(name: &str, document: ViewDocument) -> Result<ViewRules, FieldError> {
    within(check_name(name).and_then(|()| check_rules(name, document)), &["views", name])
}

fn check_name(name: &str) -> Result<(), FieldError> {
    let is_valid = (1..=MAX_VIEW_NAME).contains(&name.len())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
    let message = "the name of a view is part of its URL: use up to 64 characters of a-z, 0-9, `-` and `_`";
    if is_valid { Ok(()) } else { Err((Vec::new(), message.to_owned())) }
}

fn check_rules(name: &str, document: ViewDocument) -> Result<ViewRules, FieldError> {
    let ViewDocument { servers, prefix, instructions, tools, prompts, resources, large_results, server } =
        document;
    if servers.0.is_empty() {
        let message = "a view without servers shows nothing; write `servers = \"*\"` for all";
        return Err((vec!["servers".to_owned()], message.to_owned()));
    }
    let servers = at(name_set(&servers), "servers")?;
    if let Some(InstructionsDocument::Replace(text) | InstructionsDocument::Add(text)) = &instructions {
        at(check_text(text), "instructions")?;
    }
    at(check_count(server.len()), "server")?;
    let items = ItemRules {
        tools: at(NameSelection::new(tools.as_ref()), "tools")?,
        prompts: at(NameSelection::new(prompts.as_ref()), "prompts")?,
        resources: at(UriSelection::new(resources.as_ref()), "resources")?,
    };
    let mut rules = ViewRules {
        name: Some(name.into()),
        servers: Some(servers),
        prefix,
        instructions,
        items,
        by_server: BTreeMap::new(),
        large_results: at(large_results.map(check_large_results).transpose(), "large_results")?,
    };
    for (server, document) in server {
        if !rules.has_server(&server) {
            let message = "`servers` does not have this server; add it there, or remove this table";
            return within(Err((Vec::new(), message.to_owned())), &["server", &server]);
        }
        let checked = within(check_server(document), &["server", &server])?;
        rules.by_server.insert(server, checked);
    }
    check_assigned_names(&rules)?;
    Ok(rules)
}

/// Checks that no two tools have the same name of the view.
fn check_assigned_names(rules: &ViewRules) -> Result<(), FieldError> {
    let mut assigned: BTreeSet<&str> =
        if rules.keeps_results() { BTreeSet::from([READ_RESULT]) } else { BTreeSet::new() };
    for (server, rules) in &rules.by_server {
        for (tool, rules) in &rules.tools {
            if let Some(name) = rules.name.as_deref().filter(|name| !assigned.insert(name)) {
                let message = format!("the view uses the name `{name}` already; choose another one");
                return within(Err((vec!["name".to_owned()], message)), &["server", server, "tool", tool]);
            }
        }
    }
    Ok(())
}

fn check_server(document: ViewServerDocument) -> Result<ServerRules, FieldError> {
    let ViewServerDocument { tools, prompts, resources, tool } = document;
    let items = ItemRules {
        tools: at(NameSelection::new(tools.as_ref()), "tools")?,
        prompts: at(NameSelection::new(prompts.as_ref()), "prompts")?,
        resources: at(UriSelection::new(resources.as_ref()), "resources")?,
    };
    at(check_count(tool.len()), "tool")?;
    let mut rules = BTreeMap::new();
    for (name, document) in tool {
        let checked = within(check_tool(document), &["tool", &name])?;
        rules.insert(name, Arc::new(checked));
    }
    Ok(ServerRules { items, tools: rules })
}

fn check_tool(document: ViewToolDocument) -> Result<ToolRules, FieldError> {
    let ViewToolDocument { name, title, description, annotations, arguments, large_results } = document;
    let is_tool_name = |name: &String| {
        (1..=MAX_TOOL_NAME).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
    };
    if name.as_ref().is_some_and(|name| !is_tool_name(name)) {
        let message = "use up to 128 characters of A-Z, a-z, 0-9, `_`, `-` and `.`";
        return Err((vec!["name".to_owned()], message.to_owned()));
    }
    for (field, text) in [("title", &title), ("description", &description)] {
        at(text.as_deref().map_or(Ok(()), check_text), field)?;
    }
    at(check_count(arguments.len()), "arguments")?;
    let large_results = at(large_results.map(check_large_results).transpose(), "large_results")?;
    let mut rules =
        ToolRules { name, title, description, annotations, large_results, ..ToolRules::default() };
    for (argument, document) in arguments {
        let checked = check_argument(&argument, document, &mut rules);
        within(at(checked, &argument), &["arguments"])?;
    }
    Ok(rules)
}

fn check_argument(name: &str, document: ArgumentDocument, rules: &mut ToolRules) -> Result<(), String> {
    let ArgumentDocument { fixed, hidden, description } = document;
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(format!("the name of an argument has 1 to {MAX_NAME} bytes"));
    }
    let is_removed = fixed.is_some() || hidden;
    match (fixed, hidden, description) {
        (Some(_), true, _) => {
            return Err("`fixed` and `hidden` exclude each other; a fixed argument is not shown".to_owned());
        }
        (_, _, Some(_)) if is_removed => {
            return Err("clients do not see this argument; remove its `description`".to_owned());
        }
        (Some(value), ..) => {
            let value = Raw::encode(&value).map_err(|error| error.to_string())?;
            if value.len() > MAX_FIXED {
                return Err(format!("the value is larger than {MAX_FIXED} bytes"));
            }
            rules.fixed.insert(name.to_owned(), value);
        }
        (None, true, _) => _ = rules.hidden.insert(name.to_owned()),
        (None, false, Some(text)) => {
            check_text(&text)?;
            rules.described.insert(name.to_owned(), text);
        }
        (None, false, None) => return Err("write `fixed`, `hidden` or `description`".to_owned()),
    }
    Ok(())
}

fn check_large_results(document: LargeResultsDocument) -> Result<LargeResults, String> {
    let LargeResultsDocument { above, head } = document;
    let head = head.unwrap_or(LargeResultsDocument::DEFAULT_HEAD.min(above));
    if above < MIN_ABOVE {
        return Err(format!("`above` is at least {MIN_ABOVE} bytes"));
    }
    if head > above || head > MAX_HEAD {
        return Err(format!("`head` is at most `above`, and at most {MAX_HEAD} bytes"));
    }
    Ok(LargeResults { above, head })
}

fn check_text(text: &str) -> Result<(), String> {
    if text.len() > MAX_TEXT { Err(format!("the text is longer than {MAX_TEXT} bytes")) } else { Ok(()) }
}

fn check_count(count: usize) -> Result<(), String> {
    if count > MAX_TABLES { Err(format!("{count} tables exceed the limit of {MAX_TABLES}")) } else { Ok(()) }
}
