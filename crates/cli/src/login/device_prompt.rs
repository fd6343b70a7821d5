//! The code of a device login on the terminal: code, page, QR code, and the time that is left.

use std::sync::Arc;

use serde_json::json;
use switchboard::auth::{AuthError, DeviceChannel, DevicePrompt};
use switchboard::transport::http_client::BoxFuture;
use tokio::time::Instant;

use crate::login::grant_summary::duration_text;
use crate::login::qr_code;
use crate::output::{OutputStream, Screen, encode, print_json};
use crate::sanitize::one_line;

/// Shows the code of a device login to the user, or to a program as JSON.
pub(crate) struct TerminalDevicePrompt {
    pub(crate) screen: Arc<Screen>,
    /// Whether the prompt is printed as one JSON object on standard output.
    pub(crate) json: bool,
}

impl DeviceChannel for TerminalDevicePrompt {
    fn show<'a>(&'a self, prompt: &'a DevicePrompt) -> BoxFuture<'a, Result<(), AuthError>> {
        Box::pin(async move {
            if self.json {
                return print_event(prompt);
            }
            let complete = prompt.verification_uri_complete.as_deref();
            let page = DevicePage { code: &prompt.user_code, url: &prompt.verification_uri, complete };
            self.screen.write(&page.render(&self.screen.out));
            let ends_at = Instant::now() + prompt.expires_in;
            let left = || {
                let left = ends_at.saturating_duration_since(Instant::now());
                format!(
                    "waiting until you have confirmed the code, {} left; Ctrl-C cancels",
                    duration_text(left)
                )
            };
            // Dropped when the login ends.
            self.screen.with_spinner(left, std::future::pending::<()>()).await;
            Ok(())
        })
    }
}

/// Prints the prompt as an event for programs.
fn print_event(prompt: &DevicePrompt) -> Result<(), AuthError> {
    let event = json!({
        "event": "device-code",
        "userCode": prompt.user_code,
        "verificationUri": prompt.verification_uri,
        "verificationUriComplete": prompt.verification_uri_complete,
        "expiresIn": prompt.expires_in.as_secs(),
    });
    let printed = encode(&event).and_then(|event| print_json(&OutputStream::stdout(), &event));
    printed.map_err(|_| AuthError::LoginAborted("standard output is closed".to_owned()))
}

/// The page on which the user confirms the code.
struct DevicePage<'a> {
    code: &'a str,
    url: &'a str,
    /// The page with the code filled in.
    complete: Option<&'a str>,
}

impl DevicePage<'_> {
    fn render(&self, out: &OutputStream) -> String {
        let mut text = format!(
            "Open this page in a browser on any device, and enter the code:\n\n  {}\n  {}\n\n",
            one_line(self.url),
            out.bold(&one_line(self.code))
        );
        if let Some(qr) = qr_code::render(self.complete.unwrap_or(self.url), out) {
            let what = match self.complete {
                Some(_) => "Or scan this with a phone: the code is filled in. Compare it with the one above.",
                None => "Or scan this with a phone, and enter the code there.",
            };
            text += &format!("{what}\n\n{qr}\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qr_code_is_drawn_only_on_a_terminal() {
        let page = |complete| DevicePage { code: "ABCD-EFGH", url: "https://as.example/device", complete };
        let plain = OutputStream::plain(80);
        let terminal = OutputStream::terminal(80);
        let text = page(None).render(&plain);
        assert!(text.contains("\n  https://as.example/device\n  ABCD-EFGH\n"), "{text}");
        assert!(!text.contains('█'), "{text}");
        let text = page(Some("https://as.example/device?user_code=ABCD-EFGH")).render(&terminal);
        assert!(text.contains("the code is filled in") && text.contains('█'), "{text}");
        assert!(page(None).render(&terminal).contains("enter the code there"));
    }
}
