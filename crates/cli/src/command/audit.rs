//! `switchboard audit`: filters the audit log of a gateway, and exports it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde_json::{Map, Value};
use switchboard::protocol::Raw;

use crate::args::AuditArgs;
use crate::error::CommandError;
use crate::output::{OutputStream, Screen, print_json};
use crate::sanitize::one_line;

/// The longest line that is read: a record with two payloads is much shorter.
const MAX_LINE_BYTES: u64 = 1024 * 1024;
/// The members of a record, in the order of the columns.
const COLUMNS: [&str; 21] = [
    "time",
    "principal",
    "issuer",
    "auth_method",
    "client",
    "address",
    "session",
    "view",
    "method",
    "server",
    "kind",
    "identifier",
    "uris",
    "outcome",
    "rule",
    "reason",
    "code",
    "duration_ms",
    "trace_id",
    "arguments",
    "result",
];

/// Prints the records that match, as JSON lines or comma-separated values.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub(crate) fn run(args: &AuditArgs) -> Result<(), CommandError> {
    let out = OutputStream::stdout();
    if args.csv {
        out.print(&(COLUMNS.join(",") + "\r\n"))?;
    }
    let mut skipped = 0;
    for file in &args.files {
        skipped += print_file(args, file, &out)?;
    }
    if skipped > 0 {
        Screen::new().warn(&format!("{skipped} lines are no records of an audit log, and were skipped"));
    }
    Ok(())
}

/// Prints the matching records of a file, and returns the number of lines that are not records.
fn print_file(args: &AuditArgs, path: &Path, out: &OutputStream) -> Result<usize, CommandError> {
    let name = one_line(&path.to_string_lossy());
    let cannot_read =
        |error: std::io::Error| CommandError::other("io", format!("cannot read {name}: {error}"));
    let mut reader = BufReader::new(File::open(path).map_err(cannot_read)?);
    let (mut line, mut skipped) = (Vec::new(), 0);
    loop {
        line.clear();
        let read = reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).map_err(cannot_read)?;
        if read == 0 {
            return Ok(skipped);
        }
        let record =
            std::str::from_utf8(&line).ok().and_then(|text| Some((text, serde_json::from_str(text).ok()?)));
        match record {
            Some((text, Value::Object(record))) if record.contains_key("time") => {
                if is_match(args, &record) {
                    print_record(args, text.trim_end(), &record, out)?;
                }
            }
            _ => skipped += 1,
        }
    }
}

fn is_match(args: &AuditArgs, record: &Map<String, Value>) -> bool {
    let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
    let equals =
        |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|wanted| wanted == text(name));
    equals(&args.principal, "principal")
        && equals(&args.server, "server")
        && equals(&args.tool, "identifier")
        && equals(&args.method, "method")
        && equals(&args.outcome, "outcome")
        // Timestamps are of one length and in UTC: they compare as texts.
        && args.since.as_ref().is_none_or(|since| text("time") >= since.as_str())
        && args.until.as_ref().is_none_or(|until| text("time") < until.as_str())
}

fn print_record(
    args: &AuditArgs,
    line: &str,
    record: &Map<String, Value>,
    out: &OutputStream,
) -> Result<(), CommandError> {
    if args.csv {
        let fields: Vec<String> = COLUMNS.iter().map(|name| csv_field(record.get(*name))).collect();
        let row = fields.join(",");
        // A table for a person must not control the terminal.
        let row = if out.is_terminal { one_line(&row) } else { row };
        return Ok(out.print(&(row + "\r\n"))?);
    }
    match Raw::parse(line.to_owned()) {
        Ok(raw) => {
            print_json(out, &raw)?;
            Ok(())
        }
        Err(_) => Ok(()),
    }
}

/// Writes a field by RFC 4180. A text that a spreadsheet would run as a formula gets an apostrophe.
fn csv_field(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => return String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => return number.to_string(),
        Some(other) => other.to_string(),
    };
    let text = match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text,
    };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_quoted_and_no_formula_is_run() {
        for (value, field) in [
            (json!("plain"), "plain"),
            (json!("a,b"), "\"a,b\""),
            (json!("say \"hi\"\n"), "\"say \"\"hi\"\"\n\""),
            (json!("=cmd()"), "'=cmd()"),
            (json!(-32602), "-32602"),
            (json!({ "a": 1 }), "\"{\"\"a\"\":1}\""),
            (json!(null), ""),
        ] {
            assert_eq!(csv_field(Some(&value)), field);
        }
        assert_eq!(csv_field(None), "");
    }
}
