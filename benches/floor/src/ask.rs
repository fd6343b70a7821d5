//! The requests of the client: canned, with the id patched in.

use bench_kit::{Era, Work, fixture};

/// What every request of the newer era says of itself.
const STAMP: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"floor","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// What comes after the handshake.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// All the requests that a session makes once it is open.
#[derive(Debug)]
pub struct Asks {
    pub echo: Ask,
    pub big: Ask,
    pub list: Ask,
    pub usage: Ask,
}

impl Asks {
    pub fn new(era: Era) -> Self {
        let echo = format!(r#"{{"text":"{}"}}"#, fixture::TEXT);
        Self {
            echo: Ask::call("echo", &echo, era),
            big: Ask::call("big", "{}", era),
            list: Ask::new("tools/list", None, "", era),
            usage: Ask::call("usage", "{}", era),
        }
    }

    /// The request that one call of some work makes.
    pub fn of(&self, work: Work) -> &Ask {
        match work {
            Work::Echo => &self.echo,
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
    pub tool: Option<&'static str>,
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
    pub fn page(number: usize, era: Era) -> Self {
        Self::new("tools/list", None, &format!(r#""cursor":"{number}""#), era)
    }

    fn call(tool: &'static str, arguments: &str, era: Era) -> Self {
        Self::new("tools/call", Some(tool), &format!(r#""name":"{tool}","arguments":{arguments}"#), era)
    }

    fn new(method: &'static str, tool: Option<&'static str>, members: &str, era: Era) -> Self {
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
