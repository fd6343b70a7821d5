//! What was asked for on the command line.

/// An SDK in another language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    TypeScript,
    Python,
}

/// What to do with the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Doing {
    #[default]
    Measure,
    /// Compare the counts with those that are recorded.
    Check,
    Record,
}

/// The options of `cargo xtask bench`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Wanted {
    pub(super) doing: Doing,
    pub(super) quick: bool,
    pub(super) json: bool,
    pub(super) build: bool,
    pub(super) against: Vec<Peer>,
    /// A pattern that names of targets and rows must match.
    pub(super) only: Option<String>,
    pub(super) rounds: Option<u32>,
}

impl Wanted {
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let mut wanted = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("`{word}` wants a value"));
            match word.as_str() {
                "--quick" => wanted.quick = true,
                "--json" => wanted.json = true,
                "--build" => wanted.build = true,
                "--check" => wanted.doing = Doing::Check,
                "--record" => wanted.doing = Doing::Record,
                "--only" => wanted.only = Some(value()?.clone()),
                "--rounds" => {
                    let rounds = value()?.parse().ok().filter(|rounds| *rounds > 0);
                    wanted.rounds = Some(rounds.ok_or("`--rounds` wants a number above 0")?);
                }
                "--against" => {
                    for name in value()?.split(',') {
                        wanted.against.push(match name {
                            "ts" => Peer::TypeScript,
                            "python" => Peer::Python,
                            other => return Err(format!("there are no programs of `{other}`")),
                        });
                    }
                }
                other => return Err(format!("`bench` takes no `{other}`")),
            }
        }
        Ok(wanted)
    }

    /// Whether what has this name is to be measured.
    pub(super) fn names(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|pattern| matches(pattern, name))
    }
}

/// A star stands for any characters, also none.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    loop {
        if matches(rest, left) {
            return true;
        }
        let mut characters = left.chars();
        if characters.next().is_none() {
            return false;
        }
        left = characters.as_str();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Wanted, String> {
        Wanted::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_come_in_any_order() {
        let wanted = Wanted {
            quick: true,
            json: true,
            build: true,
            against: vec![Peer::TypeScript, Peer::Python],
            only: Some("P1*".into()),
            rounds: Some(3),
            ..Wanted::default()
        };
        assert_eq!(parse("--rounds 3 --json --against ts,python --only P1* --quick --build"), Ok(wanted));
        assert_eq!(parse("--check").map(|wanted| wanted.doing), Ok(Doing::Check));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(parse("--rounds"), Err("`--rounds` wants a value".into()));
        assert_eq!(parse("--rounds 0"), Err("`--rounds` wants a number above 0".into()));
        assert_eq!(parse("--against go"), Err("there are no programs of `go`".into()));
        assert_eq!(parse("-x"), Err("`bench` takes no `-x`".into()));
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name) in
            [("P1*", "P18.x"), ("*", ""), ("*client*", "P1.client.x"), ("a*b*", "aXbb"), ("P5", "P5")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("P1.*", "P18.x"), ("*b", "ba"), ("P1", "P18"), ("a*a", "a")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
