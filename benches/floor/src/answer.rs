//! The answers of the server: canned, with the id and the echoed text copied in.

use std::sync::OnceLock;

use bench_kit::{Era, Usage, fixture};

use crate::scan;

/// How many tools stand on one page of a list, so that no client has to take ten thousand at once.
const PAGE: usize = 2_500;

const INFO: &str = r#"{"name":"floor","version":"1.0.0"}"#;

/// The answers that never change, in both eras.
pub struct Answers {
    legacy: Canned,
    modern: Canned,
    initialize: String,
    discover: String,
    /// Made when it is first asked for, so that a server starts fast.
    big: OnceLock<String>,
}

/// How results of one era look.
struct Canned {
    /// What stands before the members of a result.
    open: &'static str,
    /// What stands behind them, and ends the message.
    close: String,
    /// The members of the results of `tools/list`, page by page.
    pages: Vec<String>,
}

impl Answers {
    pub fn new(tools: usize) -> Self {
        let definitions: Vec<String> = fixture::tools(tools).iter().map(fixture::Definition::json).collect();
        let last = definitions.len().saturating_sub(1) / PAGE;
        let pages = definitions.chunks(PAGE).enumerate().map(|(number, page)| {
            let next = match number {
                number if number < last => format!(r#","nextCursor":"{}""#, number + 1),
                _ => String::new(),
            };
            format!(r#""tools":[{}]{next}"#, page.join(","))
        });
        let pages: Vec<String> = pages.collect();
        let hints = r#""ttlMs":0,"cacheScope":"private""#;
        let about = format!(r#","_meta":{{"io.modelcontextprotocol/serverInfo":{INFO}}}}}}}"#);
        Self {
            initialize: format!(
                r#""protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{INFO}"#
            ),
            discover: format!(
                r#""supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{{"tools":{{}}}},{hints}"#
            ),
            big: OnceLock::new(),
            modern: Canned {
                open: r#","result":{"resultType":"complete","#,
                close: about,
                pages: pages.iter().map(|page| format!("{page},{hints}")).collect(),
            },
            legacy: Canned { open: r#","result":{"#, close: "}}".into(), pages },
        }
    }

    /// Appends the answer to a message. Says in which era the conversation goes on; nothing for a notification.
    pub fn to(&self, message: &[u8], era: Era, out: &mut Vec<u8>) -> Option<Era> {
        let id = scan::id(message)?;
        let method = scan::method(message)?;
        // A handshake opens the older era, and is never answered with a revision of the newer one.
        let era = match method {
            b"initialize" => Era::Legacy,
            b"server/discover" => Era::Modern,
            _ => era,
        };
        let canned = match era {
            Era::Legacy => &self.legacy,
            Era::Modern => &self.modern,
        };
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(id);
        let begin = out.len();
        out.extend_from_slice(canned.open.as_bytes());
        match method {
            b"tools/call" => {
                if !self.call(message, out) {
                    out.truncate(begin);
                    out.extend_from_slice(br#","error":{"code":-32602,"message":"there is no such tool"}}"#);
                    return Some(era);
                }
            }
            b"tools/list" => {
                let page = scan::cursor(message).unwrap_or_default().min(canned.pages.len() - 1);
                out.extend_from_slice(canned.pages[page].as_bytes());
            }
            b"initialize" => out.extend_from_slice(self.initialize.as_bytes()),
            b"server/discover" => out.extend_from_slice(self.discover.as_bytes()),
            b"ping" => {
                out.truncate(begin);
                out.extend_from_slice(br#","result":{}}"#);
                return Some(era);
            }
            _ => {
                out.truncate(begin);
                out.extend_from_slice(br#","error":{"code":-32601,"message":"Method not found"}}"#);
                return Some(era);
            }
        }
        out.extend_from_slice(canned.close.as_bytes());
        Some(era)
    }

    /// Appends the members of the result of a call, unless there is no such tool.
    fn call(&self, message: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(tool) = scan::names(message).find_map(Called::of) else { return false };
        out.extend_from_slice(br#""content":[{"type":"text","text":""#);
        match tool {
            Called::Echo => out.extend_from_slice(scan::text(message).unwrap_or_default()),
            Called::Big => {
                let big = self.big.get_or_init(|| fixture::big().replace('"', "\\\"").replace('\n', "\\n"));
                out.extend_from_slice(big.as_bytes());
            }
            Called::Usage => out.extend_from_slice(Usage::now().text().replace('"', "\\\"").as_bytes()),
        }
        out.extend_from_slice(br#""}]"#);
        true
    }
}

/// A tool that can be called.
#[derive(Debug, Clone, Copy)]
enum Called {
    Echo,
    Big,
    Usage,
}

impl Called {
    fn of(name: &[u8]) -> Option<Self> {
        match name {
            b"echo" => Some(Self::Echo),
            b"big" => Some(Self::Big),
            b"usage" => Some(Self::Usage),
            _ => None,
        }
    }
}
