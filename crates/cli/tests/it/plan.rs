//! `switchboard plan`: what a changed configuration would change.

use crate::commands::SWITCHBOARD;
use crate::gateway_program::{ConfiguredGateway, base_config, demo_server, write_config};
use crate::home::Home;

fn policy(rules: &str) -> String {
    format!("[policy]\ndefault = \"allow\"\n{rules}")
}

const DENY_ADD: &str = "[[policy.rule]]\nname = \"no-add\"\neffect = \"deny\"\ntool = \"add\"\n";
const DENY_ADA: &str = "[[policy.rule]]\neffect = \"deny\"\nprincipal = \"ada\"\ntool = \"echo\"\n";

#[test]
fn it_compares_with_what_a_gateway_has_applied() {
    let secret = "env = { TOKEN = \"s3cret-one\" }\n";
    let before =
        format!("{}{secret}{}{}", base_config(), demo_server("two"), "[callers]\nanonymous = true\n");
    let mut gateway = ConfiguredGateway::start(&before);
    let file = gateway.home.at("gateway.toml").display().to_string();
    let plan = |home: &Home| home.run(&["plan", "--config", &file]);
    // Until the tools of all servers are recorded.
    let _ = (0..1_000).any(|_| plan(&gateway.home).out == "no changes\n");
    let same = plan(&gateway.home);
    assert_eq!((same.code, same.out.as_str()), (0, "no changes\n"), "{}", same.err);
    gateway.running.terminate();
    assert_eq!(gateway.running.wait().code(), Some(0));

    let after = before
        .replace("s3cret-one", "s3cret-two")
        .replace("127.0.0.1:0", "127.0.0.1:9")
        .replace(&demo_server("two"), &demo_server("three"));
    write_config(&gateway.home, &format!("{after}{}", policy(&format!("{DENY_ADD}{DENY_ADA}"))));
    let changed = plan(&gateway.home);
    assert_eq!(changed.code, 2, "{} {}", changed.out, changed.err);
    for expected in [
        "~ listen.http: 127.0.0.1:0 -> 127.0.0.1:9  (at a restart)",
        "~ server one\n    a secret has another value",
        "- server two",
        "+ server three",
        "- tool two/add",
        "tools not known yet: one, three",
    ] {
        assert!(changed.out.contains(expected), "{expected}: {}", changed.out);
    }
    assert!(!changed.out.contains("s3cret"), "{}", changed.out);

    let connected = gateway.home.run(&["plan", "--config", &file, "--connect", "--json"]);
    assert_eq!(connected.code, 2, "{}", connected.err);
    let report = connected.json();
    let decisions = report["decisions"].as_array().unwrap();
    let has = |caller: &str, tool: &str| {
        decisions.iter().any(|change| {
            change["caller"] == caller
                && change["tool"] == tool
                && change["before"] == "allowed"
                && change["after"] == "denied"
        })
    };
    assert!(has("(anonymous)", "add") && has("ada", "add") && has("ada", "echo"), "{report:#}");
    assert!(!has("(anonymous)", "echo"), "{report:#}");
    let added =
        report["tools"].as_array().unwrap().iter().find(|change| change["server"] == "three").unwrap();
    assert!(added["added"].as_array().unwrap().iter().any(|tool| tool == "add"), "{report:#}");
    assert_eq!(report["unknown_tools"].as_array().map(Vec::len), Some(0), "{report:#}");
}

#[test]
fn the_recorded_state_has_no_digest_that_a_guessed_secret_can_be_checked_with() {
    let config = base_config().replace("[servers.one]\n", "[servers.one]\nenv = { PIN = \"1234\" }\n");
    let view = "[views.shop]\nservers = \"one\"\n[views.shop.server.one.tool.echo]\narguments.text = { fixed = \"1234\" }\n";
    // Two users with the same configuration.
    let recorded = [(); 2].map(|()| {
        let mut gateway = ConfiguredGateway::start(&format!("{config}{view}[callers]\nanonymous = true\n"));
        gateway.running.terminate();
        assert_eq!(gateway.running.wait().code(), Some(0));
        let folder = gateway.home.at("state/switchboard/gateways");
        let states = std::fs::read_dir(&folder).unwrap().filter_map(|entry| {
            let text = std::fs::read_to_string(entry.unwrap().path()).ok()?;
            text.contains("keyed_digest").then_some(text)
        });
        let [state] = &states.collect::<Vec<_>>()[..] else { panic!("one state") };
        let key = std::fs::read_to_string(folder.join("digest-key")).unwrap();
        assert!(!state.contains(key.trim()) && !state.contains("1234"), "{state}");
        let state: serde_json::Value = serde_json::from_str(state).unwrap();
        let digest = |pointer: &str| state.pointer(pointer).unwrap().as_str().unwrap().to_owned();
        [digest("/servers/one/keyed_digest"), digest("/views/shop/keyed_digest")]
    });
    assert_ne!(recorded[0][0], recorded[1][0]);
    assert_ne!(recorded[0][1], recorded[1][1]);
}

