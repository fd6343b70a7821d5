//! Translates the fields of one server from another program's dialect into translated.
//!
//! Invariant: every field is translated, dropped on purpose, or reported by a warning.

use serde_json::json;

use crate::document::{Member, Node, Value};
use crate::expand::{TextPiece, parse_references};
use crate::import::imported_file::RequiredVariable;
use crate::import::reference::ReferenceRewrite;
use crate::warning::Warning;

/// Fields in which variables are substituted.
const WITH_VARIABLES: [&str; 6] = ["args", "env", "url", "headers", "cwd", "oauth"];

/// The fields of one server during translation.
pub(crate) struct FieldTranslator {
    /// Fields of the other program that were not handled yet.
    remaining: Vec<Member>,
    original: Node,
    translated: Vec<Member>,
    warnings: Vec<Warning>,
    needs: Vec<RequiredVariable>,
    is_skipped: bool,
}

/// The result of a translation.
pub(crate) struct TranslatedServer {
    pub(crate) node: Node,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) needs: Vec<RequiredVariable>,
    pub(crate) is_skipped: bool,
}

impl FieldTranslator {
    pub(crate) fn new(node: &Node) -> Self {
        Self {
            remaining: node.members().unwrap_or_default().to_vec(),
            original: node.clone(),
            translated: Vec::new(),
            warnings: Vec::new(),
            needs: Vec::new(),
            is_skipped: false,
        }
    }

    pub(crate) fn peek(&self, key: &str) -> Option<&Node> {
        self.remaining.iter().find(|member| member.key == key).map(|member| &member.node)
    }

    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.peek(key).and_then(Node::text).map(str::to_owned)
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Member> {
        let index = self.remaining.iter().position(|member| member.key == key)?;
        Some(self.remaining.remove(index))
    }

    /// Removes a field that was translated before.
    pub(crate) fn take_translated(&mut self, key: &str) -> Option<Node> {
        let index = self.translated.iter().position(|member| member.key == key)?;
        Some(self.translated.remove(index).node)
    }

    /// Adds a field of translated.
    pub(crate) fn put(&mut self, key: &str, value: &serde_json::Value) {
        self.translated.push(Member::new(key, self.original.span.clone(), Node::from_json(value)));
    }

    /// Copies fields unchanged.
    pub(crate) fn copy(&mut self, keys: &[&str]) {
        for key in keys {
            self.rename(key, key);
        }
    }

    /// Copies a field under another name.
    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        if let Some(member) = self.take(from) {
            self.translated.push(Member { key: to.to_owned(), ..member });
        }
    }

    /// Copies a boolean field inverted: `enabled: false` becomes `disabled: true`.
    pub(crate) fn invert(&mut self, from: &str, to: &str) {
        if let Some(mut member) = self.take(from) {
            if let Value::Bool(truth) = &mut member.node.value {
                *truth = !*truth;
            }
            self.translated.push(Member { key: to.to_owned(), ..member });
        }
    }

    /// Copies a number of seconds, which may be fractional, as milliseconds.
    pub(crate) fn seconds(&mut self, from: &str, to: &str) {
        if let Some(mut member) = self.take(from) {
            if let Value::Number(number) = &member.node.value
                && let Some(seconds) = number.as_f64()
            {
                // A float becomes the nearest integer, the largest at most.
                member.node.value = Value::Number(((seconds * 1000.0).round() as u64).into());
            }
            self.translated.push(Member { key: to.to_owned(), ..member });
        }
    }

    /// Drops fields that only matter to the other program.
    pub(crate) fn drop_silently(&mut self, keys: &[&str]) {
        self.remaining.retain(|member| !keys.contains(&member.key.as_str()));
    }

    /// Drops a field with a warning.
    pub(crate) fn drop_because(&mut self, key: &str, why: &str) {
        if self.take(key).is_some() {
            self.warn(key, why);
        }
    }

    /// Skips the server with a warning.
    pub(crate) fn skip(&mut self, why: &str) {
        self.is_skipped = true;
        self.remaining.clear();
        self.warn("", &format!("skipped: {why}"));
    }

    pub(crate) fn warn(&mut self, field: &str, text: &str) {
        self.warnings.push(Warning::new(field, text));
    }

    /// Sets a member of an object field, such as a header.
    pub(crate) fn put_into(&mut self, object: &str, key: &str, text: &str) {
        if !self.translated.iter().any(|member| member.key == object) {
            self.put(object, &json!({}));
        }
        let original = self.original.span.clone();
        let found = self.translated.iter_mut().find(|member| member.key == object);
        if let Some(Member { node: Node { value: Value::Object(members), .. }, .. }) = found {
            members.retain(|member| member.key != key);
            members.push(Member::new(key, original, Node::from_json(&json!(text))));
        }
    }

    /// Rewrites the references to variables in all fields that may have them, and in the command.
    pub(crate) fn rewrite(&mut self, rewrite: &dyn Fn(&str) -> ReferenceRewrite) {
        let mut translated = std::mem::take(&mut self.translated);
        for member in &mut translated {
            if WITH_VARIABLES.contains(&member.key.as_str()) || member.key == "command" {
                self.rewrite_node(&member.key, &mut member.node, rewrite);
            }
            if member.key == "command" && member.node.text().is_some_and(|command| command.contains("${")) {
                self.warn("command", "variables are not substituted in a command; write the program name");
            }
        }
        self.translated = translated;
    }

    fn rewrite_node(&mut self, path: &str, node: &mut Node, rewrite: &dyn Fn(&str) -> ReferenceRewrite) {
        match &mut node.value {
            Value::Text(text) => {
                let ReferenceRewrite { text: new, needs, unsupported } = rewrite(text);
                *text = new;
                for need in needs {
                    if !self.needs.contains(&need) {
                        self.needs.push(need);
                    }
                }
                for what in unsupported {
                    self.warn(path, &what);
                }
            }
            Value::List(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.rewrite_node(&format!("{path}[{index}]"), item, rewrite);
                }
            }
            Value::Object(members) => {
                for member in members {
                    self.rewrite_node(&format!("{path}.{}", member.key), &mut member.node, rewrite);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Drops a client secret that is a text of the file, or without a client.
    fn check_client_secret(&mut self) {
        let found = self.translated.iter_mut().find(|member| member.key == "oauth");
        let Some(Member { node: Node { value: Value::Object(settings), .. }, .. }) = found else { return };
        let secret = settings.iter().find(|setting| setting.key == "clientSecret");
        let Some(secret) = secret.map(|setting| setting.node.text().unwrap_or_default()) else { return };
        let is_reference =
            matches!(parse_references(secret).as_deref(), Ok([TextPiece::Variable { default: None, .. }]));
        let has_client = settings.iter().any(|setting| setting.key == "clientId");
        if !is_reference || !has_client {
            settings.retain(|setting| setting.key != "clientSecret");
            self.warn(
                "oauth.clientSecret",
                "not imported: put the secret into a variable, and name it in `clientSecretEnv`",
            );
        }
    }

    pub(crate) fn finish(mut self) -> TranslatedServer {
        self.check_client_secret();
        for member in std::mem::take(&mut self.remaining) {
            self.warn(&member.key, "not imported: it has no meaning here");
        }
        let node = match self.original.value {
            Value::Object(_) => Node { span: self.original.span, value: Value::Object(self.translated) },
            _ => self.original,
        };
        TranslatedServer { node, warnings: self.warnings, needs: self.needs, is_skipped: self.is_skipped }
    }
}
