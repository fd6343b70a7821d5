//! A strict reader of OpenMetrics text: what it accepts, Prometheus accepts.

use std::collections::{BTreeMap, BTreeSet};

/// The samples of one scrape, by name and labels as they are written.
pub(crate) struct Scrape {
    samples: BTreeMap<String, f64>,
}

impl Scrape {
    /// Reads a text.
    ///
    /// # Panics
    /// When the text breaks a rule of the format.
    pub(crate) fn parse(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").expect("the text ends with # EOF");
        let (mut samples, mut families) = (BTreeMap::new(), BTreeSet::new());
        let mut family: Option<(String, String)> = None;
        for line in body.lines() {
            assert!(!line.is_empty() && line.trim() == line, "{line:?}");
            if let Some(rest) = line.strip_prefix("# ") {
                let (keyword, rest) = rest.split_once(' ').expect(line);
                let (name, text) = rest.split_once(' ').expect(line);
                check_name(name);
                match keyword {
                    "HELP" => {
                        assert!(!text.is_empty() && families.insert(name.to_owned()), "{line}");
                    }
                    "TYPE" => {
                        assert!(matches!(text, "counter" | "gauge" | "histogram"), "{line}");
                        family = Some((name.to_owned(), text.to_owned()));
                    }
                    "UNIT" => assert!(name.ends_with(&format!("_{text}")), "{line}"),
                    other => panic!("{other}: {line}"),
                }
                continue;
            }
            let (series, value) = line.rsplit_once(' ').expect(line);
            let (family, kind) = family.as_ref().expect("a sample follows its family");
            let name = series.split('{').next().unwrap();
            let suffix = name.strip_prefix(family.as_str()).unwrap_or_else(|| panic!("{line} of {family}"));
            let suffixes: &[&str] = match kind.as_str() {
                "counter" => &["_total"],
                "gauge" => &[""],
                _ => &["_bucket", "_sum", "_count"],
            };
            assert!(suffixes.contains(&suffix), "{line} is no sample of a {kind}");
            check_labels(series);
            let value: f64 = value.parse().expect(line);
            assert!(samples.insert(series.to_owned(), value).is_none(), "{series} is there twice");
        }
        let scrape = Self { samples };
        scrape.check_histograms();
        scrape
    }

    /// Returns the value of a series, such as `up{server="a"}`; 0 if it is not there.
    pub(crate) fn value(&self, series: &str) -> f64 {
        self.samples.get(series).copied().unwrap_or_default()
    }

    /// Returns the sum over all series of a name.
    pub(crate) fn sum(&self, name: &str) -> f64 {
        self.of(name).map(|(_, value)| value).sum()
    }

    /// Returns the number of series.
    pub(crate) fn len(&self) -> usize {
        self.samples.len()
    }

    fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, f64)> {
        let all = self.samples.iter().map(|(series, value)| (series.as_str(), *value));
        all.filter(move |(series, _)| series.split('{').next() == Some(name))
    }

    /// Buckets are cumulative, and the last one is the count.
    fn check_histograms(&self) {
        for (series, count) in self.samples.iter().filter(|(series, _)| series.contains("_count{")) {
            let wanted = series.replace("_count{", "_bucket{");
            let mut buckets: Vec<(f64, f64)> = Vec::new();
            for (series, value) in &self.samples {
                let Some((before, rest)) = series.split_once("le=\"") else { continue };
                let (le, after) = rest.split_once('"').unwrap();
                if format!("{before}{}", after.trim_start_matches(',')) == wanted {
                    buckets.push((if le == "+Inf" { f64::INFINITY } else { le.parse().unwrap() }, *value));
                }
            }
            buckets.sort_by(|one, two| one.0.total_cmp(&two.0));
            assert_eq!(buckets.len(), 15, "{series}");
            assert!(buckets.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{series}");
            assert_eq!(buckets.last().map(|(le, value)| (*le, *value)), Some((f64::INFINITY, *count)));
        }
    }
}

fn check_name(name: &str) {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    assert!(name.chars().all(fits) && !name.starts_with(|c: char| c.is_ascii_digit()), "{name:?}");
}

/// Checks `name{key="value",…}`: names, escapes, and that no label is there twice.
fn check_labels(series: &str) {
    let Some((name, labels)) = series.split_once('{') else { return check_name(series) };
    check_name(name);
    let mut rest = labels.strip_suffix('}').expect(series);
    let mut keys = BTreeSet::new();
    while !rest.is_empty() {
        let (key, quoted) = rest.split_once("=\"").expect(series);
        check_name(key);
        assert!(keys.insert(key.to_owned()), "{series}");
        let mut escaped = false;
        let end = quoted.char_indices().find_map(|(at, c)| match c {
            _ if escaped => {
                assert!(matches!(c, '\\' | '"' | 'n'), "{series}");
                escaped = false;
                None
            }
            '\\' => {
                escaped = true;
                None
            }
            '"' => Some(at),
            _ => None,
        });
        rest = &quoted[end.expect(series) + 1..];
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
}
