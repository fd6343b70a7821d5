//! How other programs write a variable, rewritten as we do.

use std::path::Path;

use crate::import::imported::Need;

/// A text with its references rewritten.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    /// Values somebody has to set now.
    pub(crate) needs: Vec<Need>,
    /// References that could not be rewritten.
    pub(crate) odd: Vec<String>,
}

/// What the editors' references stand for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Editor<'a> {
    /// `${workspaceFolder}`.
    pub(crate) workspace: Option<&'a Path>,
    /// The descriptions of the inputs, by id.
    pub(crate) inputs: &'a [(String, String)],
}

/// `${env:X}`, `${input:x}`, `${workspaceFolder}` and their like.
pub(crate) fn editor(text: &str, editor: Editor<'_>) -> Rewritten {
    let mut out = Rewritten::default();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        out.text.push_str(&rest[..start]);
        let reference = &rest[start..];
        let Some(end) = reference.find('}') else {
            rest = reference;
            break;
        };
        let inside = &reference[2..end];
        match inside.split_once(':') {
            Some(("env", name)) => out.text.push_str(&format!("${{{name}}}")),
            Some(("input", id)) => {
                let need = need(id, editor.inputs);
                out.text.push_str(&format!("${{{}}}", need.variable));
                out.needs.push(need);
            }
            _ => match (inside, editor.workspace) {
                ("workspaceFolder" | "workspaceRoot" | "cwd", Some(folder)) => {
                    out.text.push_str(&folder.to_string_lossy());
                }
                ("workspaceFolderBasename", Some(folder)) => {
                    out.text.push_str(&folder.file_name().unwrap_or_default().to_string_lossy());
                }
                ("userHome", _) => out.text.push_str("${HOME}"),
                ("pathSeparator" | "/", _) => out.text.push('/'),
                (inside, _) => {
                    out.text.push_str(&reference[..=end]);
                    // `${X}` and `${X:-d}` are our own.
                    if inside.contains(':') && !inside.contains(":-") || inside.starts_with("workspace") {
                        out.odd.push(format!("`${{{inside}}}` means nothing here; write its value"));
                    }
                }
            },
        }
        rest = &reference[end + 1..];
    }
    out.text.push_str(rest);
    out
}

/// The variable that stands for an input: `github-token` is `GITHUB_TOKEN`.
fn need(id: &str, inputs: &[(String, String)]) -> Need {
    let mut variable: String = id
        .chars()
        .map(|char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' })
        .collect();
    if variable.is_empty() || variable.starts_with(|char: char| char.is_ascii_digit()) {
        variable.insert_str(0, "INPUT_");
    }
    let what = inputs.iter().find(|(known, _)| known == id).map(|(_, what)| what.clone());
    Need { variable, what: what.unwrap_or_else(|| id.to_owned()) }
}

/// opencode's `{env:X}`; its `{file:path}` has no counterpart.
pub(crate) fn braces(text: &str) -> Rewritten {
    let mut out = Rewritten::default();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        out.text.push_str(&rest[..start]);
        let reference = &rest[start..];
        let end = reference.find('}').map_or(reference.len(), |end| end + 1);
        match reference[..end].strip_prefix("{env:").and_then(|inside| inside.strip_suffix('}')) {
            Some(name) => out.text.push_str(&format!("${{{name}}}")),
            None => {
                out.text.push_str(&reference[..end]);
                if reference.starts_with("{file:") {
                    out.odd
                        .push("a value from a file is not carried over; put it into a variable".to_owned());
                }
            }
        }
        rest = &reference[end..];
    }
    out.text.push_str(rest);
    out
}

/// Gemini's `$X`, beside `${X}`.
pub(crate) fn dollar(text: &str) -> Rewritten {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('$') {
        out.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let length = after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        match &after[..length] {
            "" => out.push('$'),
            name if name.starts_with(|char: char| char.is_ascii_digit()) => out.extend(["$", name]),
            name => out.extend(["${", name, "}"]),
        }
        rest = &after[length..];
    }
    out.push_str(rest);
    Rewritten { text: out, ..Rewritten::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_of_editors_become_ours() {
        let inputs = [("github-token".to_owned(), "A token".to_owned())];
        let known = Editor { workspace: Some(Path::new("/w")), inputs: &inputs };
        for (text, expected) in [
            ("plain $X", "plain $X"),
            ("${env:A}-${B}-${C:-d}", "${A}-${B}-${C:-d}"),
            ("Bearer ${input:github-token}", "Bearer ${GITHUB_TOKEN}"),
            ("${workspaceFolder}/x${/}y", "/w/x/y"),
            ("${userHome}", "${HOME}"),
            ("${unclosed", "${unclosed"),
        ] {
            let rewritten = editor(text, known);
            assert_eq!((rewritten.text.as_str(), rewritten.odd.len()), (expected, 0), "{text}");
        }
        let needs = editor("${input:github-token}${input:9}", known).needs;
        let found: Vec<_> = needs.iter().map(|need| (need.variable.as_str(), need.what.as_str())).collect();
        assert_eq!(found, [("GITHUB_TOKEN", "A token"), ("INPUT_9", "9")]);
        for odd in ["${command:x}", "${config:y}", "${workspaceFolder}"] {
            assert_eq!(editor(odd, Editor::default()).odd.len(), 1, "{odd}");
        }
    }

    #[test]
    fn references_of_the_command_lines_become_ours() {
        assert_eq!(braces("Bearer {env:A} {\"json\": 1} {").text, "Bearer ${A} {\"json\": 1} {");
        assert_eq!(braces("{file:~/.key}").odd.len(), 1);
        for (text, expected) in
            [("$A", "${A}"), ("x$A/y", "x${A}/y"), ("${A}", "${A}"), ("$", "$"), ("$5", "$5")]
        {
            assert_eq!(dollar(text).text, expected);
        }
    }
}
