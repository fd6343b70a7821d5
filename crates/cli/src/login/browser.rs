//! Opens a browser, or explains why no browser can be opened.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::environment::variable;

/// Why a browser on this machine is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoBrowser {
    /// The user is connected over SSH: their browser is elsewhere.
    Ssh,
    /// The process runs in a container.
    Container,
    /// There is no display.
    NoDisplay,
}

impl NoBrowser {
    /// Returns why a browser here is of no use; `None` if one may be opened.
    pub(crate) fn detect() -> Option<Self> {
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        if is_set("SSH_CONNECTION") || is_set("SSH_TTY") {
            Some(Self::Ssh)
        } else if ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| Path::new(mark).exists())
            || is_set("REMOTE_CONTAINERS")
            || is_set("CODESPACES")
        {
            Some(Self::Container)
        } else if is_set("DISPLAY")
            || is_set("WAYLAND_DISPLAY")
            || is_set("WSL_DISTRO_NAME")
            || is_set("BROWSER")
        {
            None
        } else {
            Some(Self::NoDisplay)
        }
    }

    /// Returns the reason and what to do, as a sentence.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Ssh => "You are connected over SSH, so your browser cannot reach this machine by itself.",
            Self::Container => "This is a container, so your browser cannot reach it by itself.",
            Self::NoDisplay => "There is no display here, so no browser can be opened.",
        }
    }
}

/// Opens a URL in the browser of the desktop. Returns whether one was started.
pub(crate) fn open(url: &str) -> bool {
    // No shell is involved, and the caller has checked that this is an http or https URL.
    Command::new("xdg-open")
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}
