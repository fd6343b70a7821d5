//! The way to the page: opens a browser, prints the address, or tells a program where the token is.
//!
//! Invariant: a token is never in an argument list, and never in output that is kept: it is printed to a terminal only.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::redirect_file::RedirectFile;
use crate::error::CommandError;
use crate::login::{LoginEnvironment, open_browser};
use crate::output::{OutputStream, Screen, encode, print_json};
use crate::sanitize::one_line;

/// How long a token works.
pub(super) const TOKEN_LIFETIME: Duration = Duration::from_secs(60);

/// Leads users and programs to the page.
#[derive(Debug)]
pub(crate) struct PageOpener {
    /// Such as `http://127.0.0.1:40123`.
    address: String,
    folder: PathBuf,
    json: bool,
    reads_stdin: bool,
    /// The program that opens a browser; `None` to print the address.
    browser: Option<PathBuf>,
}

impl PageOpener {
    pub(crate) fn new(address: SocketAddr, folder: PathBuf, json: bool, opens: bool) -> Self {
        let environment = LoginEnvironment::of_process();
        let can_open = opens && !json && environment.opens_local_files();
        Self {
            address: format!("http://{address}"),
            folder,
            json,
            reads_stdin: false,
            browser: environment.browser.filter(|_| can_open),
        }
    }

    /// Lets a person at the terminal ask for another address with Enter.
    #[must_use]
    pub(crate) fn with_stdin(mut self) -> Self {
        self.reads_stdin = !self.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        self
    }

    /// Returns whether a person at the terminal can ask for another address.
    pub(crate) fn reads_stdin(&self) -> bool {
        self.reads_stdin
    }

    /// Leads to the page with this link. The file that is returned has to be kept until the token was used.
    ///
    /// # Errors
    /// Returns an error if the file or the output cannot be written.
    pub(super) fn open(&self, link: &str, screen: &Screen) -> Result<Option<RedirectFile>, CommandError> {
        if self.json {
            let token = link.split_once("#token=").map_or(link, |(_, token)| token);
            let file = RedirectFile::token(&self.folder, token)?;
            let line = json!({ "address": self.address, "tokenFile": file.path() });
            print_json(&OutputStream::stdout(), &encode(&line)?)?;
            return Ok(Some(file));
        }
        if let Some(browser) = &self.browser {
            let file = RedirectFile::page(&self.folder, link)?;
            if open_browser(browser, &file_url(file.path())) {
                screen.say(&format!("the console is at {}; it opens in your browser", self.address));
                self.offer_another(screen);
                return Ok(Some(file));
            }
        }
        if std::io::stderr().is_terminal() {
            screen.say(&format!("open the console within {} s:\n\n  {link}\n", TOKEN_LIFETIME.as_secs()));
            self.offer_another(screen);
            return Ok(None);
        }
        // Output that is not a terminal may be a log.
        let file = RedirectFile::page(&self.folder, link)?;
        screen.say(&format!(
            "the console is at {}; open this file in a browser within {} s: {}",
            self.address,
            TOKEN_LIFETIME.as_secs(),
            one_line(&file.path().display().to_string())
        ));
        Ok(Some(file))
    }

    fn offer_another(&self, screen: &Screen) {
        if self.reads_stdin {
            screen.say(&screen.out.dim("Enter opens it again; Ctrl-C ends the console and its servers"));
        }
    }
}

/// Returns the URL of a file.
fn file_url(path: &Path) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte);
    let encode = |byte: &u8| match is_plain(byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    let path: String = path.as_os_str().as_encoded_bytes().iter().map(encode).collect();
    format!("file://{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_file_is_encoded() {
        assert_eq!(file_url(Path::new("/home/a b/#1.html")), "file:///home/a%20b/%231.html");
    }
}
