//! The configuration file of a gateway: what it sets, what is refused, and what changes while it runs.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use switchboard_testkit::{RunningCommand, run_command};

use crate::commands::{SWITCHBOARD, switchboard};
use crate::gateway_program::{
    ConfiguredGateway, LegacyClient, base_config, demo_server, write_config, write_private,
};
use crate::home::{Home, demo};

const PIZZA: &str = "large pizza with olives";

fn pizza() -> serde_json::Value {
    json!({ "size": "large", "toppings": ["olives"] })
}

#[test]
fn one_file_has_servers_policy_audit_and_addresses() {
    let home = Home::new();
    home.write("more.json", &json!({ "mcpServers": { "two": demo() } }));
    write_private(&home.at("more.json"), &home.read("more.json"));
    let policy = "[policy]\ndefault = \"allow\"\n[[policy.rule]]\neffect = \"deny\"\nserver = \"two\"\ntool = \"echo\"\n";
    let config = format!(
        "prefix = \"conflict\"\ninclude = [\"more.json\"]\naudit = \"audit.jsonl\"\n{}{policy}",
        base_config()
    );
    let gateway = ConfiguredGateway::start_in(home, &config, &[]);
    let tools = gateway.run(&["tools"]);
    assert_eq!(tools.code, 0, "{}", tools.err);
    assert!(tools.out.contains("one__add") && tools.out.contains("two__add"), "{}", tools.out);
    assert!(!tools.out.contains("two__echo"), "{}", tools.out);
    assert_eq!(gateway.run(&["call", "two__add", "a=1", "b=2"]).code, 0);
    assert_ne!(gateway.run(&["call", "two__echo", "text=x"]).code, 0);
    assert!(gateway.home.read("audit.jsonl").contains("\"outcome\":\"denied\""));
}

/// A configuration with an audit log that is rotated after every line.
fn audit_config(options: &str) -> String {
    format!("[audit]\npath = \"audit.jsonl\"\nmax_bytes = 1\n{options}\n{}", base_config())
}

#[test]
fn the_audit_log_is_rotated_as_the_file_says() {
    let mut gateway = ConfiguredGateway::start(&audit_config("files = 3"));
    for _ in 0..4 {
        assert_eq!(gateway.run(&["call", "one__add", "a=1", "b=2"]).code, 0);
    }
    gateway.running.terminate();
    assert_eq!(gateway.running.wait().code(), Some(0));
    let text = |name: &str| std::fs::read_to_string(gateway.home.at(name));
    let lines = |name: &str| text(name).map(|text| text.lines().count()).ok();
    let counts = ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2", "audit.jsonl.3"].map(lines);
    assert_eq!(counts, [Some(1), Some(1), Some(1), None]);
}

#[test]
fn the_file_says_what_happens_while_the_audit_log_cannot_be_written() {
    for failure in ["closed", "open"] {
        let home = Home::new();
        // The log cannot be renamed to the name of a directory, so nothing follows its first line.
        std::fs::create_dir(home.at("audit.jsonl.1")).unwrap();
        let config = audit_config(&format!("failure = {failure:?}"));
        let gateway = ConfiguredGateway::start_in(home, &config, &[]);
        let call = || gateway.run(&["call", "one__add", "a=1", "b=2"]);
        let refused = (0..20).map(|_| call()).find(|called| called.code != 0);
        match (failure, refused) {
            ("closed", Some(refused)) => assert!(refused.err.contains("audit"), "{}", refused.err),
            ("open", None) => {}
            (_, refused) => panic!("{failure}: {refused:?}"),
        }
        assert_eq!(gateway.home.read("audit.jsonl").lines().count(), 1, "{failure}");
    }
}

#[test]
fn flags_win_over_the_file() {
    let config = format!("prefix = \"never\"\n[listen]\nunix = \"gateway.sock\"\n{}", demo_server("one"));
    let gateway = ConfiguredGateway::start_in(
        Home::new(),
        &config,
        &["--http", "127.0.0.1:0", "--prefix", "always", "--unix", "other.sock"],
    );
    assert!(gateway.run(&["tools"]).out.contains("one__add"));
    gateway.running.err.wait_for("listening at unix:other.sock", 0);
    assert!(!gateway.home.at("gateway.sock").exists());
}

#[test]
fn a_file_that_is_not_valid_is_refused_with_line_and_advice() {
    let home = Home::new();
    let file = home.at("gateway.toml").display().to_string();
    let passthrough = "[listen]\nhttp = \"127.0.0.1:0\"\n[servers.api]\nurl = \"https://api.example\"\n\
                       headers = { Authorization = \"Bearer ${caller.token}\" }\n";
    for (config, expected) in [
        ("[listen]\nhtpp = \"x\"", "gateway.toml, line 2: unknown field `htpp`"),
        (passthrough, "`headers.Authorization` passes the caller's token on"),
        (passthrough, "logins per user are not offered yet"),
        (passthrough, "switchboard login api"),
        ("[listen]\nhttp = \"0.0.0.0:0\"\n[servers.a]\ncommand = \"x\"", "--allow-remote"),
        ("policy = \"none.toml\"\n[servers.a]\ncommand = \"x\"", "none.toml"),
        (
            "[audit]\npath = \"a\"\noverflow = \"wait\"",
            "gateway.toml, line 3: \"wait\" is not known here; write \"block\"",
        ),
        ("[audit]\noverflow = \"drop\"", "gateway.toml, line 1: missing field `path`"),
        ("[policy]\ndefault = \"maybe\"\n[servers.a]\ncommand = \"x\"", "gateway.toml, line 2"),
    ] {
        write_config(&home, config);
        let ran = home.run(&["gateway", "--config", &file]);
        assert_ne!(ran.code, 0, "{config}");
        assert!(ran.err.contains(expected), "{config}: {}", ran.err);
    }
}

