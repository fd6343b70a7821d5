//! What kind of result this is: a look at `resultType` without reading the rest.

use switchboard_json::Raw;

/// The `resultType` of a result (from 2026-07-28; absent means complete).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResultType {
    /// The result the method promises.
    Complete,
    /// The server needs answers first, and the request again with them.
    InputRequired,
    /// The work goes on as a task (tasks extension).
    Task,
    /// A type of an extension we do not know; the JSON text when it is no string.
    Unknown(String),
}

impl ResultType {
    /// Looks at the top level of a result.
    pub fn of(result: &Raw) -> Self {
        // Most servers write it first, and then nothing else is looked at.
        match result.glance().find(|(name, _)| *name == "resultType") {
            None | Some((_, "\"complete\"" | "null")) => Self::Complete,
            Some((_, written)) => match serde_json::from_str::<String>(written) {
                Ok(text) => Self::from(text.as_str()),
                Err(_) => Self::Unknown(written.to_owned()),
            },
        }
    }

    /// As it is written on the wire.
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
