//! Where a login runs: on a desktop, over SSH, in a container, in WSL; and which program opens a browser there.
//!
//! Detection reads a [`SystemView`], so that tests give it an environment of their own.

use std::path::{Path, PathBuf};

/// The parts of the system that detection reads.
pub(crate) struct SystemView<'a> {
    /// Returns the value of an environment variable.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the contents of a small file; `None` if it does not exist or cannot be read.
    pub(crate) read: &'a dyn Fn(&Path) -> Option<String>,
    /// Returns the file of a program in `PATH`.
    pub(crate) find_program: &'a dyn Fn(&str) -> Option<PathBuf>,
    /// Whether the system is macOS, which needs no display variable.
    pub(crate) is_macos: bool,
}

/// Where a login runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    Desktop,
    Ssh,
    /// A GitHub codespace.
    Codespace,
    /// A development container of an editor.
    DevContainer,
    Container,
    /// Linux on Windows; the browser is that of Windows.
    Wsl,
    NoDisplay,
}

/// Where a login runs, and the program that opens a browser there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoginEnvironment {
    pub(crate) location: Location,
    /// The program that opens a URL in a browser of the user, if one was found.
    pub(crate) browser: Option<PathBuf>,
}

impl LoginEnvironment {
    /// Detects the environment of this process.
    pub(crate) fn of_process() -> Self {
        Self::detect(&SystemView {
            variable: &crate::environment::variable,
            read: &|path| std::fs::read_to_string(path).ok(),
            find_program: &find_program,
            is_macos: cfg!(target_os = "macos"),
        })
    }

    /// Detects where a login runs.
    pub(crate) fn detect(system: &SystemView<'_>) -> Self {
        let location = system.location();
        Self { location, browser: system.browser(location) }
    }

    /// Returns what the user should know before the login starts; `None` on a desktop.
    ///
    /// `port` is the loopback port that waits for the callback, if one does.
    pub(crate) fn notice(&self, port: Option<u16>) -> Option<String> {
        let tunnel = |where_from: &str| {
            port.map(|port| {
                format!(
                    " Finish the login there and paste the address at which it ends; or forward the port first, \
                     {where_from}: ssh -L {port}:127.0.0.1:{port} HOST"
                )
            })
            .unwrap_or_default()
        };
        Some(match (self.location, &self.browser) {
            (Location::Desktop, Some(_)) => return None,
            (Location::Desktop, None) => {
                "No program to open a browser was found (xdg-open), so open the page yourself.".to_owned()
            }
            (Location::Ssh, Some(_)) => {
                "You are connected over SSH through an editor, which opens the page in the browser of your own machine."
                    .to_owned()
            }
            (Location::Ssh, None) => format!(
                "You are connected over SSH, so open the page in the browser of your own machine.{}",
                tunnel("from your own machine")
            ),
            (Location::Codespace, _) => {
                "This is a codespace, so your browser is on another machine: paste the address at which the login ends, \
                 or forward the port in the editor."
                    .to_owned()
            }
            (Location::DevContainer, _) => {
                "This is a development container: the editor usually forwards the port; if the browser ends at a page that \
                 cannot be reached, paste its address."
                    .to_owned()
            }
            (Location::Container, _) => {
                "This is a container, so your browser cannot reach it by itself: paste the address at which the login ends."
                    .to_owned()
            }
            (Location::Wsl, Some(_)) => "This is WSL, so the page opens in the browser of Windows.".to_owned(),
            (Location::Wsl, None) => {
                "This is WSL and neither wslview nor explorer.exe was found: open the page in Windows yourself.".to_owned()
            }
            (Location::NoDisplay, _) => {
                "There is no display here, so no browser can be opened: open the page anywhere, and paste the address at \
                 which the login ends."
                    .to_owned()
            }
        })
    }

    /// Returns whether the browser can open a file of this machine.
    pub(crate) fn opens_local_files(&self) -> bool {
        let is_wslview = || self.browser.as_ref().is_some_and(|program| program.ends_with("wslview"));
        self.location == Location::Desktop || (self.location == Location::Wsl && is_wslview())
    }

