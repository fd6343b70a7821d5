//! Values of a server's configuration that are masked wherever its messages are shown.

use switchboard::host::Transport;
use switchboard::{Http, Stdio};

/// Returns the values of a transport that must not be shown.
pub(crate) fn transport_secrets(transport: &Transport) -> Vec<String> {
    match transport {
        Transport::Stdio(stdio) => program_secrets(stdio),
        Transport::Http(http) => header_secrets(http),
        _ => Vec::new(),
    }
}

/// Returns the values of the variables of a program.
pub(super) fn program_secrets(stdio: &Stdio) -> Vec<String> {
    stdio.variables().iter().map(|(_, value)| value.to_string_lossy().into_owned()).collect()
}

/// Returns the values of the headers of a URL.
pub(super) fn header_secrets(http: &Http) -> Vec<String> {
    // A token is secret without its `Bearer`, too.
    let values = http.headers().iter().flat_map(|(_, value)| {
        let value = value.expose();
        std::iter::once(value).chain(value.split_whitespace().skip(1)).map(str::to_owned)
    });
    values.collect()
}
