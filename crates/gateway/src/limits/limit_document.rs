//! Reads `[[limit]]` tables.

use std::sync::Arc;
use std::time::Duration;

use super::bucket::BucketRate;
use super::limiter::{KeyPart, OperationKind, RateLimit};
use crate::policy::{PolicyError, SELECTOR_KEYS, Selector, TomlEntry, TomlTable};

/// The maximum number of limits.
const MAX_LIMITS: usize = 1_000;
const LIMIT_KEYS: [&str; 5] = ["name", "operation", "rate", "burst", "per"];

/// Reads all limits of a document.
pub(super) fn read_limits(root: &TomlTable<'_>) -> Result<Vec<RateLimit>, PolicyError> {
    let Some(entry) = root.get("limit") else { return Ok(Vec::new()) };
    entry.tables(MAX_LIMITS)?.into_iter().enumerate().map(|(index, table)| read_limit(index, table)).collect()
}

fn read_limit(index: usize, mut table: TomlTable<'_>) -> Result<RateLimit, PolicyError> {
    let name = table.get("name").map(|entry| entry.string()).transpose()?;
    if let Some(name) = name {
        table.set_path(format!("limit {} ({name})", index + 1));
    }
    table.check_keys(&[LIMIT_KEYS.as_slice(), &SELECTOR_KEYS].concat())?;
    let Some(rate) = table.get("rate") else {
        return Err(table.missing_key("rate", "write `rate = \"60/min\"`"));
    };
    let (count, period) = parse_rate(&rate)?;
    let burst = match table.get("burst") {
        Some(entry) => {
            u32::try_from(entry.positive_integer()?).map_err(|_| entry.invalid("must be less than 2^32"))?
        }
        None => count,
    };
    Ok(RateLimit {
        name: name.map_or_else(|| format!("limit {}", index + 1), str::to_owned).into(),
        operations: read_words(&table, "operation", &OperationKind::NAMES)?,
        rate: BucketRate::new(count, period, burst),
        parts: read_words(&table, "per", &KeyPart::NAMES)?,
        selector: Arc::new(Selector::read(&table, None)?),
    })
}

/// Reads `60/min`.
fn parse_rate(entry: &TomlEntry<'_>) -> Result<(u32, Duration), PolicyError> {
    let invalid = || entry.invalid("write a number of requests per s, min, h or day, like `60/min`");
    let (count, unit) = entry.string()?.split_once('/').ok_or_else(invalid)?;
    let seconds = match unit.trim() {
        "s" => 1,
        "min" => 60,
        "h" => 3_600,
        "day" => 86_400,
        _ => return Err(invalid()),
    };
    let count = count
        .trim()
        .parse()
        .ok()
        .filter(|count: &u32| (1..=1_000_000).contains(count))
        .ok_or_else(invalid)?;
    Ok((count, Duration::from_secs(seconds)))
}

fn read_words<T: Copy>(table: &TomlTable<'_>, key: &str, known: &[(&str, T)]) -> Result<Vec<T>, PolicyError> {
    let Some(entry) = table.get(key) else { return Ok(Vec::new()) };
    let word = |word: String| match known.iter().find(|(name, _)| *name == word) {
        Some((_, value)) => Ok(*value),
        None => {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            Err(entry.invalid(format!("`{word}` is not known here; known are {}", names.join(", "))))
        }
    };
    entry.strings()?.into_iter().map(word).collect()
}
