//! Logins by the configuration of a server: `oauth` blocks, header helpers, connectors, and hosts that notice a login.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use switchboard_testkit::{ProtectedServer, ReservedPort, RunningCommand};

use crate::home::Home;
use crate::login_steps::{get, log_in, visit_login_page, without_browser};

#[test]
fn b16_a_running_host_uses_the_login_of_another_process() {
    let server = ProtectedServer::start(3600);
    let home = Home::with(json!({ "notes": { "type": "http", "url": server.url() } }));
    let mut watch = RunningCommand::start(home.command(&["status", "--watch"]));
    let at = watch.out.wait_for("notes needs-auth", 0);
    log_in(&home, "notes");
    watch.out.wait_for("notes connected, 1 tool", at);
    watch.interrupt();
    assert_eq!(watch.wait().code(), Some(130));
}

#[test]
fn an_oauth_block_decides_how_a_login_is_made() {
    let server = ProtectedServer::start(3600);
    server.set_metadata("registration_endpoint", json!(null));
    server.set_metadata("token_endpoint_auth_methods_supported", json!(["client_secret_post"]));
    let reserved = ReservedPort::new();
    let port = reserved.address().port();
    let home = Home::with(json!({ "notes": { "url": server.url(), "oauth": {
        "clientId": "app-${TENANT}", "clientSecretEnv": "APP_SECRET", "callbackPort": port, "scopes": ["a", "b"],
        "resource": "omit", "account": "work", "authorizeParameters": { "prompt": "consent" },
    } } }));
    let mut command = without_browser(&home, &["login", "notes"]);
    command.env("TENANT", "blue").env("APP_SECRET", "canary-secret");
    drop(reserved);
    let mut login = RunningCommand::start(command);
    let callback = visit_login_page(&login);
    assert!(callback.starts_with(&format!("http://127.0.0.1:{port}/callback?")), "{callback}");
    get(&callback);
    assert_eq!(login.wait().code(), Some(0), "{}", login.err.all());

    let requests = server.requests();
    let page = requests.iter().find(|request| request.starts_with("GET /authorize")).unwrap();
    for parameter in ["client_id=app-blue", "scope=a+b", "prompt=consent"] {
        assert!(
            page.contains(parameter) || page.contains(&parameter.replace('+', "%20")),
            "{parameter}: {page}"
        );
    }
    assert!(!page.contains("resource="), "{page}");
    let token = &server.token_requests()[0];
    assert!(token.contains("client_secret=canary-secret") && !token.contains("resource="), "{token}");

    // Every command uses the account of the block.
    let accounts = home.run_ok(&["accounts", "--json"]).json();
    assert_eq!(accounts[0]["account"], "work");
    let mut tools = home.command(&["tools", "--server", "notes"]);
    tools.env("TENANT", "blue").env("APP_SECRET", "canary-secret");
    let ran = switchboard_testkit::run_command(tools, "");
    assert!(ran.out.contains("take_note"), "{} {}", ran.out, ran.err);
    let missing = home.run(&["login", "notes"]);
    assert!(missing.err.contains("oauth.client"), "{}", missing.err);
    assert!(!format!("{} {}", ran.err, missing.err).contains("canary"));
}

#[test]
fn a_grant_without_a_user_needs_no_login() {
    let server = ProtectedServer::start(3600);
    server.set_metadata("token_endpoint_auth_methods_supported", json!(["client_secret_basic"]));
    let home = Home::with(json!({ "notes": { "url": server.url(), "oauth": {
        "clientId": "robot", "clientSecret": "${ROBOT}", "grant": "client-credentials",
    } } }));
    let mut tools = home.command(&["tools", "--server", "notes"]);
    tools.env("ROBOT", "canary-robot");
    let ran = switchboard_testkit::run_command(tools, "");
    assert!(ran.out.contains("take_note"), "{} {}", ran.out, ran.err);
    assert!(server.token_requests()[0].contains("grant_type=client_credentials"));
}

#[test]
fn status_says_that_a_client_must_be_registered() {
    let server = ProtectedServer::start(3600);
    server.set_metadata("registration_endpoint", json!(null));
    let home = Home::with(json!({ "notes": { "url": server.url(), "oauth": { "callbackPort": 8700 } } }));
    let status = home.run_ok(&["status", "--json"]).json();
    assert_eq!(status[0]["status"], "needs-auth");
    let login = &status[0]["login"];
    assert_eq!(login["requirement"], "client-registration", "{status}");
    assert_eq!(login["issuer"], server.issuer());
    assert_eq!(login["redirectUri"], "http://127.0.0.1:8700/callback");
}

/// Writes a program that prints another token with each run, and returns its path.
fn token_printer(home: &Home) -> String {
    let path = home.at("print-token");
    let script = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho run >> runs\n\
                  echo \"{\\\"Authorization\\\": \\\"Bearer canary-access-$(wc -l < runs | tr -d ' ')\\\",\
                  \\\"X-Leak\\\": \\\"${PARENT_SECRET:-none}$CLAUDE_CODE_MCP_SERVER_NAME\\\"}\"\n";
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_header_helper_runs_on_connect_and_once_more_on_401() {
    let server = ProtectedServer::start(3600);
    server.accept_token("canary-access-2");
    let home = Home::new();
    let helper = token_printer(&home);
    home.write(
        "config/switchboard/mcp.json",
        &json!({ "mcpServers": { "notes": { "url": server.url(), "headersHelper": helper } } }),
    );
    let mut tools = home.command(&["tools", "--server", "notes"]);
    tools.env("PARENT_SECRET", "canary-parent");
    let ran = switchboard_testkit::run_command(tools, "");
    assert!(ran.out.contains("take_note"), "{} {}", ran.out, ran.err);
    assert_eq!(home.read("runs"), "run\nrun\n", "once on connect, once for the 401");
    let sent = server.requests().join("\n");
    assert!(sent.contains("x-leak: nonenotes") && !sent.contains("canary-parent"), "{sent}");

    // A server that accepts none of them needs other credentials, and no endless runs.
    server.forget_tokens();
    let refused = home.run(&["status", "--json"]);
    let status = refused.json();
    assert_eq!(status[0]["login"]["requirement"], "other-credentials", "{status}");
    assert_eq!(home.read("runs").lines().count(), 4);
    assert!(!format!("{}{}", refused.out, refused.err).contains("canary"), "{status}");
}

#[test]
fn the_header_helper_of_a_project_runs_only_after_it_was_approved() {
    let server = ProtectedServer::start(3600);
    let home = Home::new();
    let helper = token_printer(&home);
    let entry = json!({ "mcpServers": { "notes": { "url": server.url(), "headersHelper": helper } } });
    home.write("project/.mcp.json", &entry);
    home.run(&["status"]);
    assert!(!home.at("runs").exists(), "it was executed");
    let shown = home.run(&["approve", "notes"]);
    assert!(format!("{}{}", shown.out, shown.err).contains("headersHelper"), "{} {}", shown.out, shown.err);
    assert!(!home.at("runs").exists(), "it was executed");
}

#[test]
fn a_connector_uses_a_stored_login() {
    let server = ProtectedServer::start(3600);
    let home =
        Home::with(json!({ "notes": { "type": "claudeai-proxy", "url": server.url(), "id": "notes" } }));
    assert_eq!(home.run(&["tools", "--server", "notes"]).code, 3);
    log_in(&home, "notes");
    assert!(home.run_ok(&["tools", "--server", "notes"]).out.contains("take_note"));
}
