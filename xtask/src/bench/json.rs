//! Minimal JSON reader and writer for reports of programs, recorded figures and the output.
//!
//! Objects keep their order, so that output is reproducible.

use std::fmt;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    pub(super) fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Returns a number rounded to three decimal places.
    pub(super) fn rounded(number: f64) -> Self {
        Self::Number((number * 1000.0).round() / 1000.0)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                members.iter().find(|(member, _)| member == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// Parses exactly one value; `None` if the text is anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        (reader.at == text.len()).then_some(value)
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) if number.is_finite() => write!(f, "{number}"),
            Self::Number(_) => f.write_str("null"),
            Self::Text(text) => write_text(f, text),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(|item| (None, item)).collect();
                write_items(f, ('[', ']'), &items, indent)
            }
            Self::Object(members) => {
                let items: Vec<_> =
                    members.iter().map(|(name, value)| (Some(name.as_str()), value)).collect();
                write_items(f, ('{', '}'), &items, indent)
            }
        }
    }

    fn is_flat(&self) -> bool {
        !matches!(self, Self::List(_) | Self::Object(_))
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

/// Arrays and objects without nested ones are written on one line.
fn write_items(
    f: &mut fmt::Formatter<'_>,
    (open, close): (char, char),
    items: &[(Option<&str>, &Json)],
    indent: usize,
) -> fmt::Result {
    let flat = items.iter().all(|(_, value)| value.is_flat());
    write!(f, "{open}")?;
    for (place, (name, value)) in items.iter().enumerate() {
        match (flat, place) {
            (true, 0) => {}
            (true, _) => f.write_str(", ")?,
            (false, 0) => write!(f, "\n{:1$}", "", indent + 2)?,
            (false, _) => write!(f, ",\n{:1$}", "", indent + 2)?,
        }
        if let Some(name) = name {
            write_text(f, name)?;
            f.write_str(": ")?;
        }
        value.write(f, indent + 2)?;
    }
    if !flat {
        write!(f, "\n{:1$}", "", indent)?;
    }
    write!(f, "{close}")
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for character in text.chars() {
        match character {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            control if u32::from(control) < 0x20 => write!(f, "\\u{:04x}", u32::from(control))?,
            other => write!(f, "{other}")?,
        }
    }
    f.write_str("\"")
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, word: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > 32 {
            return None;
        }
        let words = [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))];
        if let Some((_, value)) = words.into_iter().find(|(word, _)| self.take(word)) {
            Some(value)
        } else if self.take("[") {
            let mut items = Vec::new();
            self.items("]", |reader| {
                items.push(reader.value(depth + 1)?);
                Some(())
            })?;
            Some(Json::List(items))
        } else if self.take("{") {
            let mut members = Vec::new();
            self.items("}", |reader| {
                let name = reader.string()?;
                let value = reader.take(":").then(|| reader.value(depth + 1)).flatten()?;
                members.push((name, value));
                Some(())
            })?;
            Some(Json::Object(members))
        } else if self.rest().starts_with('"') {
            self.string().map(Json::Text)
        } else {
            let rest = self.rest();
            let inside = |character: char| !character.is_ascii_digit() && !"+-.eE".contains(character);
            let end = rest.find(inside).unwrap_or(rest.len());
            let number = rest[..end].parse().ok()?;
            self.at += end;
            Some(Json::Number(number))
        }
    }

    fn items(&mut self, close: &str, mut one: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.take(close) {
            return Some(());
        }
        loop {
            one(self)?;
            if self.take(close) {
                return Some(());
            }
            self.take(",").then_some(())?;
        }
    }

    fn string(&mut self) -> Option<String> {
        self.take("\"").then_some(())?;
        let mut found = String::new();
        let mut characters = self.text[self.at..].char_indices();
        loop {
            let (at, character) = characters.next()?;
            match character {
                '"' => {
                    self.at += at + 1;
                    return Some(found);
                }
                '\\' => match characters.next()?.1 {
                    'n' => found.push('\n'),
                    't' => found.push('\t'),
                    'r' => found.push('\r'),
                    'u' => {
                        let code: Option<String> =
                            (0..4).map(|_| characters.next().map(|(_, digit)| digit)).collect();
                        found.push(char::from_u32(u32::from_str_radix(&code?, 16).ok()?)?);
                    }
                    other => found.push(other),
                },
                other => found.push(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let value = Json::object([
            ("name", "a \"b\"\n\u{1}".into()),
            ("list", Json::List(vec![Json::Null, true.into(), Json::Number(-1.5)])),
            ("empty", Json::Object(vec![])),
            ("more", Json::List(vec![Json::object([("x", 3.into())])])),
        ]);
        assert_eq!(Json::parse(&value.to_string()), Some(value));
    }

    #[test]
    fn members_are_found_by_name() {
        let value = Json::parse(r#" {"a":{"b":[1,2e1]},"c":"\u00e9"} "#).unwrap();
        let list = value.get("a").and_then(|a| a.get("b")).and_then(Json::list).unwrap();
        assert_eq!(list[1].number(), Some(20.0));
        assert_eq!(value.get("c").and_then(Json::text), Some("é"));
    }

    #[test]
    fn half_a_value_is_none() {
        for text in ["", "{", "[1,]", "{\"a\"}", "1 2", "\"a", "nul", "--1"] {
            assert_eq!(Json::parse(text), None, "{text}");
        }
    }

    #[test]
    fn figures_are_rounded_for_people() {
        assert_eq!(Json::rounded(0.123_456).to_string(), "0.123");
    }
}
