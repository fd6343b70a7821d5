//! Arguments as words of a shell, for people and agents to copy.

use serde_json::{Map, Value};

use super::Flag;

/// A text as one word of a POSIX shell.
pub fn shell_word(text: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-./:=@%+,".contains(char);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

impl Flag {
    /// The flag with this value, as words of a shell; none for a list without items.
    pub fn line(&self, value: &Value) -> String {
        let one = |value: &Value| {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            // A value that looks like a flag would be read as one.
            let between = if text.starts_with('-') { '=' } else { ' ' };
            format!("--{}{between}{}", self.long, shell_word(&text))
        };
        match value {
            Value::Array(items) if self.repeated => items.iter().map(one).collect::<Vec<_>>().join(" "),
            Value::Bool(true) => format!("--{}", self.long),
            value => one(value),
        }
    }
}

/// A command with its arguments, as one line of a shell; those without a flag are left out.
pub fn shell_line(command: &str, flags: &[Flag], arguments: &Map<String, Value>) -> String {
    let given = flags.iter().filter_map(|flag| Some(flag.line(arguments.get(&flag.name)?)));
    let words = std::iter::once(command.to_owned()).chain(given).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
