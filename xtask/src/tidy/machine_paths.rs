//! No file depends on one machine, or downloads past the package managers.

use super::Finding;
use super::tree::File;

/// Folders of a particular machine.
const MACHINE_FOLDERS: [&str; 3] = [concat!("/", "work/"), concat!("/", "root/"), concat!("/", "farm/")];
const HOME_FOLDER: &str = concat!("/", "home/");
/// Home folders of fictional users in examples.
const EXAMPLE_USERS: [&str; 5] = ["user", "me", "you", "alice", "bob"];

/// Concatenated, because this file is checked too.
const DOWNLOAD_HOSTS: [&str; 7] = [
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("static.", "crates.io"),
    concat!("index.", "crates.io"),
    concat!("files.", "pythonhosted.org"),
    concat!("pypi.", "org/simple"),
    concat!("deb.", "debian.org"),
];

pub(super) fn check(file: &File) -> Vec<Finding> {
    let is_lock = file.path == "Cargo.lock" || file.path.ends_with("/Cargo.lock");
    let mut findings = Vec::new();
    for (line, text) in file.text.lines().enumerate() {
        let mut add = |what: String| findings.push(Finding { path: file.path.clone(), line: line + 1, what });
        if let Some(path) = machine_path(text) {
            add(format!(
                "`{path}` is a path of one machine; take it from the environment, or use a temporary folder"
            ));
        }
        let is_source = is_lock && text.starts_with("source = ");
        if let Some(host) = DOWNLOAD_HOSTS.iter().find(|host| !is_source && text.contains(*host)) {
            add(format!(
                "`{host}` is a download host; name the package and leave the host to its package manager"
            ));
        }
    }
    findings
}

fn machine_path(line: &str) -> Option<&str> {
    let starts =
        |folder: &'static str| line.match_indices(folder).map(|(at, _)| at).filter(|at| is_start(line, *at));
    if let Some(folder) = MACHINE_FOLDERS.into_iter().find(|folder| starts(folder).next().is_some()) {
        return Some(folder);
    }
    starts(HOME_FOLDER).find_map(|at| {
        let (user, _) = line[at + HOME_FOLDER.len()..].split_once('/')?;
        let is_real = !user.is_empty()
            && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        (is_real && !EXAMPLE_USERS.contains(&user)).then(|| &line[at..at + HOME_FOLDER.len() + user.len()])
    })
}

/// Returns whether a match is not in the middle of a longer path or a URL.
fn is_start(line: &str, at: usize) -> bool {
    let before = line[..at].chars().next_back();
    before.is_none_or(|before| !before.is_alphanumeric() && !"/._-~}>*$".contains(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_one_machine_are_found() {
        assert_eq!(machine_path(concat!("cd /", "work/main")), Some(MACHINE_FOLDERS[0]));
        assert_eq!(machine_path(concat!("dir = \"/", "root/.cargo\"")), Some(MACHINE_FOLDERS[1]));
        assert_eq!(machine_path(concat!("see /", "home/jo.e/x")), Some(concat!("/", "home/jo.e")));
    }

    #[test]
    fn examples_and_parts_of_other_paths_are_allowed() {
        for line in [
            "src/work/a",
            "file:///home/user/project",
            "/home/user/a",
            "/home/$USER/a",
            "~/work/",
            "a/root/b",
        ] {
            assert_eq!(machine_path(line), None, "{line}");
        }
    }

    #[test]
    fn hosts_are_found_except_in_sources_of_a_lock_file() {
        let line = format!("source = \"sparse+https://{}/\"\n", DOWNLOAD_HOSTS[3]);
        assert_eq!(check(&File::new("Cargo.lock", &line)).len(), 0);
        assert_eq!(check(&File::new("interop/Cargo.lock", &line)).len(), 0);
        assert_eq!(check(&File::new("config.toml", &line)).len(), 1);
        assert_eq!(check(&File::new("README.md", "published on crates.io and PyPI")).len(), 0);
    }
}
