//! Tunnels through a proxy with `CONNECT`.
//!
//! Invariants: at most [`MAX_HEAD`] bytes are read, none beyond the blank line; the text of the proxy is not shown.

use std::sync::Arc;

use http::header::HeaderValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::error::{ConnectKind, HttpError};

const MAX_HEAD: usize = 16 * 1024;

/// Opens a tunnel to an authority such as `example.com:443`.
pub(crate) async fn open(
    stream: &mut TcpStream,
    proxy: &str,
    authority: &str,
    credentials: Option<&HeaderValue>,
) -> Result<(), HttpError> {
    let broken = |error: std::io::Error| HttpError::Connect {
        host: proxy.to_owned(),
        kind: ConnectKind::Proxy,
        source: Some(Arc::new(error)),
    };
    let mut head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n").into_bytes();
    if let Some(value) = credentials {
        head.extend_from_slice(b"Proxy-Authorization: ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    let head = zeroize::Zeroizing::new(head);
    stream.write_all(&head).await.map_err(broken)?;
    let answer = read_head(stream).await.map_err(broken)?;
    match status(&answer) {
        Some(200..=299) => Ok(()),
        Some(407) => Err(HttpError::connect(proxy, ConnectKind::ProxyCredentials)),
        status => {
            let message = match status {
                Some(status) => format!("the proxy answered {status}"),
                None => "the proxy's answer cannot be read".to_owned(),
            };
            Err(broken(std::io::Error::other(message)))
        }
    }
}

/// Reads up to the blank line, byte by byte, so that no byte of the tunnel is consumed.
async fn read_head(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(256);
    while !head.ends_with(b"\r\n\r\n") && !head.ends_with(b"\n\n") {
        if head.len() >= MAX_HEAD {
            return Err(std::io::Error::other("the proxy's answer does not end"));
        }
        head.push(stream.read_u8().await?);
    }
    Ok(head)
}

fn status(head: &[u8]) -> Option<u16> {
    let rest = head.strip_prefix(b"HTTP/1.1 ").or_else(|| head.strip_prefix(b"HTTP/1.0 "))?;
    let digits = rest.get(..3).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    let ends = rest.get(3).is_none_or(|byte| b" \r\n".contains(byte));
    std::str::from_utf8(digits).ok().filter(|_| ends)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_status_line_of_http_1_is_read() {
        let cases: [(&[u8], Option<u16>); 7] = [
            (b"HTTP/1.1 200 OK\r\n\r\n", Some(200)),
            (b"HTTP/1.0 407 x\r\n\r\n", Some(407)),
            (b"HTTP/1.1 502\r\n\r\n", Some(502)),
            (b"HTTP/1.1 2000 OK\r\n\r\n", None),
            (b"HTTP/1.1 +20 OK\r\n\r\n", None),
            (b"SSH-2.0-x\r\n\r\n", None),
            (b"", None),
        ];
        for (head, expected) in cases {
            assert_eq!(status(head), expected);
        }
    }
}
