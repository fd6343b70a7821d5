//! Nothing in the tree may hold on one machine only, or fetch past the package managers.

use super::Finding;
use super::tree::File;

/// Folders of somebody's machine.
const MACHINE: [&str; 3] = [concat!("/", "work/"), concat!("/", "root/"), concat!("/", "farm/")];
const HOMES: &str = concat!("/", "home/");
/// Home folders of nobody, as examples have them.
const NOBODY: [&str; 5] = ["user", "me", "you", "alice", "bob"];

/// Put together here, because this file is looked at too.
const HOSTS: [&str; 7] = [
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("static.", "crates.io"),
    concat!("index.", "crates.io"),
    concat!("files.", "pythonhosted.org"),
    concat!("pypi.", "org/simple"),
    concat!("deb.", "debian.org"),
];

pub(super) fn check(file: &File) -> Vec<Finding> {
    let lock = file.path == "Cargo.lock" || file.path.ends_with("/Cargo.lock");
    let mut findings = Vec::new();
    for (line, text) in file.text.lines().enumerate() {
        let mut add = |what: String| findings.push(Finding { path: file.path.clone(), line: line + 1, what });
        if let Some(path) = machine_path(text) {
            add(format!(
                "`{path}` is a path of one machine; take it from the environment, or make a temporary folder"
            ));
        }
        let source = lock && text.starts_with("source = ");
        if let Some(host) = HOSTS.iter().find(|host| !source && text.contains(*host)) {
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
    if let Some(folder) = MACHINE.into_iter().find(|folder| starts(folder).next().is_some()) {
        return Some(folder);
    }
    starts(HOMES).find_map(|at| {
        let (user, _) = line[at + HOMES.len()..].split_once('/')?;
        let real = !user.is_empty()
            && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        (real && !NOBODY.contains(&user)).then(|| &line[at..at + HOMES.len() + user.len()])
    })
}

/// Not in the middle of a longer path or of an address.
fn is_start(line: &str, at: usize) -> bool {
    let before = line[..at].chars().next_back();
    before.is_none_or(|before| !before.is_alphanumeric() && !"/._-~}>*$".contains(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_one_machine_are_found() {
        assert_eq!(machine_path(concat!("cd /", "work/main")), Some(MACHINE[0]));
        assert_eq!(machine_path(concat!("dir = \"/", "root/.cargo\"")), Some(MACHINE[1]));
        assert_eq!(machine_path(concat!("see /", "home/jo.e/x")), Some(concat!("/", "home/jo.e")));
    }

    #[test]
    fn examples_and_parts_of_other_paths_are_not() {
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
        let line = format!("source = \"sparse+https://{}/\"\n", HOSTS[3]);
        assert_eq!(check(&File::new("Cargo.lock", &line)).len(), 0);
        assert_eq!(check(&File::new("interop/Cargo.lock", &line)).len(), 0);
        assert_eq!(check(&File::new("config.toml", &line)).len(), 1);
        assert_eq!(check(&File::new("README.md", "published on crates.io and PyPI")).len(), 0);
    }
}
