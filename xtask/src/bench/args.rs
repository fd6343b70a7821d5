//! Arguments of `cargo xtask bench`.

/// An SDK in another language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeerSdk {
    TypeScript,
    Python,
}

/// Mode of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum BenchMode {
    #[default]
    Measure,
    /// Compare the counts with the recorded ones.
    Check,
    Record,
}

/// The options of `cargo xtask bench`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct BenchArgs {
    pub(super) doing: BenchMode,
    pub(super) quick: bool,
    pub(super) json: bool,
    pub(super) build: bool,
    /// Only the gateway, against the proxies of others.
    pub(super) gateway: bool,
    pub(super) against: Vec<PeerSdk>,
    /// Pattern for the names of targets and rows.
    pub(super) only: Option<String>,
    pub(super) rounds: Option<u32>,
}

impl BenchArgs {
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let mut wanted = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("`{word}` wants a value"));
            match word.as_str() {
                "gateway" => wanted.gateway = true,
                "--quick" => wanted.quick = true,
                "--json" => wanted.json = true,
                "--build" => wanted.build = true,
                "--check" => wanted.doing = BenchMode::Check,
                "--record" => wanted.doing = BenchMode::Record,
                "--only" => wanted.only = Some(value()?.clone()),
                "--rounds" => {
                    let rounds = value()?.parse().ok().filter(|rounds| *rounds > 0);
                    wanted.rounds = Some(rounds.ok_or("`--rounds` wants a number above 0")?);
                }
                "--against" => {
                    for name in value()?.split(',') {
                        wanted.against.push(match name {
                            "ts" => PeerSdk::TypeScript,
                            "python" => PeerSdk::Python,
                            other => return Err(format!("there are no programs of `{other}`")),
                        });
                    }
                }
                other => return Err(format!("`bench` takes no `{other}`")),
            }
        }
        Ok(wanted)
    }

    /// Returns whether a target or row of this name is measured.
    pub(super) fn names(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|pattern| matches(pattern, name))
    }
}

/// Returns whether a name matches a pattern; `*` matches any characters.
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

    fn parse(line: &str) -> Result<BenchArgs, String> {
        BenchArgs::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_come_in_any_order() {
        let wanted = BenchArgs {
            quick: true,
            json: true,
            build: true,
            against: vec![PeerSdk::TypeScript, PeerSdk::Python],
            only: Some("P1*".into()),
            rounds: Some(3),
            ..BenchArgs::default()
        };
        assert_eq!(parse("--rounds 3 --json --against ts,python --only P1* --quick --build"), Ok(wanted));
        assert_eq!(parse("gateway --json").map(|wanted| (wanted.gateway, wanted.json)), Ok((true, true)));
        assert_eq!(parse("--check").map(|wanted| wanted.doing), Ok(BenchMode::Check));
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
