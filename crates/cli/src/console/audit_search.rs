//! Search of an audit log for the console: newest records first, page by page, reading the file from its end.
//!
//! Invariants: one page reads a bounded part of the file; a position stays valid while the file grows; payloads are never
//! returned.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::{Map, Value};
use switchboard_console::contract::{AuditPage, AuditRow};
use switchboard_console::providers::AuditQuery;

/// Bytes that are read at once.
const BLOCK_BYTES: u64 = 64 * 1024;
/// The longest record that is read.
const MAX_LINE_BYTES: usize = 1024 * 1024;
/// The part of the file that one page reads; the next page goes on before it.
const MAX_PAGE_BYTES: u64 = 32 * 1024 * 1024;

/// Returns the newest records that match.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub(super) fn search(path: &Path, query: &AuditQuery) -> io::Result<AuditPage> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let before = query.before.as_deref().and_then(|before| before.parse().ok()).unwrap_or(length).min(length);
    let filter = RecordFilter::new(&query.words);
    let mut page = AuditPage { records: Vec::new(), next: None, searched: 0 };
    let mut lines = LinesBackwards { file: &mut file, unread: before, pending: Vec::new() };
    while let Some((position, line)) = lines.next_line()? {
        if let Ok(Value::Object(record)) = serde_json::from_slice(&line)
            && record.contains_key("time")
        {
            page.searched += 1;
            if filter.matches(&record) {
                page.records.push(audit_row(&record));
            }
        }
        if position > 0 && (page.records.len() >= query.limit || before - position >= MAX_PAGE_BYTES) {
            page.next = Some(position.to_string());
            break;
        }
    }
    Ok(page)
}

/// The lines of a file from a position towards its beginning.
struct LinesBackwards<'a> {
    file: &'a mut File,
    /// Everything before this position has not been read.
    unread: u64,
    /// What was read and not returned.
    pending: Vec<u8>,
}

impl LinesBackwards<'_> {
    /// Returns the line before and the position at which it begins. A line that is too long is empty.
    fn next_line(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        // The newline that ends the line.
        if self.pending.last() == Some(&b'\n') {
            self.pending.pop();
        }
        loop {
            if let Some(newline) = self.pending.iter().rposition(|byte| *byte == b'\n') {
                let line = self.pending.split_off(newline + 1);
                return Ok(Some((self.unread + newline as u64 + 1, line)));
            }
            if self.unread == 0 {
                let line = std::mem::take(&mut self.pending);
                return Ok((!line.is_empty()).then_some((0, line)));
            }
            let has_read = !self.pending.is_empty();
            self.read_block()?;
            if !has_read && self.pending.last() == Some(&b'\n') {
                self.pending.pop();
            }
        }
    }

    fn read_block(&mut self) -> io::Result<()> {
        let length = BLOCK_BYTES.min(self.unread);
        self.unread -= length;
        self.file.seek(SeekFrom::Start(self.unread))?;
        let mut block = vec![0; usize::try_from(length).unwrap_or_default()];
        self.file.read_exact(&mut block)?;
        // The end of a line that is too long is given up; its beginning is no record.
        if self.pending.len() <= MAX_LINE_BYTES {
            block.append(&mut self.pending);
        }
        self.pending = block;
        Ok(())
    }
}

/// What a record has to have.
struct RecordFilter {
    /// Members and their values.
    members: Vec<(&'static str, String)>,
    /// Texts that a member contains, in lower case.
    texts: Vec<String>,
}

impl RecordFilter {
    /// Words that name members, and their members.
    const MEMBERS: [(&'static str, &'static str); 5] = [
        ("principal", "principal"),
        ("server", "server"),
        ("name", "identifier"),
        ("outcome", "outcome"),
        ("method", "method"),
    ];
    /// Members in which texts are searched.
    const SEARCHED: [&'static str; 12] = [
        "method",
        "principal",
        "issuer",
        "client",
        "address",
        "view",
        "server",
        "identifier",
        "outcome",
        "rule",
        "reason",
        "trace_id",
    ];

    fn new(words: &[String]) -> Self {
        let (mut members, mut texts) = (Vec::new(), Vec::new());
        for word in words {
            let named = word.split_once(':').and_then(|(key, value)| {
                let (_, member) = Self::MEMBERS.into_iter().find(|(name, _)| *name == key)?;
                Some((member, value.to_owned()))
            });
            match named {
                Some(named) => members.push(named),
                None => texts.push(word.to_lowercase()),
            }
        }
        Self { members, texts }
    }

