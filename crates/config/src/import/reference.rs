//! Rewrites references to variables from the syntax of other programs into ours.

use std::path::Path;

use crate::import::imported_file::RequiredVariable;

/// A text with rewritten references.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ReferenceRewrite {
    pub(crate) text: String,
    /// Variables that have to be set.
    pub(crate) needs: Vec<RequiredVariable>,
    /// Warnings about references that cannot be rewritten.
    pub(crate) unsupported: Vec<String>,
}

/// The values of an editor's predefined variables.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EditorVariables<'a> {
    /// The value of `${workspaceFolder}`.
    pub(crate) workspace: Option<&'a Path>,
    /// The descriptions of the inputs, by id.
    pub(crate) inputs: &'a [(String, String)],
}

/// Rewrites `${env:X}`, `${input:x}`, `${workspaceFolder}` and similar references of editors.
pub(crate) fn rewrite_editor(text: &str, editor: EditorVariables<'_>) -> ReferenceRewrite {
    let mut out = ReferenceRewrite::default();
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
                    // `${X}` and `${X:-d}` are our own syntax.
                    if inside.contains(':') && !inside.contains(":-") || inside.starts_with("workspace") {
                        out.unsupported.push(format!("`${{{inside}}}` is not supported; write its value"));
                    }
                }
            },
        }
        rest = &reference[end + 1..];
    }
    out.text.push_str(rest);
    out
}

/// Returns the variable for an input: `github-token` becomes `GITHUB_TOKEN`.
fn need(id: &str, inputs: &[(String, String)]) -> RequiredVariable {
    let mut variable: String = id
        .chars()
        .map(|char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' })
        .collect();
    if variable.is_empty() || variable.starts_with(|char: char| char.is_ascii_digit()) {
        variable.insert_str(0, "INPUT_");
    }
    let what = inputs.iter().find(|(known, _)| known == id).map(|(_, what)| what.clone());
    RequiredVariable { variable, description: what.unwrap_or_else(|| id.to_owned()) }
}

/// Rewrites `{env:X}` of opencode; its `{file:path}` has no counterpart.
pub(crate) fn rewrite_braces(text: &str) -> ReferenceRewrite {
    let mut out = ReferenceRewrite::default();
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
                    out.unsupported.push("a value from a file is not imported; use a variable".to_owned());
                }
            }
        }
        rest = &reference[end..];
    }
    out.text.push_str(rest);
    out
}

/// Rewrites `$X` of Gemini, which also has `${X}`.
pub(crate) fn rewrite_dollar(text: &str) -> ReferenceRewrite {
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
    ReferenceRewrite { text: out, ..ReferenceRewrite::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_of_editors_are_rewritten() {
        let inputs = [("github-token".to_owned(), "A token".to_owned())];
        let known = EditorVariables { workspace: Some(Path::new("/w")), inputs: &inputs };
        for (text, expected) in [
            ("plain $X", "plain $X"),
            ("${env:A}-${B}-${C:-d}", "${A}-${B}-${C:-d}"),
            ("Bearer ${input:github-token}", "Bearer ${GITHUB_TOKEN}"),
            ("${workspaceFolder}/x${/}y", "/w/x/y"),
            ("${userHome}", "${HOME}"),
            ("${unclosed", "${unclosed"),
        ] {
            let rewritten = rewrite_editor(text, known);
            assert_eq!((rewritten.text.as_str(), rewritten.unsupported.len()), (expected, 0), "{text}");
        }
        let needs = rewrite_editor("${input:github-token}${input:9}", known).needs;
        let found: Vec<_> =
            needs.iter().map(|need| (need.variable.as_str(), need.description.as_str())).collect();
        assert_eq!(found, [("GITHUB_TOKEN", "A token"), ("INPUT_9", "9")]);
        for unsupported in ["${command:x}", "${config:y}", "${workspaceFolder}"] {
            assert_eq!(
                rewrite_editor(unsupported, EditorVariables::default()).unsupported.len(),
                1,
                "{unsupported}"
            );
        }
    }

    #[test]
    fn references_of_command_line_programs_are_rewritten() {
        assert_eq!(rewrite_braces("Bearer {env:A} {\"json\": 1} {").text, "Bearer ${A} {\"json\": 1} {");
        assert_eq!(rewrite_braces("{file:~/.key}").unsupported.len(), 1);
        for (text, expected) in
            [("$A", "${A}"), ("x$A/y", "x${A}/y"), ("${A}", "${A}"), ("$", "$"), ("$5", "$5")]
        {
            assert_eq!(rewrite_dollar(text).text, expected);
        }
    }
}
