//! Sets of names: a list of globs, matched on exact Unicode text unless case is ignored.

use switchboard_config::glob::Glob;

/// The names that match one of several globs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameSet {
    globs: Vec<Glob>,
    ignores_case: bool,
}

impl NameSet {
    pub(crate) fn new(globs: impl IntoIterator<Item = impl AsRef<str>>, ignores_case: bool) -> Self {
        let glob = |text: &str| Glob::new(if ignores_case { fold_case(text) } else { text.to_owned() });
        Self { globs: globs.into_iter().map(|text| glob(text.as_ref())).collect(), ignores_case }
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        if self.ignores_case {
            let folded = fold_case(name);
            return self.globs.iter().any(|glob| glob.matches(&folded));
        }
        self.globs.iter().any(|glob| glob.matches(name))
    }

    /// Returns whether no name matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// Returns whether every name matches.
    pub(crate) fn is_everything(&self) -> bool {
        self.globs
            .iter()
            .any(|glob| !glob.as_str().is_empty() && glob.as_str().bytes().all(|byte| byte == b'*'))
    }

    /// Returns the names, if there is no wildcard and case matters: the set can be looked up by name.
    pub(super) fn literals(&self) -> Option<impl Iterator<Item = &str>> {
        let is_literal = !self.ignores_case && self.globs.iter().all(Glob::is_literal);
        is_literal.then(|| self.globs.iter().map(Glob::as_str))
    }

    /// Returns whether every name of `other` certainly matches.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let covered = |glob: &Glob| {
            let text = if self.ignores_case { fold_case(glob.as_str()) } else { glob.as_str().to_owned() };
            self.globs.iter().any(|own| glob_covers(own.as_str(), &text))
        };
        self.is_everything()
            || ((self.ignores_case || !other.ignores_case) && other.globs.iter().all(covered))
    }
}

/// Folds case, also where only one direction changes a letter: `ſ` becomes `s`, and the Kelvin sign `k`.
pub(crate) fn fold_case(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Returns whether the glob `wide` matches everything that the glob `narrow` matches: a wildcard of `narrow` is matched
/// only by an equal or wider one. May return `false` for exotic combinations.
fn glob_covers(wide: &str, narrow: &str) -> bool {
    let (wide, narrow): (Vec<char>, Vec<char>) = (wide.chars().collect(), narrow.chars().collect());
    let matches_one = |pattern: char, found: char| match pattern {
        '?' => found != '*',
        _ => pattern == found && found != '?',
    };
    let (mut at, mut to) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while to < narrow.len() {
        match wide.get(at) {
            Some('*') => {
                star = Some((at + 1, to));
                at += 1;
            }
            Some(pattern) if matches_one(*pattern, narrow[to]) => (at, to) = (at + 1, to + 1),
            _ => {
                let Some((after, consumed)) = &mut star else { return false };
                *consumed += 1;
                (at, to) = (*after, *consumed);
            }
        }
    }
    wide[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_matters_unless_it_is_ignored() {
        assert!(!NameSet::new(["read_*"], false).matches("Read_file"));
        assert!(NameSet::new(["Read_*"], true).matches("rEAD_file"));
        assert!(NameSet::new(["list"], true).matches("liſt"), "folded as Go folds it");
        assert!(NameSet::new(["list"], true).literals().is_none());
        assert_eq!(NameSet::new(["a", "b"], false).literals().unwrap().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn containment() {
        let covers =
            |wide: &str, narrow: &str| NameSet::new([wide], false).covers(&NameSet::new([narrow], false));
        for (wide, narrow) in [
            ("*", "a*"),
            ("a*", "a"),
            ("a*", "ab*"),
            ("a?", "ab"),
            ("a*", "a?"),
            ("*a*", "bac*"),
            ("**", "*"),
        ] {
            assert!(covers(wide, narrow), "{wide} {narrow}");
        }
        for (wide, narrow) in [("a", "a*"), ("a?", "a*"), ("ab*", "a*"), ("a", "a?"), ("", "*"), ("a", "A")] {
            assert!(!covers(wide, narrow), "{wide} {narrow}");
        }
        assert!(!NameSet::new(["a"], false).covers(&NameSet::new(["a"], true)));
        assert!(NameSet::new(["a"], true).covers(&NameSet::new(["A"], false)));
    }

    proptest! {
        #[test]
        fn a_covered_set_has_no_other_name(
            wide in "[ab*?]{0,4}",
            narrow in "[ab*?]{0,4}",
            names in proptest::collection::vec("[ab]{0,5}", 30),
        ) {
            let (wide, narrow) = (NameSet::new([wide], false), NameSet::new([narrow], false));
            for name in names.iter().filter(|name| wide.covers(&narrow) && narrow.matches(name)) {
                prop_assert!(wide.matches(name), "{name}");
            }
        }
    }
}
