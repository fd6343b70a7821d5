//! Requests as the server received them.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A request: its path, and the parameters of its query or form.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) parameters: BTreeMap<String, String>,
    /// The origin that the client called.
    pub(crate) origin: String,
    /// Names in lower case.
    headers: BTreeMap<String, String>,
}

impl Received {
    pub(crate) fn parse(request: &str) -> Self {
        let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
        let target = head.split(' ').nth(1).unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers: BTreeMap<String, String> = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let is_form = headers.get("content-type").is_some_and(|kind| kind.contains("form-urlencoded"));
        let parameters = form_urlencoded::parse(if is_form { body } else { query }.as_bytes());
        Self {
            path: path.to_owned(),
            parameters: parameters.into_owned().collect(),
            origin: format!("http://{}", headers.get("host").map_or("", String::as_str)),
            headers,
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Returns the client id: a parameter, or the user of `Authorization: Basic`.
    pub(crate) fn client_id(&self) -> String {
        let basic = self.header("authorization").and_then(|value| value.strip_prefix("Basic "));
        let Some(basic) = basic else { return self.parameter("client_id").to_owned() };
        let pair = String::from_utf8(STANDARD.decode(basic).unwrap()).unwrap();
        pair.split_once(':').unwrap().0.to_owned()
    }

    /// Returns a parameter; empty if the request does not have it.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.parameters.get(name).map_or("", String::as_str)
    }
}
