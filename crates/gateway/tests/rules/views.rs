//! Definitions of views: what is refused, where, and what to write instead.

use switchboard::gateway::view::View;

#[test]
fn the_example_of_the_documentation_is_valid() {
    let text = include_str!("../../../../docs/gateway.md");
    let (_, section) = text.split_once("\n## Views\n").unwrap();
    let (_, block) = section.split_once("```toml\n").unwrap();
    let views = View::parse_all(block.split_once("```").unwrap().0).unwrap();
    assert_eq!(views.len(), 1);
    assert_eq!(views[0].name(), "support");
}

#[test]
fn errors_name_the_line_the_field_and_what_to_do() {
    let long = "x".repeat(20_000);
    for (text, line, expected) in [
        ("[views.a]", 1, "missing field `servers`"),
        (
            "[views.a]\nservers = []",
            2,
            "views.a.servers: a view without servers shows nothing; write `servers = \"*\"`",
        ),
        ("[views.a]\nservers = 7", 2, "a name or an array of names"),
        (
            "[views.a]\nserver = { x = {} }\nservers = \"y\"",
            2,
            "views.a.server.x: `servers` does not have this server",
        ),
        ("[views.a]\nservers = \"*\"\ntool = 1", 3, "unknown field `tool`"),
        ("[views.a]\nservers = \"*\"\nprefix = \"sometimes\"", 3, "unknown variant `sometimes`"),
        ("[views.a]\nservers = [\"\"]", 2, "write `*` for all"),
        ("\n[views.A]\nservers = \"*\"", 2, "views.A: the name of a view is part of its URL"),
        ("[views.\"a/b\"]\nservers = \"*\"", 1, "part of its URL"),
        ("[views.\"ä\"]\nservers = \"*\"", 1, "part of its URL"),
        (
            "[views.a]\nservers = \"*\"\nlarge_results = { above = 10 }",
            3,
            "views.a.large_results: `above` is at least 256",
        ),
        (
            "[views.a]\nservers = \"*\"\nlarge_results = { above = 300, head = 301 }",
            3,
            "`head` is at most `above`",
        ),
        ("[views.a]\nservers = \"*\"\nresources.include = \"/etc/**\"", 3, "views.a.resources:"),
        ("[views.a]\nservers = \"*\"\ninstructions = \"x\"", 3, "expected `replace` or `add`"),
        (
            "[views.a]\nservers = \"*\"\n[views.a.server.s.tool.t]\nname = \"a b\"",
            4,
            "tool.t.name: use up to 128 characters",
        ),
        (
            "[views.a]\nservers = \"*\"\n[views.a.server.s.tool.t]\narguments.x = {}",
            4,
            "arguments.x: write `fixed`, `hidden` or `description`",
        ),
        (
            "[views.a]\nservers = \"*\"\n[views.a.server.s.tool.t]\narguments.x = { fixed = 1, hidden = true }",
            4,
            "exclude each other",
        ),
        (
            "[views.a]\nservers = \"*\"\n[views.a.server.s.tool.t]\narguments.x = { hidden = true, description = \"d\" }",
            4,
            "remove its `description`",
        ),
        (
            "[views.a]\nservers = \"*\"\n[views.a.server.s.tool.t]\narguments.x = { fixed = 2026-01-01 }",
            4,
            "are not JSON",
        ),
        (
            "[views.a]\nservers = \"*\"\n[views.a.server.s.tool.t]\narguments.x = { fixed = nan }",
            4,
            "are not JSON",
        ),
        (
            "[views.a]\nservers = \"*\"\n[views.a.server.s.tool.t]\narguments.x = { fixed = [1, { a = inf }] }",
            4,
            "are not JSON",
        ),
        (
            "[views.a]\nservers = \"*\"\n[views.a.server.s.tool.t]\nname = \"n\"\n[views.a.server.s.tool.u]\nname = \"n\"",
            6,
            "views.a.server.s.tool.u.name: the view uses the name `n` already",
        ),
        (
            "[views.a]\nservers = \"*\"\nlarge_results.above = 300\n[views.a.server.s.tool.u]\nname = \"read_result\"",
            5,
            "uses the name `read_result` already",
        ),
        (&format!("[views.a]\nservers = \"*\"\ninstructions.add = \"{long}\""), 3, "longer than 16384 bytes"),
    ] {
        let error = View::parse_all(text).unwrap_err();
        assert!(error.to_string().contains(expected), "{text}\n{error}");
        assert_eq!(error.line, Some(line), "{text}\n{error}");
    }
}

#[test]
fn the_number_of_views_and_names_is_bounded() {
    let views =
        |count: usize| (0..count).map(|at| format!("[views.v{at}]\nservers = \"*\"\n")).collect::<String>();
    assert_eq!(View::parse_all(&views(100)).unwrap().len(), 100);
    assert!(View::parse_all(&views(101)).unwrap_err().to_string().contains("more than 100 views"));
    let names = |count: usize| format!("[views.v]\nservers = {:?}", vec!["x"; count]);
    assert!(View::parse_all(&names(1_000)).is_ok());
    assert!(View::parse_all(&names(1_001)).unwrap_err().to_string().contains("limit of 1000"));
    assert!(View::parse_all(&" ".repeat(1024 * 1024 + 1)).is_err());
    assert!(View::parse_all("").unwrap().is_empty());
}