#[test]
fn it_compares_two_files_and_warns_about_rules_that_match_nothing() {
    let home = Home::new();
    let old = home.at("old.toml");
    std::fs::write(&old, base_config()).unwrap();
    write_config(
        &home,
        &format!("{}{}", base_config(), policy("[[policy.rule]]\neffect = \"deny\"\ntool = \"ad\"\n")),
    );
    let (new, old) = (home.at("gateway.toml").display().to_string(), old.display().to_string());
    let ran = home.run(&["plan", "--config", &new, "--from", &old, "--connect"]);
    assert_eq!(ran.code, 2, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("+ rule 1: {\"effect\":\"deny\",\"tool\":\"ad\"}"), "{}", ran.out);
    assert!(!ran.out.contains("allowed ->"), "{}", ran.out);
    assert!(ran.out.contains("warning: policy: "), "{}", ran.out);

    write_config(&home, &format!("{}{}", base_config(), policy(DENY_ADD)));
    let ran = home.run(&["plan", "--config", &new, "--from", &old, "--connect"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.out.contains("(anonymous): one/add: allowed -> denied (denied by rule 1 (`no-add`))"),
        "{}",
        ran.out
    );
}

#[test]
fn limits_payload_rules_and_rules_that_decide_no_tool_are_changes() {
    let limit = |rate: &str| format!("[[policy.limit]]\nname = \"calls\"\nrate = {rate:?}\n");
    let base = format!("{}{}", base_config(), policy(&limit("9/s")));
    let mut gateway = ConfiguredGateway::start(&base);
    let file = gateway.home.at("gateway.toml").display().to_string();
    let plan = |home: &Home| home.run(&["plan", "--config", &file]);
    assert!((0..1_000).any(|_| plan(&gateway.home).out == "no changes\n"), "the state is not recorded");
    gateway.running.terminate();
    assert_eq!(gateway.running.wait().code(), Some(0));
    for (added, expected) in [
        (
            "[[policy.rule]]\neffect = \"deny\"\nuri = \"file:///etc/**\"\n",
            "+ rule 1: {\"effect\":\"deny\",\"uri\":",
        ),
        ("[[policy.rule]]\nname = \"p\"\neffect = \"deny\"\nprompt = \"x\"\n", "+ rule p: {"),
        (
            "[[policy.rule]]\nname = \"a\"\neffect = \"deny\"\narguments = { text = { equals = \"x\" } }\n",
            "+ rule a: {\"arguments\":{\"text\":{\"equals\":\"x\"}},",
        ),
        ("[[policy.limit]]\nname = \"lists\"\nrate = \"1/s\"\n", "+ limit lists: {"),
        ("[policy.audit]\nredact = [\"ssn\"]\n", "~ policy audit.redact: (none) -> [\"ssn\"]"),
        ("[[policy.audit.payload]]\nrecord = [\"result\"]\n", "+ audit payload 1: {\"record\":[\"result\"]}"),
    ] {
        write_config(&gateway.home, &format!("{base}{added}"));
        let changed = plan(&gateway.home);
        assert_eq!(changed.code, 2, "{added}: {} {}", changed.out, changed.err);
        assert!(changed.out.contains(expected), "{added}: {}", changed.out);
    }
    write_config(&gateway.home, &base.replace("9/s", "1/min"));
    let changed = plan(&gateway.home);
    let expected = r#"~ limit calls: {"name":"calls","rate":"9/s"} -> {"name":"calls","rate":"1/min"}"#;
    assert_eq!((changed.code, changed.out.contains(expected)), (2, true), "{}", changed.out);
    let report = gateway.home.run(&["plan", "--config", &file, "--json"]).json();
    assert_eq!(report["policy"][0]["after"]["rate"], "1/min", "{report:#}");
    write_config(&gateway.home, &format!("# A comment is no change.\n{base}"));
    let same = plan(&gateway.home);
    assert_eq!((same.code, same.out.as_str()), (0, "no changes\n"), "{}", same.err);
}

#[test]
fn decisions_are_compared_with_the_annotations_that_the_policy_trusts() {
    let home = Home::new();
    let (old, new) = (home.at("old.toml"), home.at("gateway.toml"));
    std::fs::write(&old, base_config()).unwrap();
    let (old, new) = (old.display().to_string(), new.display().to_string());
    let rule = "[[policy.rule]]\neffect = \"deny\"\nannotations = { read_only = false }\n";
    for (trusted, is_denied) in [("one", false), ("other", true)] {
        let document = format!("{}trust_annotations = [{trusted:?}]\n{rule}", policy(""));
        write_config(&home, &format!("{}{document}", base_config()));
        let ran = home.run(&["plan", "--config", &new, "--from", &old, "--connect"]);
        assert_eq!(
            ran.out.contains("one/add: allowed -> denied"),
            is_denied,
            "{trusted}: {} {}",
            ran.out,
            ran.err
        );
    }
}

#[test]
fn a_starting_gateway_warns_about_rules_that_match_no_tool() {
    let rules = "[[policy.rule]]\nname = \"typo\"\neffect = \"deny\"\ntool = \"ad\"\n\
                 [[policy.rule]]\nname = \"prompts\"\neffect = \"deny\"\nprompt = \"none\"\n";
    let mut gateway =
        ConfiguredGateway::start(&format!("{}{}", base_config(), policy(&format!("{rules}{DENY_ADD}"))));
    let warning = gateway.running.err.line_after("warning: ");
    assert!(warning.contains("rule 1 (`typo`) matches nothing that the servers offer"), "{warning}");
    gateway.running.terminate();
    assert_eq!(gateway.running.wait().code(), Some(0));
    let all = gateway.running.err.all();
    assert_eq!(all.matches("matches nothing").count(), 1, "{all}");
}

#[test]
fn a_file_that_is_not_valid_is_an_error_and_not_a_change() {
    let home = Home::new();
    write_config(&home, &format!("[servers.one]\ncommand = {SWITCHBOARD:?}\ncolour = 1\n"));
    let file = home.at("gateway.toml").display().to_string();
    let invalid = home.run(&["plan", "--config", &file]);
    assert_eq!(invalid.code, 1, "{}", invalid.err);
    assert!(invalid.err.contains("`colour` is not known"), "{}", invalid.err);
    write_config(&home, &base_config());
    let unknown = home.run(&["plan", "--config", &file]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("--from"), "{}", unknown.err);
}