    fn matches(&self, record: &Map<String, Value>) -> bool {
        let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
        self.members.iter().all(|(member, value)| text(member) == value)
            && self.texts.iter().all(|wanted| {
                Self::SEARCHED.iter().any(|member| text(member).to_lowercase().contains(wanted))
            })
    }
}

fn audit_row(record: &Map<String, Value>) -> AuditRow {
    let text = |name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
    AuditRow {
        at_ms: text("time").and_then(|time| parse_timestamp(&time)).unwrap_or_default(),
        method: text("method").unwrap_or_default(),
        principal: text("principal"),
        issuer: text("issuer"),
        auth_method: text("auth_method"),
        client: text("client"),
        address: text("address"),
        view: text("view"),
        server: text("server"),
        kind: text("kind"),
        name: text("identifier"),
        outcome: text("outcome").unwrap_or_default(),
        rule: text("rule"),
        reason: text("reason"),
        code: record.get("code").and_then(Value::as_i64),
        duration_ms: record.get("duration_ms").and_then(Value::as_f64).unwrap_or_default(),
        session: text("session"),
        trace_id: text("trace_id"),
    }
}

/// Parses `2026-07-28T12:30:00.123Z` as milliseconds since the epoch.
fn parse_timestamp(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let milliseconds = number(20, 23).unwrap_or_default();
    // Days since the epoch in the proleptic Gregorian calendar; March is the first month, so leap days come last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    u64::try_from(seconds * 1000 + milliseconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(lines: &[String]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), lines.concat()).unwrap();
        file
    }

    fn record(number: usize, principal: &str) -> String {
        format!(
            "{{\"time\":\"2026-07-28T00:00:00.{:03}Z\",\"method\":\"tools/call\",\"principal\":\"{principal}\",\
             \"server\":\"files\",\"identifier\":\"t{number}\",\"outcome\":\"ok\",\"duration_ms\":1.5,\
             \"arguments\":{{\"key\":\"s3cret\"}}}}\n",
            number % 1000
        )
    }

    fn query(words: &[&str], before: Option<String>, limit: usize) -> AuditQuery {
        AuditQuery { words: words.iter().map(ToString::to_string).collect(), before, limit }
    }

    #[test]
    fn pages_follow_each_other_from_the_newest_record() {
        let lines: Vec<String> =
            (0..1000).map(|number| record(number, if number % 2 == 0 { "ada" } else { "bob" })).collect();
        let file = log(&lines);
        let mut names = Vec::new();
        let mut before = None;
        loop {
            let page = search(file.path(), &query(&[], before, 300)).unwrap();
            names.extend(page.records.iter().map(|row| row.name.clone().unwrap()));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        let expected: Vec<String> = (0..1000).rev().map(|number| format!("t{number}")).collect();
        assert_eq!(names, expected);
        let page = search(file.path(), &query(&["principal:ada", "T99"], None, 500)).unwrap();
        let found: Vec<&str> = page.records.iter().filter_map(|row| row.name.as_deref()).collect();
        assert_eq!(found, ["t998", "t996", "t994", "t992", "t990"]);
        assert_eq!(page.searched, 1000);
        assert!(!serde_json::to_string(&page).unwrap().contains("s3cret"), "payloads stay in the file");
    }

    #[test]
    fn lines_that_are_no_records_and_long_ones_are_skipped() {
        let long = format!("{{\"time\":\"{}\"}}\n", "x".repeat(2 * MAX_LINE_BYTES));
        let lines = ["no record\n".to_owned(), record(1, "ada"), long, "\n".to_owned(), record(2, "ada")];
        let page = search(log(&lines).path(), &query(&[], None, 10)).unwrap();
        let names: Vec<_> = page.records.iter().filter_map(|row| row.name.as_deref()).collect();
        assert!(names.starts_with(&["t2"]) && names.ends_with(&["t1"]), "{names:?}");
        assert_eq!(page.next, None);
        let empty = search(log(&[]).path(), &query(&[], None, 10)).unwrap();
        assert_eq!((empty.records.len(), empty.searched), (0, 0));
    }

    #[test]
    fn timestamps_are_milliseconds_since_the_epoch() {
        for (text, expected) in [
            ("1970-01-01T00:00:00.000Z", Some(0)),
            ("2000-02-29T12:00:00.250Z", Some(951_825_600_250)),
            ("2026-07-28T23:59:59.999Z", Some(1_785_283_199_999)),
            ("yesterday", None),
        ] {
            assert_eq!(parse_timestamp(text), expected, "{text}");
        }
    }
}
