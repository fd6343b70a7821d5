//! What things are called in a new project.

/// The names a project is written with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Names {
    /// The package, the service and its program.
    pub(crate) package: String,
    /// The library in Rust.
    pub(crate) library: String,
    /// The trait.
    pub(crate) service: String,
}

/// What Rust, cargo or the project itself calls otherwise.
const TAKEN: [&str; 64] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "build",
    "const",
    "continue",
    "core",
    "crate",
    "deps",
    "do",
    "dyn",
    "else",
    "enum",
    "examples",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "incremental",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "schemars",
    "self",
    "serde",
    "static",
    "std",
    "struct",
    "super",
    "switchboard",
    "test",
    "tokio",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];
/// Types that the files of a project name.
const TYPES: [&str; 27] = [
    "Changes",
    "Client",
    "Contents",
    "Cx",
    "Deserialize",
    "ElicitOutcome",
    "Error",
    "Events",
    "Form",
    "FormChoice",
    "InMemory",
    "InProcess",
    "JsonSchema",
    "MixedEvent",
    "Mutex",
    "MutexGuard",
    "Note",
    "PoisonError",
    "PromptMessages",
    "Result",
    "RevisionPolicy",
    "Serialize",
    "ServiceError",
    "StreamJson",
    "String",
    "ToolError",
    "Vec",
];
/// The longest name of a tool's server that keeps its tools readable.
const LONGEST: usize = 40;

/// Whether Rust, cargo or the project itself calls something else that.
pub(crate) fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
}

impl Names {
    /// The names of a project of this name.
    ///
    /// # Errors
    /// Why it cannot be called that.
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        let starts = name.starts_with(|first: char| first.is_ascii_lowercase());
        let is_plain =
            |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || matches!(char, '-' | '_');
        if !starts || !name.chars().all(is_plain) || name.len() > LONGEST {
            return Err(format!(
                "{name:?} cannot be the name: it begins with a lower-case letter and has lower-case letters, digits, \
                 `-` and `_`, at most {LONGEST}"
            ));
        }
        let library = name.replace('-', "_");
        if TAKEN.contains(&library.as_str()) {
            return Err(format!("{name:?} cannot be the name: something else is called that"));
        }
        let word = |word: &str| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_ascii_uppercase() + rest
        };
        let mut service: String = library.split('_').map(word).collect();
        if TYPES.contains(&service.as_str()) {
            service += "Service";
        }
        Ok(Self { package: name.to_owned(), library, service })
    }

    /// A template with the names filled in.
    pub(crate) fn fill(&self, template: &str, switchboard: &str) -> String {
        template
            .replace("__package__", &self.package)
            .replace("__crate__", &self.library)
            .replace("__Trait__", &self.service)
            .replace("__switchboard__", switchboard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_the_others() {
        let names = Names::new("my-weather_2").unwrap();
        assert_eq!((names.library.as_str(), names.service.as_str()), ("my_weather_2", "MyWeather2"));
        assert_eq!(Names::new("note").unwrap().service, "NoteService");
        assert_eq!(Names::new("mutex-guard").unwrap().service, "MutexGuardService");
        assert_eq!(Names::new("a--b").unwrap().service, "AB");
    }

    #[test]
    fn what_cargo_or_rust_would_refuse_is_refused_first() {
        for name in
            ["", "2x", "Weather", "a b", "../x", "a/b", "fn", "test", "switchboard", "é", &"x".repeat(41)]
        {
            assert!(Names::new(name).is_err(), "{name}");
        }
    }
}