    /// Returns whether the browser of the user is on another machine.
    pub(crate) fn has_remote_browser(&self) -> bool {
        !matches!(self.location, Location::Desktop | Location::Wsl)
    }
}

impl SystemView<'_> {
    fn is_set(&self, name: &str) -> bool {
        (self.variable)(name).is_some_and(|value| !value.is_empty())
    }

    fn exists(&self, path: &str) -> bool {
        (self.read)(Path::new(path)).is_some()
    }

    fn location(&self) -> Location {
        // The order matters: a codespace is a container too, a container may run on WSL, and all may be reached over SSH.
        if self.is_set("CODESPACES") {
            Location::Codespace
        } else if self.is_set("REMOTE_CONTAINERS") || self.is_set("DEVCONTAINER") {
            Location::DevContainer
        } else if self.is_container() {
            Location::Container
        } else if self.is_set("SSH_CONNECTION") || self.is_set("SSH_TTY") || self.is_set("SSH_CLIENT") {
            Location::Ssh
        } else if self.is_wsl() {
            Location::Wsl
        } else if self.is_macos || self.is_set("DISPLAY") || self.is_set("WAYLAND_DISPLAY") {
            Location::Desktop
        } else {
            Location::NoDisplay
        }
    }

    fn is_container(&self) -> bool {
        const RUNTIMES: [&str; 6] = ["docker", "containerd", "kubepods", "libpod", "lxc", "crio"];
        let cgroup = (self.read)(Path::new("/proc/1/cgroup")).unwrap_or_default();
        self.exists("/.dockerenv")
            || self.exists("/run/.containerenv")
            || self.is_set("container")
            || self.is_set("KUBERNETES_SERVICE_HOST")
            || RUNTIMES.iter().any(|runtime| cgroup.contains(runtime))
    }

    fn is_wsl(&self) -> bool {
        let kernel = || (self.read)(Path::new("/proc/sys/kernel/osrelease")).unwrap_or_default();
        self.is_set("WSL_DISTRO_NAME")
            || self.is_set("WSL_INTEROP")
            || kernel().to_ascii_lowercase().contains("microsoft")
    }

    /// Returns the program that opens a URL for the user.
    fn browser(&self, location: Location) -> Option<PathBuf> {
        let find = |names: &[&str]| names.iter().find_map(|name| (self.find_program)(name));
        // An editor that is connected to this machine sets BROWSER to a program that opens the page on the user's machine.
        // Without an editor, BROWSER in a session without a display names a browser that draws on the terminal.
        let has_editor = self.is_set("VSCODE_IPC_HOOK_CLI") || self.is_set("REMOTE_CONTAINERS");
        let helper = || (self.variable)("BROWSER").filter(|_| has_editor).and_then(|name| find(&[&name]));
        match location {
            Location::Desktop if self.is_macos => find(&["open"]),
            Location::Desktop => find(&["xdg-open"]),
            Location::Wsl => find(&["wslview", "explorer.exe"]),
            Location::Ssh | Location::Codespace | Location::DevContainer => helper(),
            Location::Container | Location::NoDisplay => None,
        }
    }
}

