//! Arguments of `audit`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  switchboard audit audit.jsonl --principal ada --outcome denied
  switchboard audit audit.jsonl --since 2026-11-18T08:00 --server files
  # for a spreadsheet, with the rotated files
  switchboard audit audit.jsonl.1 audit.jsonl --csv")]
pub(crate) struct AuditArgs {
    /// The audit logs of a gateway, in this order
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Only requests of this caller
    #[arg(long, value_name = "SUBJECT")]
    pub(crate) principal: Option<String>,
    /// Only requests for this server
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only requests for this tool, prompt or URI: the server's own name
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only requests of this method, like tools/call
    #[arg(long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// Only requests that ended like this: ok, error, denied, missing_scope, rate_limited, unknown, input_required, cancelled
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Option<String>,
    /// Only requests at or after this time (UTC), like 2026-11-18 or 2026-11-18T08:00
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<String>,
    /// Only requests before this time (UTC)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) until: Option<String>,
    /// Print comma-separated values with a header instead of JSON lines
    #[arg(long)]
    pub(crate) csv: bool,
}

/// Checks a time: the beginning of `YYYY-MM-DDTHH:MM:SS`, so that times compare as texts.
fn time(text: &str) -> Result<String, String> {
    const PATTERN: &str = "0000-00-00T00:00:00";
    let text = text.strip_suffix('Z').unwrap_or(text);
    let fits = |(c, wanted): (char, char)| if wanted == '0' { c.is_ascii_digit() } else { c == wanted };
    let is_cut_well = matches!(text.len(), 4 | 7 | 10 | 13 | 16 | 19);
    match is_cut_well && text.chars().zip(PATTERN.chars()).all(fits) {
        true => Ok(text.to_owned()),
        false => Err("write a time in UTC, like 2026-11-18 or 2026-11-18T08:00".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_the_beginning_of_a_timestamp() {
        for text in ["2026", "2026-11-18", "2026-11-18T08:00", "2026-11-18T08:00:00Z"] {
            assert!(time(text).is_ok(), "{text}");
        }
        for text in ["", "yesterday", "2026-1-1", "2026-11-18 08:00", "2026-11-1", "18.11.2026"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