#[test]
fn changes_are_applied_while_calls_run() {
    let gateway = ConfiguredGateway::start(&base_config());
    let client = LegacyClient::connect(gateway.address());
    let call = client.call_until_question("one__order_pizza");
    assert_eq!(gateway.get("/readyz").0, "200");

    let two = format!("{}{}", base_config(), demo_server("two"));
    gateway.reload(&two, "configuration applied: added two");
    assert_eq!(
        gateway.get("/readyz").0,
        "200",
        "a server that starts later does not take the gateway out of service"
    );
    gateway.wait_for_tool("two__add");
    let added = gateway.run(&["call", "two__add", "a=19", "b=23"]);
    assert_eq!((added.code, added.out.contains("42")), (0, true), "{}", added.err);

    let denied = "[policy]\ndefault = \"allow\"\n[[policy.rule]]\neffect = \"deny\"\ntool = \"add\"\n";
    gateway.reload(&format!("{two}{denied}"), "policy replaced");
    assert_ne!(gateway.run(&["call", "two__add", "a=19", "b=23"]).code, 0);

    gateway.reload(&base_config(), "removed two");
    assert_ne!(gateway.run(&["call", "two__echo", "text=x"]).code, 0);
    let result = client.answer(call, pizza());
    assert!(result.to_string().contains(PIZZA), "{result}");
}

#[test]
fn a_broken_change_leaves_everything_as_it_was() {
    let gateway = ConfiguredGateway::start(&base_config());
    let broken = format!("{}[servers.two]\ncomand = \"x\"\n", base_config());
    gateway.reload(&broken, "the configuration was not applied");
    gateway.running.err.wait_for("server `two`", 0);
    assert_eq!(gateway.run(&["call", "one__add", "a=1", "b=2"]).code, 0);
    assert_eq!(gateway.get("/readyz").0, "200");

    // A server with credentials would be lent to everyone who reaches the port.
    let secret = format!("{}env = {{ TOKEN = \"s3cret\" }}\n", base_config());
    gateway.reload(&secret, "one has credentials");
    gateway.reload(&format!("{}{}", base_config(), demo_server("two")), "configuration applied: added two");
    assert!(!gateway.stop().contains("s3cret"));
}

#[test]
fn a_hangup_reloads_and_names_what_needs_a_restart() {
    let gateway = ConfiguredGateway::start(&format!("drain = \"9s\"\n{}", base_config()));
    let hangup = || kill_process(Pid::from_child(&gateway.running.child), Signal::HUP).unwrap();
    hangup();
    gateway.running.err.wait_for("configuration applied: nothing has changed", 0);
    let config = format!("prefix = \"never\"\n{}", base_config()).replace("127.0.0.1:0", "127.0.0.1:1");
    gateway.reload(&config, "listen.http, prefix need(s) a restart");
    assert!(gateway.run(&["tools"]).out.contains("one__add"), "the prefix stays until a restart");
}

#[test]
fn a_policy_in_its_own_file_is_reread() {
    let home = Home::new();
    let policy = home.at("policy.toml");
    std::fs::write(&policy, "default = \"deny\"\n").unwrap();
    let gateway =
        ConfiguredGateway::start_in(home, &format!("policy = \"policy.toml\"\n{}", base_config()), &[]);
    let add = ["call", "one__add", "a=1", "b=2"];
    assert_ne!(gateway.run(&add).code, 0);
    std::fs::write(&policy, "default = \"allow\"\n").unwrap();
    gateway.running.err.wait_for("configuration applied: policy replaced", 0);
    assert_eq!(gateway.run(&add).code, 0);
    std::fs::write(&policy, "default = \"perhaps\"\n").unwrap();
    gateway.running.err.wait_for("the configuration was not applied", 0);
    assert_eq!(gateway.run(&add).code, 0);
}

#[test]
fn a_gateway_on_stdin_is_configured_by_a_file_too() {
    let home = Home::new();
    write_config(&home, &demo_server("one"));
    let file = home.at("gateway.toml").display().to_string();
    let ran = run_command(
        switchboard([
            "call",
            "one__add",
            "a=1",
            "b=2",
            "--",
            SWITCHBOARD,
            "gateway",
            "--stdio",
            "--config",
            &file,
        ]),
        "",
    );
    assert_eq!((ran.code, ran.out.contains('3')), (0, true), "{} {}", ran.out, ran.err);
}

#[test]
fn the_service_manager_is_told() {
    let home = Home::new();
    let socket = home.at("notify.sock");
    let manager = std::os::unix::net::UnixDatagram::bind(&socket).unwrap();
    manager.set_read_timeout(Some(switchboard_testkit::STEP_TIMEOUT)).unwrap();
    let receive = || {
        let mut buffer = [0; 1024];
        let count = manager.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..count]).into_owned()
    };
    write_config(&home, &base_config());
    let file = home.at("gateway.toml").display().to_string();
    let mut command = home.command(&["gateway", "--config", &file]);
    let mut gateway = RunningCommand::start(command.env("NOTIFY_SOCKET", &socket));
    assert!(receive().starts_with("READY=1"));
    kill_process(Pid::from_child(&gateway.child), Signal::HUP).unwrap();
    assert!(receive().contains("MONOTONIC_USEC="));
    assert!(receive().starts_with("READY=1"));
    gateway.terminate();
    assert!(receive().starts_with("STOPPING=1"));
    assert_eq!(gateway.wait().code(), Some(0));
}
