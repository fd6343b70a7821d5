//! Names of a new project, derived from the name of its package.

/// Names used in the templates.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProjectNames {
    /// Name of the package, the service and its program.
    pub(crate) package: String,
    /// Name of the library crate.
    pub(crate) library: String,
    /// Name of the trait.
    pub(crate) service: String,
}

/// Names reserved by Rust, cargo or the templates.
const RESERVED: &str = "\
    abstract alloc as async await become box break build const continue core crate deps do dyn else enum \
    examples extern false final fn for gen if impl in incremental let loop macro match mod move mut \
    override priv proc_macro pub ref return schemars self serde static std struct super switchboard test \
    tokio trait true try type typeof unsafe unsized use virtual where while yield";
/// Types used in the templates.
const TEMPLATE_TYPES: &str = "\
    Changes Client Contents Cx Deserialize ElicitOutcome Error Events Form FormChoice InMemory InProcess \
    JsonSchema MixedEvent Mutex MutexGuard Note PoisonError PromptMessages Result RevisionPolicy \
    Serialize ServiceError StreamJson String ToolError Vec";
/// Maximum length of a name: it prefixes the names of tools.
const MAX_LENGTH: usize = 40;

/// Returns whether Rust, cargo or the templates reserve the name.
pub(crate) fn is_reserved(name: &str) -> bool {
    has_word(RESERVED, name)
}

fn has_word(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

impl ProjectNames {
    /// Derives the names of a project.
    ///
    /// # Errors
    /// Returns the reason if the name is not valid.
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        let starts = name.starts_with(|first: char| first.is_ascii_lowercase());
        let is_plain =
            |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || matches!(char, '-' | '_');
        if !starts || !name.chars().all(is_plain) || name.len() > MAX_LENGTH {
            return Err(format!(
                "{name:?} is not a valid name: expected a lower-case letter, then lower-case letters, digits, `-` and `_`, \
                 at most {MAX_LENGTH} characters"
            ));
        }
        let library = name.replace('-', "_");
        if is_reserved(&library) {
            return Err(format!("{name:?} is reserved by Rust, cargo or the template"));
        }
        let word = |word: &str| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_ascii_uppercase() + rest
        };
        let mut service: String = library.split('_').map(word).collect();
        if has_word(TEMPLATE_TYPES, &service) {
            service += "Service";
        }
        Ok(Self { package: name.to_owned(), library, service })
    }

    /// Returns a template with the names filled in.
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
    fn names_are_derived_from_the_package() {
        let names = ProjectNames::new("my-weather_2").unwrap();
        assert_eq!((names.library.as_str(), names.service.as_str()), ("my_weather_2", "MyWeather2"));
        assert_eq!(ProjectNames::new("note").unwrap().service, "NoteService");
        assert_eq!(ProjectNames::new("mutex-guard").unwrap().service, "MutexGuardService");
        assert_eq!(ProjectNames::new("a--b").unwrap().service, "AB");
    }

    #[test]
    fn names_that_cargo_or_rust_reject_are_rejected() {
        for name in
            ["", "2x", "Weather", "a b", "../x", "a/b", "fn", "test", "switchboard", "é", &"x".repeat(41)]
        {
            assert!(ProjectNames::new(name).is_err(), "{name}");
        }
    }
}
