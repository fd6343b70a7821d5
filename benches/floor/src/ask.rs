//! The requests of the client: canned, with the id patched in.

use bench_kit::{ClientArgs, Era, Work, fixture};
use hyper::header::HeaderValue;

/// What every request of the newer era says of itself.
const STAMP: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"floor","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// What comes after the handshake.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// All the requests that a session makes once it is open.
#[derive(Debug)]
pub struct Asks {
    /// One for each server behind a proxy.
    echo: Vec<Ask>,
    pub big: Ask,
    pub list: Ask,
    pub usage: Ask,
}

impl Asks {
    pub fn new(args: &ClientArgs) -> Self {
        let era = args.era;
        let prefixes =
            args.names.as_ref().map_or_else(|| vec![String::new()], |names| names.prefixes().collect());
        let text = format!(r#"{{"text":"{}"}}"#, fixture::TEXT);
        let first = |tool: &str| Ask::call(&format!("{}{tool}", prefixes[0]), "{}", era);
        Self {
            echo: prefixes.iter().map(|prefix| Ask::call(&format!("{prefix}echo"), &text, era)).collect(),
            big: first("big"),
            list: Ask::new("tools/list", None, "", era),
            usage: first("usage"),
        }
    }

    /// The request that one call of some work makes. Calls of `echo` go round the servers.
    pub fn of(&self, work: Work, number: usize) -> &Ask {
        match work {
            Work::Echo => &self.echo[number % self.echo.len()],
            Work::Big => &self.big,
            Work::List | Work::Connect => &self.list,
        }
    }
}

/// One request, to be sent any number of times.
#[derive(Debug, Clone)]
pub struct Ask {
    pub method: &'static str,
    /// The tool, where one is called.
    pub tool: Option<HeaderValue>,
    /// What follows the id.
    rest: String,
}

impl Ask {
    /// What a session opens with.
    pub fn opening(era: Era) -> Self {
        match era {
            Era::Legacy => Self {
                method: "initialize",
                tool: None,
                rest: r#","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"floor","version":"1.0.0"}}}"#.into(),
            },
            Era::Modern => Self::new("server/discover", None, "", era),
        }
    }

    /// A page of the list that is not the first.
    pub fn page(cursor: &str, era: Era) -> Self {
        Self::new("tools/list", None, &format!(r#""cursor":"{cursor}""#), era)
    }

    fn call(tool: &str, arguments: &str, era: Era) -> Self {
        let header = HeaderValue::from_str(tool).expect("the name of a tool is plain");
        Self::new("tools/call", Some(header), &format!(r#""name":"{tool}","arguments":{arguments}"#), era)
    }

    fn new(method: &'static str, tool: Option<HeaderValue>, members: &str, era: Era) -> Self {
        let rest = match era {
            Era::Legacy => format!(r#","method":"{method}","params":{{{members}}}}}"#),
            Era::Modern => {
                let comma = if members.is_empty() { "" } else { "," };
                format!(r#","method":"{method}","params":{{{members}{comma}{STAMP}}}}}"#)
            }
        };
        Self { method, tool, rest }
    }

    /// Appends the request.
    pub fn write(&self, id: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        let mut digits = [0; 20];
        let mut first = digits.len();
        let mut rest = id;
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        out.extend_from_slice(&digits[first..]);
        out.extend_from_slice(self.rest.as_bytes());
    }
}
