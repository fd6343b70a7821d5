//! Shell quoting of arguments, for lines that can be copied into a POSIX shell.

use serde_json::{Map, Value};

use super::Flag;

/// Quotes a text as one word of a POSIX shell.
pub fn shell_word(text: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-./:=@%+,".contains(char);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

impl Flag {
    /// Returns the flag with a value as shell words; empty for an empty list.
    pub fn to_shell(&self, value: &Value) -> String {
        let one = |value: &Value| {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            // A value that starts with `-` would be parsed as a flag.
            let separator = if text.starts_with('-') { '=' } else { ' ' };
            format!("--{}{separator}{}", self.long, shell_word(&text))
        };
        match value {
            Value::Array(items) if self.repeated => items.iter().map(one).collect::<Vec<_>>().join(" "),
            Value::Bool(true) => format!("--{}", self.long),
            value => one(value),
        }
    }
}

/// Returns a command with its arguments as one shell line. Arguments without a flag are omitted.
pub fn shell_line(command: &str, flags: &[Flag], arguments: &Map<String, Value>) -> String {
    let arguments = flags.iter().filter_map(|flag| Some(flag.to_shell(arguments.get(&flag.name)?)));
    let words = std::iter::once(command.to_owned()).chain(arguments).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
