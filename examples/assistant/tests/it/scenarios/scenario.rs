//! Scenarios as they are written: a name, what holds for it, and a talk.
//!
//! ```text
//! == name
//! eras: legacy            only in this era
//! revisions: a b          only in these revisions
//! over: memory stdio      only over these
//! opened: no              nothing is said before
//! deny: doc://**          the server denies these resources
//! accept: text/event-stream
//! > method {params}       a request
//! >> method {params}      a notification
//! * {json}                what must come before the answer, at least
//! ? {json}                what the user answers
//! <[tags] {json}          what the answer has, at least, where all tags hold
//! ```
//!
//! Within JSON, `"<any>"` is anything, `"~text"` a text that has this in it, and `"$revision"` the revision in use.

use std::path::Path;

use serde_json::Value;

/// One scenario.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) eras: Option<Vec<String>>,
    pub(crate) revisions: Option<Vec<String>>,
    pub(crate) over: Option<Vec<String>>,
    pub(crate) opened: bool,
    pub(crate) deny: Vec<String>,
    pub(crate) accept: Option<String>,
    pub(crate) steps: Vec<Step>,
}

/// One line of a talk.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Ask(String, Value),
    Tell(String, Value),
    Noted(Value),
    UserSays(Value),
    Answered(Vec<String>, Value),
}

/// All scenarios of a folder, in order of file and line.
pub(crate) fn read_all(folder: &Path) -> Result<Vec<Scenario>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "talk"));
    files.sort();
    let mut scenarios = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let at = |error: String| format!("{}: {error}", file.display());
        scenarios.extend(read(&text).map_err(at)?);
    }
    Ok(scenarios)
}

fn read(text: &str) -> Result<Vec<Scenario>, String> {
    // Indented lines belong to the one before.
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        match lines.last_mut() {
            Some(last) if line.starts_with(' ') => last.push_str(line.trim()),
            _ => lines.push(line.trim_end().to_owned()),
        }
    }
    let mut scenarios: Vec<Scenario> = Vec::new();
    for line in lines {
        if let Some(name) = line.strip_prefix("== ") {
            scenarios.push(Scenario { name: name.to_owned(), opened: true, ..Scenario::default() });
            continue;
        }
        let scenario = scenarios.last_mut().ok_or("a line before the first scenario")?;
        read_line(scenario, &line).map_err(|error| format!("{}: {error} in {line}", scenario.name))?;
    }
    Ok(scenarios)
}

fn read_line(scenario: &mut Scenario, line: &str) -> Result<(), String> {
    let words = |text: &str| Some(text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let json = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    let message = |text: &str| -> Result<(String, Value), String> {
        let (method, params) = text.split_once(' ').ok_or("METHOD PARAMS")?;
        Ok((method.to_owned(), json(params)?))
    };
    if let Some(rest) = line.strip_prefix(">> ") {
        let (method, params) = message(rest)?;
        scenario.steps.push(Step::Tell(method, params));
    } else if let Some(rest) = line.strip_prefix("> ") {
        let (method, params) = message(rest)?;
        scenario.steps.push(Step::Ask(method, params));
    } else if let Some(rest) = line.strip_prefix("* ") {
        scenario.steps.push(Step::Noted(json(rest)?));
    } else if let Some(rest) = line.strip_prefix("? ") {
        scenario.steps.push(Step::UserSays(json(rest)?));
    } else if let Some(rest) = line.strip_prefix("<[") {
        let (tags, rest) = rest.split_once(']').ok_or("<[tags] JSON")?;
        scenario.steps.push(Step::Answered(words(tags).unwrap_or_default(), json(rest)?));
    } else if let Some(rest) = line.strip_prefix("< ") {
        scenario.steps.push(Step::Answered(Vec::new(), json(rest)?));
    } else {
        let (key, value) = line.split_once(": ").ok_or("KEY: VALUE")?;
        match key {
            "eras" => scenario.eras = words(value),
            "revisions" => scenario.revisions = words(value),
            "over" => scenario.over = words(value),
            "opened" => scenario.opened = value != "no",
            "deny" => scenario.deny = words(value).unwrap_or_default(),
            "accept" => scenario.accept = Some(value.to_owned()),
            other => return Err(format!("no setting is called {other}")),
        }
    }
    Ok(())
}

/// Whether `got` has at least what `wanted` says; the error names the place.
pub(crate) fn has(wanted: &Value, got: &Value, revision: &str) -> Result<(), String> {
    match (wanted, got) {
        (Value::String(text), _) if text == "<any>" => Ok(()),
        (Value::String(text), Value::String(got)) if text == "$revision" => {
            (got == revision).then_some(()).ok_or_else(|| format!("{got} is not {revision}"))
        }
        (Value::String(text), Value::String(got)) if text.starts_with('~') => {
            got.contains(&text[1..]).then_some(()).ok_or_else(|| format!("{got:?} has no {:?}", &text[1..]))
        }
        (Value::Object(wanted), Value::Object(got)) => wanted.iter().try_for_each(|(key, value)| {
            let got = got.get(key).ok_or_else(|| format!("no {key}"))?;
            has(value, got, revision).map_err(|error| format!("{key}: {error}"))
        }),
        (Value::Array(wanted), Value::Array(got)) if wanted.len() == got.len() => {
            wanted.iter().zip(got).enumerate().try_for_each(|(place, (wanted, got))| {
                has(wanted, got, revision).map_err(|error| format!("[{place}]: {error}"))
            })
        }
        _ if wanted == got => Ok(()),
        _ => Err(format!("{got} is not {wanted}")),
    }
}
