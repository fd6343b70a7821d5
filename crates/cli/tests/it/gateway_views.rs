//! Views of a gateway: over HTTP at their own paths, and one of them on stdin and stdout.

use crate::commands::{SWITCHBOARD, run};
use crate::gateway_program::{ConfiguredGateway, base_config, demo_server, write_config};
use crate::home::Home;

const VIEWS: &str = r#"
[views.sums]
servers = "one"
tools.include = "add"
[views.sums.server.one.tool.add]
name = "add_one"
arguments.b = { fixed = 1 }
[views.echo]
servers = "one"
tools.include = "echo"
"#;

#[test]
fn every_view_is_at_its_path_and_changes_with_the_file() {
    let gateway = ConfiguredGateway::start(&format!("{}{VIEWS}", base_config()));
    let url = |view: &str| format!("{}/{view}", gateway.url);
    let tools = run(&["tools", "--url", &url("sums")]);
    assert_eq!(tools.code, 0, "{}", tools.err);
    assert!(tools.out.contains("add_one") && !tools.out.contains("echo"), "{}", tools.out);
    for revision in ["2025-11-25", "2026-07-28"] {
        let sum = run(&["call", "add_one", "a=41", "--url", &url("sums"), "--revision", revision]);
        assert_eq!((sum.code, sum.out.contains("42")), (0, true), "{revision}: {} {}", sum.out, sum.err);
        let refused = run(&["call", "echo", "text=x", "--url", &url("sums"), "--revision", revision]);
        assert_ne!(refused.code, 0, "{revision}");
    }
    assert!(run(&["tools", "--url", &url("echo")]).out.contains("one__echo"));
    assert_ne!(run(&["tools", "--url", &url("other")]).code, 0);
    let renamed = VIEWS.replace("[views.echo]", "[views.other]");
    gateway.reload(&format!("{}{renamed}", base_config()), "views replaced");
    assert!(run(&["tools", "--url", &url("other")]).out.contains("one__echo"));
    assert_ne!(run(&["tools", "--url", &url("echo")]).code, 0);
    gateway.stop();
}

#[test]
fn one_view_is_served_on_stdin_and_stdout() {
    let home = Home::new();
    write_config(&home, &format!("{}{VIEWS}", demo_server("one")));
    let file = home.at("gateway.toml").display().to_string();
    let state = format!("XDG_STATE_HOME={}", home.at("state").display());
    let options =
        ["--env", &state, "--", SWITCHBOARD, "gateway", "--config", &file, "--stdio", "--view", "sums"];
    let called = run(&[&["call", "add_one", "a=41"], &options[..]].concat());
    assert_eq!((called.code, called.out.contains("42")), (0, true), "{} {}", called.out, called.err);
    let refused = run(&[&["call", "one__echo", "text=x"], &options[..]].concat());
    assert_ne!(refused.code, 0, "{}", refused.out);

    let unknown = home.run(&["gateway", "--config", &file, "--stdio", "--view", "none"]);
    assert_eq!(unknown.code, 2, "{}", unknown.err);
    assert!(
        unknown.err.contains("no view \"none\"") && unknown.err.contains("echo, sums"),
        "{}",
        unknown.err
    );
}
