//! The `resultType` of a result, read without decoding the rest.

use switchboard_json::Raw;

/// The `resultType` of a result (from 2026-07-28; absent means complete).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResultType {
    /// The final result of the method.
    Complete,
    /// The server needs input; the client repeats the request with the responses.
    InputRequired,
    /// The request continues as a task (tasks extension).
    Task,
    /// An unknown type; the JSON text if it is not a string.
    Unknown(String),
}

impl ResultType {
    /// Reads the `resultType` at the top level of a result.
    pub fn of(result: &Raw) -> Self {
        // Most servers write it first; then the rest is not scanned.
        match result.field_texts().find(|(name, _)| *name == "resultType") {
            None | Some((_, "\"complete\"" | "null")) => Self::Complete,
            Some((_, written)) => match serde_json::from_str::<String>(written) {
                Ok(text) => Self::from(text.as_str()),
                Err(_) => Self::Unknown(written.to_owned()),
            },
        }
    }

    /// Returns the string on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Complete => "complete",
            Self::InputRequired => "input_required",
            Self::Task => "task",
            Self::Unknown(text) => text,
        }
    }
}

impl From<&str> for ResultType {
    fn from(text: &str) -> Self {
        match text {
            "complete" => Self::Complete,
            "input_required" => Self::InputRequired,
            "task" => Self::Task,
            other => Self::Unknown(other.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_means_complete_and_only_the_top_level_counts() {
        for (text, expected) in [
            ("{}", ResultType::Complete),
            ("null", ResultType::Complete),
            (r#"{"resultType":"complete","content":[]}"#, ResultType::Complete),
            (r#"{"a":1,"resultType":"input_required"}"#, ResultType::InputRequired),
            (r#"{"resultType":"task"}"#, ResultType::Task),
            (r#"{"resultType":"com.example/x"}"#, ResultType::Unknown("com.example/x".into())),
            (r#"{"resultType":7}"#, ResultType::Unknown("7".into())),
            (r#"{"structuredContent":{"resultType":"task"}}"#, ResultType::Complete),
            (r#"{"content":[{"type":"text","text":"\"resultType\":\"task\""}]}"#, ResultType::Complete),
        ] {
            assert_eq!(ResultType::of(&Raw::parse(text).unwrap()), expected, "{text}");
        }
    }
}
