//! Layers: in every crate the top-level modules form a directed acyclic graph.
//!
//! An edge is a path that begins with `crate::`, or with enough `super::` to reach the root. A name that the root
//! re-exports counts as the module it comes from. Tests may use any module.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::source::Source;
use super::tree::Tree;

/// Uses between modules: the file and line where one first mentions another.
type Edges = BTreeMap<String, BTreeMap<String, (String, usize)>>;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let roots = tree.files.iter().filter(|file| {
        let parts: Vec<&str> = file.path.split('/').collect();
        matches!(parts.as_slice(), ["crates", _, "src", "lib.rs" | "main.rs"])
    });
    roots.flat_map(|root| check_crate(tree, &Source::new(root))).collect()
}

fn check_crate(tree: &Tree, root: &Source<'_>) -> Vec<Finding> {
    let folder = root.file.path.trim_end_matches("lib.rs").trim_end_matches("main.rs");
    let names = RootNames::read(root);
    let mut edges = Edges::new();
    for file in &tree.files {
        let Some(inside) = file.path.strip_prefix(folder).filter(|_| file.is_rust()) else { continue };
        if file.is_test() || file.path == root.file.path {
            continue;
        }
        let module = inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs");
        let source = Source::new(file);
        for (at, name) in root_paths(&source, depth(inside)) {
            if source.is_test(at) {
                continue;
            }
            let Some(used) = names.module_of(&name).filter(|used| *used != module) else { continue };
            let place = || (file.path.clone(), source.line(at));
            edges.entry(module.into()).or_default().entry(used.into()).or_insert_with(place);
        }
    }
    cycles(&edges).into_iter().map(|cycle| describe(&edges, &cycle)).collect()
}

/// The modules that a crate's root declares, and the names it re-exports from them.
struct RootNames {
    modules: BTreeSet<String>,
    re_exports: BTreeMap<String, String>,
}

impl RootNames {
    fn read(root: &Source<'_>) -> Self {
        let mut modules = BTreeSet::new();
        for (at, _) in root.bare.match_indices("mod ") {
            let name = identifier(&root.bare[at + "mod ".len()..]);
            let after = &root.bare[at + "mod ".len() + name.len()..];
            if after.starts_with(';') && !root.is_test(at) {
                modules.insert(name.to_owned());
            }
        }
        let mut re_exports = BTreeMap::new();
        for (at, _) in root.bare.match_indices("use ") {
            let statement = &root.bare[at + "use ".len()..root.item_end(at)];
            let module = identifier(statement).to_owned();
            if modules.contains(&module) {
                let names = statement.split(|character: char| !is_identifier(character));
                re_exports.extend(names.map(|name| (name.to_owned(), module.clone())));
            }
        }
        Self { modules, re_exports }
    }

    fn module_of(&self, name: &str) -> Option<&str> {
        let re_exported = || self.re_exports.get(name);
        self.modules.get(name).or_else(re_exported).map(String::as_str)
    }
}

/// Returns the number of `super::` from the module of this file to the root.
fn depth(inside: &str) -> usize {
    let parts = inside.split('/').count();
    if inside.ends_with("/mod.rs") { parts - 1 } else { parts }
}

/// Returns the first name of each path from the root, with its position.
fn root_paths(source: &Source<'_>, depth: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for prefix in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (at, _) in source.bare.match_indices(prefix.as_str()) {
            let before = source.bare[..at].chars().next_back();
            // `switchboard_crate::` and one `super::` too many are other paths.
            if before.is_some_and(|before| is_identifier(before) || before == ':') {
                continue;
            }
            let rest = &source.bare[at + prefix.len()..];
            let names = if rest.starts_with('{') { group_heads(rest) } else { vec![identifier(rest)] };
            found.extend(names.into_iter().filter(|name| *name != "super").map(|name| (at, name.to_owned())));
        }
    }
    found
}

/// Returns the first names of the members of `{a::b, c::{d, e}}`.
fn group_heads(group: &str) -> Vec<&str> {
    let (mut depth, mut heads, mut start) = (0, Vec::new(), 1);
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && character == ',') {
            heads.push(identifier(group[start..at].trim_start()));
            start = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    heads
}

fn identifier(text: &str) -> &str {
    &text[..text.find(|character| !is_identifier(character)).unwrap_or(text.len())]
}

fn is_identifier(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns a shortest cycle for each module that is on one; each cycle is listed once.
fn cycles(edges: &Edges) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    for start in edges.keys() {
        if found.iter().any(|cycle| cycle.contains(start)) {
            continue;
        }
        found.extend(shortest_cycle(edges, start));
    }
    found
}

/// Searches breadth-first from `start` back to it.
fn shortest_cycle(edges: &Edges, start: &str) -> Option<Vec<String>> {
    let mut paths = std::collections::VecDeque::from([vec![start.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(path) = paths.pop_front() {
        for next in edges.get(path.last()?).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                return Some(path);
            }
            if seen.insert(next.clone()) {
                paths.push_back([path.as_slice(), std::slice::from_ref(next)].concat());
            }
        }
    }
    None
}

fn describe(edges: &Edges, cycle: &[String]) -> Finding {
    let steps = cycle.iter().zip(cycle.iter().cycle().skip(1));
    let steps: Vec<String> = steps
        .map(|(from, to)| {
            let (path, line) = &edges[from][to];
            format!("`{from}` uses `{to}` ({path}:{line})")
        })
        .collect();
    let (path, line) = edges[&cycle[0]][&cycle[1 % cycle.len()]].clone();
    let what = format!("modules form a cycle: {}; move shared code into the lower module", steps.join(", "));
    Finding { path, line, what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::File;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| File::new(&format!("crates/x/src/{path}"), text);
        let tree = Tree { files: files.iter().map(file).collect() };
        check(&tree).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_cycle_is_described_by_its_uses() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use b::B;\n"),
            ("a.rs", "use crate::B;\n"),
            ("b/mod.rs", "mod c;\n"),
            ("b/c.rs", "use std::fmt;\nuse crate::{b::B, a::{A, D}};\n"),
        ];
        assert_eq!(
            found(&files),
            [
                "modules form a cycle: `a` uses `b` (crates/x/src/a.rs:1), `b` uses `a` (crates/x/src/b/c.rs:2); \
              move shared code into the lower module"
            ]
        );
    }

    #[test]
    fn paths_through_super_count_when_they_reach_the_root() {
        let up =
            [("lib.rs", "mod a;\nmod b;\n"), ("a.rs", "use super::b::B;\n"), ("b.rs", "crate::a::f();\n")];
        assert_eq!(found(&up).len(), 1);
        let nested = [
            ("lib.rs", "mod a;\nmod b;\n"),
            ("a.rs", "use crate::b::B;\n"),
            ("b/mod.rs", "mod c;\n"),
            ("b/c.rs", "use super::a;\n"),
        ];
        assert_eq!(found(&nested), [""; 0]);
    }

    #[test]
    fn tests_comments_and_strings_make_no_edges() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\n#[cfg(test)]\nmod tests;\n"),
            (
                "a.rs",
                "// crate::b::B\nconst A: &str = \"crate::b\";\n#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n",
            ),
            ("b.rs", "use crate::a::A;\n"),
            ("tests/b.rs", "use crate::b::B;\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }
}
