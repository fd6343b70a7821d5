//! The files of the page, which are part of the binary.

use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use switchboard_transport::http::server::ReplyBody;

use super::compression::{accepts_gzip, gzip};
use super::reply::{Reply, reply};

/// Paths and contents, listed by the build script.
const TABLE: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/asset_table.rs"));

/// Names with a digest of their content never change.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// Returns the file at a path, which is compared as it was sent: nothing is decoded or normalized.
pub(super) fn asset(path: &str, headers: &HeaderMap) -> Option<Reply> {
    let path = if path == "/" { "/index.html" } else { path };
    let at = TABLE.iter().position(|(name, _)| *name == path)?;
    let (name, content) = TABLE[at];
    let compressed = if accepts_gzip(headers) { compressed(at) } else { None };
    let is_compressed = compressed.is_some();
    let body = compressed.unwrap_or(Bytes::from_static(content));
    let mut reply = reply(StatusCode::OK, content_type(name), ReplyBody::full(body));
    reply.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding"));
    if is_compressed {
        reply.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if name.starts_with("/assets/") {
        reply.headers_mut().insert(CACHE_CONTROL, IMMUTABLE);
    }
    Some(reply)
}

/// Returns a file as gzip, which is made at its first request; `None` if that is not smaller.
fn compressed(at: usize) -> Option<Bytes> {
    static COMPRESSED: OnceLock<Vec<OnceLock<Option<Bytes>>>> = OnceLock::new();
    let files = COMPRESSED.get_or_init(|| TABLE.iter().map(|_| OnceLock::new()).collect());
    let content = TABLE[at].1;
    let compress = || gzip(content, Compression::best()).ok().filter(|body| body.len() < content.len());
    files[at].get_or_init(compress).clone()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_has_the_committed_files() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/");
        let digests = std::fs::read_to_string(format!("{folder}digest.txt")).unwrap();
        let listed: Vec<&str> = digests.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
        let included: Vec<&str> = TABLE.iter().map(|(name, _)| name.trim_start_matches('/')).collect();
        assert_eq!(included, listed);
        for (name, content) in TABLE {
            assert_eq!(*content, std::fs::read(format!("{folder}{name}")).unwrap(), "{name}");
            assert_ne!(content_type(name), "application/octet-stream", "{name}");
        }
    }
}
