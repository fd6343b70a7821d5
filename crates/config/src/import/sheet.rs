//! One server while it is turned from another program's words into ours.
//!
//! Invariant: a field is carried over, or a warning names it.

use serde_json::json;

use crate::document::{Member, Node, Value};
use crate::import::imported::Need;
use crate::import::reference::Rewritten;
use crate::read::Warning;

/// Fields in which we fill in variables.
const WITH_VARIABLES: [&str; 5] = ["args", "env", "url", "headers", "cwd"];

pub(crate) struct Sheet {
    /// What is left of the other program's fields; the node itself if it is no object.
    left: Vec<Member>,
    whole: Node,
    ours: Vec<Member>,
    warnings: Vec<Warning>,
    needs: Vec<Need>,
    is_skipped: bool,
}

/// What came of it.
pub(crate) struct Done {
    pub(crate) node: Node,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) needs: Vec<Need>,
    pub(crate) is_skipped: bool,
}

impl Sheet {
    pub(crate) fn new(node: &Node) -> Self {
        Self {
            left: node.members().unwrap_or_default().to_vec(),
            whole: node.clone(),
            ours: Vec::new(),
            warnings: Vec::new(),
            needs: Vec::new(),
            is_skipped: false,
        }
    }

    pub(crate) fn peek(&self, key: &str) -> Option<&Node> {
        self.left.iter().find(|member| member.key == key).map(|member| &member.node)
    }

    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.peek(key).and_then(Node::text).map(str::to_owned)
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Member> {
        let index = self.left.iter().position(|member| member.key == key)?;
        Some(self.left.remove(index))
    }

    /// Writes one of our fields.
    pub(crate) fn put(&mut self, key: &str, value: &serde_json::Value) {
        let node = Node::from_json(value);
        self.ours.push(Member { key: key.to_owned(), key_span: self.whole.span.clone(), node });
    }

    /// Carries these over as they are.
    pub(crate) fn keep(&mut self, keys: &[&str]) {
        for key in keys {
            self.rename(key, key);
        }
    }

    /// Carries a field over under our name for it.
    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        if let Some(member) = self.take(from) {
            self.ours.push(Member { key: to.to_owned(), ..member });
        }
    }

    /// `enabled: false` is our `disabled: true`.
    pub(crate) fn invert(&mut self, from: &str, to: &str) {
        if let Some(mut member) = self.take(from) {
            if let Value::Bool(truth) = &mut member.node.value {
                *truth = !*truth;
            }
            self.ours.push(Member { key: to.to_owned(), ..member });
        }
    }

    /// Seconds, also parts of one, are milliseconds here.
    pub(crate) fn seconds(&mut self, from: &str, to: &str) {
        if let Some(mut member) = self.take(from) {
            if let Value::Number(number) = &member.node.value
                && let Some(seconds) = number.as_f64()
            {
                // A float becomes the nearest whole number, the largest at most.
                member.node.value = Value::Number(((seconds * 1000.0).round() as u64).into());
            }
            self.ours.push(Member { key: to.to_owned(), ..member });
        }
    }

    /// Drops fields that are of no use to anybody else.
    pub(crate) fn drop_silently(&mut self, keys: &[&str]) {
        self.left.retain(|member| !keys.contains(&member.key.as_str()));
    }

    /// Drops a field and says why.
    pub(crate) fn drop_because(&mut self, key: &str, why: &str) {
        if self.take(key).is_some() {
            self.warn(key, why);
        }
    }

    /// Leaves the server out and says why.
    pub(crate) fn skip(&mut self, why: &str) {
        self.is_skipped = true;
        self.left.clear();
        self.warn("", &format!("left out: {why}"));
    }

    pub(crate) fn warn(&mut self, field: &str, text: &str) {
        self.warnings.push(Warning::new(field, text));
    }

    /// Sets a field in an object of ours, such as a header.
    pub(crate) fn put_into(&mut self, object: &str, key: &str, text: &str) {
        if !self.ours.iter().any(|member| member.key == object) {
            self.put(object, &json!({}));
        }
        let whole = self.whole.span.clone();
        let found = self.ours.iter_mut().find(|member| member.key == object);
        if let Some(Member { node: Node { value: Value::Object(members), .. }, .. }) = found {
            members.retain(|member| member.key != key);
            let node = Node::from_json(&json!(text));
            members.push(Member { key: key.to_owned(), key_span: whole, node });
        }
    }

    /// Rewrites the references in every text in which we fill in variables, and in the command what can be.
    pub(crate) fn rewrite(&mut self, rewrite: &dyn Fn(&str) -> Rewritten) {
        let mut ours = std::mem::take(&mut self.ours);
        for member in &mut ours {
            if WITH_VARIABLES.contains(&member.key.as_str()) || member.key == "command" {
                self.rewrite_node(&member.key, &mut member.node, rewrite);
            }
            if member.key == "command" && member.node.text().is_some_and(|command| command.contains("${")) {
                self.warn("command", "variables are never filled in here; write the program out");
            }
        }
        self.ours = ours;
    }

    fn rewrite_node(&mut self, path: &str, node: &mut Node, rewrite: &dyn Fn(&str) -> Rewritten) {
        match &mut node.value {
            Value::Text(text) => {
                let Rewritten { text: new, needs, odd } = rewrite(text);
                *text = new;
                for need in needs {
                    if !self.needs.contains(&need) {
                        self.needs.push(need);
                    }
                }
                for what in odd {
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

    pub(crate) fn finish(mut self) -> Done {
        for member in std::mem::take(&mut self.left) {
            self.warn(&member.key, "not carried over: it has no meaning here");
        }
        let node = match self.whole.value {
            Value::Object(_) => Node { span: self.whole.span, value: Value::Object(self.ours) },
            _ => self.whole,
        };
        Done { node, warnings: self.warnings, needs: self.needs, is_skipped: self.is_skipped }
    }
}