/// Returns the file of a program: in `PATH`, or at its own path.
fn find_program(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;

    let is_program = |path: &PathBuf| {
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(is_program);
    }
    let path = std::env::var_os("PATH")?;
    // An empty or relative entry would run a program of the current directory.
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(is_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Detects in an environment with these variables, files and programs.
    fn detect(variables: &[(&str, &str)], files: &[(&str, &str)], programs: &[&str]) -> LoginEnvironment {
        LoginEnvironment::detect(&SystemView {
            variable: &|name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            },
            read: &|path| {
                files.iter().find(|(known, _)| Path::new(known) == path).map(|(_, text)| (*text).to_owned())
            },
            find_program: &|name| programs.contains(&name).then(|| PathBuf::from(format!("/usr/bin/{name}"))),
            is_macos: false,
        })
    }

    #[test]
    fn each_environment_is_detected_by_each_of_its_marks() {
        let display = ("DISPLAY", ":0");
        for (variables, files, expected) in [
            (&[display][..], &[][..], Location::Desktop),
            (&[("WAYLAND_DISPLAY", "wayland-0")], &[], Location::Desktop),
            (&[], &[], Location::NoDisplay),
            (&[("DISPLAY", "")], &[], Location::NoDisplay),
            (&[("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22"), display], &[], Location::Ssh),
            (&[("SSH_TTY", "/dev/pts/0")], &[], Location::Ssh),
            (&[("SSH_CLIENT", "10.0.0.1 1 22")], &[], Location::Ssh),
            (&[display], &[("/.dockerenv", "")], Location::Container),
            (&[], &[("/run/.containerenv", "")], Location::Container),
            (&[("container", "podman")], &[], Location::Container),
            (&[("KUBERNETES_SERVICE_HOST", "10.1.0.1")], &[], Location::Container),
            (&[], &[("/proc/1/cgroup", "0::/kubepods.slice/x")], Location::Container),
            (&[], &[("/proc/1/cgroup", "12:pids:/docker/abc\n")], Location::Container),
            (&[display], &[("/proc/1/cgroup", "0::/init.scope\n")], Location::Desktop),
            (&[("REMOTE_CONTAINERS", "true")], &[("/.dockerenv", "")], Location::DevContainer),
            (&[("CODESPACES", "true"), ("REMOTE_CONTAINERS", "true")], &[], Location::Codespace),
            (&[("WSL_DISTRO_NAME", "Debian"), display], &[], Location::Wsl),
            (&[("WSL_INTEROP", "/run/WSL/1_interop")], &[], Location::Wsl),
            (&[], &[("/proc/sys/kernel/osrelease", "5.15-microsoft-standard-WSL2")], Location::Wsl),
            (&[("WSL_DISTRO_NAME", "Debian")], &[("/.dockerenv", "")], Location::Container),
        ] {
            assert_eq!(detect(variables, files, &[]).location, expected, "{variables:?} {files:?}");
        }
    }

    #[test]
    fn the_browser_is_the_one_that_the_user_sees() {
        let all = ["xdg-open", "wslview", "explorer.exe", "helper"];
        let browser = |variables: &[(&str, &str)], programs: &[&str]| {
            let found = detect(variables, &[], programs).browser;
            found.map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        };
        assert_eq!(browser(&[("DISPLAY", ":0")], &all).as_deref(), Some("xdg-open"));
        assert_eq!(browser(&[("DISPLAY", ":0")], &[]), None);
        assert_eq!(browser(&[("WSL_INTEROP", "x")], &all).as_deref(), Some("wslview"));
        assert_eq!(browser(&[("WSL_INTEROP", "x")], &["explorer.exe"]).as_deref(), Some("explorer.exe"));
        // A browser on the terminal of the other machine would take over this terminal.
        assert_eq!(browser(&[("SSH_TTY", "x"), ("BROWSER", "helper")], &all), None);
        let editor = [("SSH_TTY", "x"), ("BROWSER", "helper"), ("VSCODE_IPC_HOOK_CLI", "/tmp/vscode.sock")];
        assert_eq!(browser(&editor, &all).as_deref(), Some("helper"));
        assert_eq!(browser(&[], &all), None);
    }

    #[test]
    fn a_notice_says_where_the_browser_is() {
        assert_eq!(detect(&[("DISPLAY", ":0")], &[], &["xdg-open"]).notice(Some(50123)), None);
        let ssh = detect(&[("SSH_TTY", "x")], &[], &[]);
        let notice = ssh.notice(Some(50123)).unwrap();
        assert!(notice.starts_with("You are connected over SSH"), "{notice}");
        assert!(notice.contains("ssh -L 50123:127.0.0.1:50123 HOST"), "{notice}");
        // Without a listener there is nothing to forward.
        assert!(!ssh.notice(None).unwrap().contains("ssh -L"));
        for (variables, word) in [
            (&[("CODESPACES", "true")][..], "codespace"),
            (&[("REMOTE_CONTAINERS", "1")], "development container"),
            (&[("container", "lxc")], "This is a container"),
            (&[("WSL_INTEROP", "x")], "WSL"),
            (&[], "no display"),
        ] {
            let notice = detect(variables, &[], &[]).notice(Some(1)).unwrap();
            assert!(notice.contains(word), "{notice}");
        }
    }
}
