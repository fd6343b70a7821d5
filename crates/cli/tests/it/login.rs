//! Logins with OAuth: in the browser, pasted, refreshed, ended; no secret in any output.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use switchboard_testkit::{ProtectedServer, ReservedPort, RunningCommand, block_on, wait_until};

use crate::home::Home;
use crate::login_steps::{expire_tokens, get, log_in, visit_login_page, without_browser};

#[test]
fn a_login_serves_every_later_command() {
    let server = ProtectedServer::start(3600);
    let home = Home::with(json!({ "notes": { "type": "http", "url": server.url() } }));
    let refused = home.run(&["tools", "--server", "notes"]);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("hint: log in: switchboard login notes"), "{}", refused.err);
    assert!(home.run(&["status"]).out.contains("next: switchboard login notes"));

    let login = log_in(&home, "notes");
    assert!(
        login.out.all().starts_with("logged in to notes: the token is valid for 59 min"),
        "{}",
        login.out.all()
    );
    assert!(home.run_ok(&["tools", "--server", "notes"]).out.contains("take_note"));
    assert!(home.run_ok(&["tools", "--url", &server.url()]).out.contains("take_note"));
    assert_eq!(server.token_requests().len(), 1);

    let accounts = home.run_ok(&["accounts", "--json"]).json();
    assert_eq!(accounts[0]["server"], server.url());
    assert_eq!((&accounts[0]["account"], &accounts[0]["canRefresh"]), (&json!("default"), &json!(true)));
    let out = home.run_ok(&["logout", "notes"]).out;
    assert_eq!(out, "logged out of notes: its tokens are revoked\n");
    let revoked = server.revocations().join("\n");
    assert!(revoked.contains("canary-refresh-1") && revoked.contains("canary-access-1"), "{revoked}");
    assert_eq!(home.run(&["tools", "--server", "notes"]).code, 3);
    assert_eq!(home.run(&["logout", "notes"]).code, 1);
    assert!(home.run_ok(&["accounts"]).err.contains("switchboard login SERVER"));
}

#[test]
fn b17_a_callback_can_be_pasted_where_nothing_listens() {
    let server = ProtectedServer::start(3600);
    let home = Home::new();
    let command = without_browser(&home, &["login", &server.url(), "--paste", "--json", "--account", "work"]);
    let mut login = RunningCommand::start_with_input(command);
    let callback = visit_login_page(&login);
    let mut stdin = login.child.stdin.take().unwrap();
    // Only the address with the `state` of this login counts.
    let code = "canary-code";
    let other = callback.replace("state=", "state=x");
    writeln!(stdin, "not an address\n{code}\n{other}\n{callback}").unwrap();
    assert_eq!(login.wait().code(), Some(0), "{}", login.err.all());
    let told = login.err.all();
    for text in ["it has no `state`", "This is only the code", "belongs to another login"] {
        assert!(told.contains(text), "{text}: {told}");
    }
    assert_eq!(server.token_requests().len(), 1);
    let account: Value = serde_json::from_str(&login.out.all()).unwrap();
    assert_eq!(account["account"], "work");
}

#[test]
fn b17_a_callback_url_has_its_own_path() {
    let server = ProtectedServer::start(3600);
    let home = Home::new();
    let reserved = ReservedPort::new();
    let port = reserved.address().port().to_string();
    // The test stands for the tunnel: the address that it forwards to is the same.
    let url = format!("http://127.0.0.1:{port}/tools/oauth/return");
    let args = ["login", &server.url(), "--callback-url", &url, "--port", &port];
    let mut login = RunningCommand::start(without_browser(&home, &args));
    let callback = visit_login_page(&login);
    assert!(callback.starts_with(&format!("{url}?")), "{callback}");
    assert!(get(&callback.replace("/tools/oauth/return", "/callback")).starts_with("HTTP/1.1 404"));
    assert!(get(&callback).starts_with("HTTP/1.1 200 OK"));
    assert_eq!(login.wait().code(), Some(0), "{}", login.err.all());
    for wrong in ["tunnel.example/callback", "http://tunnel.example/callback"] {
        let ran = home.run(&["login", &server.url(), "--callback-url", wrong, "--port", &port]);
        assert_eq!(ran.code, 2, "{}", ran.err);
    }
}

#[test]
fn ctrl_c_ends_a_login() {
    let server = ProtectedServer::start(3600);
    let home = Home::new();
    let mut login = RunningCommand::start(without_browser(&home, &["login", &server.url()]));
    login.err.wait_for("Open this page:", 0);
    login.interrupt();
    assert_eq!(login.wait().code(), Some(130));
}

#[test]
fn b17_a_callback_can_be_pasted_while_the_command_listens() {
    let server = ProtectedServer::start(3600);
    let home = Home::new();
    let mut login = RunningCommand::start_with_input(without_browser(&home, &["login", &server.url()]));
    let callback = visit_login_page(&login);
    writeln!(login.child.stdin.take().unwrap(), "{callback}").unwrap();
    assert_eq!(login.wait().code(), Some(0), "{}", login.err.all());
}

#[test]
fn b17_the_command_says_first_where_it_runs() {
    let server = ProtectedServer::start(3600);
    let home = Home::new();
    for (name, notice) in [
        ("CODESPACES", "This is a codespace"),
        ("REMOTE_CONTAINERS", "This is a development container"),
        ("container", "This is a container"),
    ] {
        let mut command = without_browser(&home, &["login", &server.url()]);
        for other in ["CODESPACES", "REMOTE_CONTAINERS", "DEVCONTAINER"] {
            command.env_remove(other);
        }
        let login = RunningCommand::start(command.env(name, "true"));
        let after_notice = login.err.wait_for(notice, 0);
        login.err.wait_for("Open this page:", after_notice);
    }
}

#[test]
fn b17_the_browser_of_an_editor_shows_the_page() {
    let server = ProtectedServer::start(3600);
    let home = Home::new();
    let (browser, shown) = (home.at("browser"), home.at("shown"));
    let shown_text = shown.display();
    std::fs::write(
        &browser,
        format!("#!/bin/sh\necho \"$1\" > {shown_text}.new && mv {shown_text}.new {shown_text}\n"),
    )
    .unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut command = without_browser(&home, &["login", &server.url()]);
    command.env_remove("CODESPACES").env("REMOTE_CONTAINERS", "true").env("BROWSER", &browser);
    let mut login = RunningCommand::start(command);
    let url = login.err.line_after("If not, open:\n\n  ");
    block_on(wait_until("the browser", || shown.exists()));
    assert_eq!(home.read("shown").trim(), url);
    let head = get(&url);
    let callback = head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
    assert!(get(callback).starts_with("HTTP/1.1 200 OK"));
    assert_eq!(login.wait().code(), Some(0), "{}", login.err.all());
}

#[test]
fn b02_the_error_of_entra_names_the_option_that_helps() {
    let server = ProtectedServer::start(3600);
    let description = "AADSTS9010010: The resource does not match the scopes. Trace ID: 0";
    server.fail_token_requests(json!({ "error": "invalid_target", "error_description": description }));
    let home = Home::new();
    let mut login = RunningCommand::start(without_browser(&home, &["login", &server.url()]));
    get(&visit_login_page(&login));
    assert_eq!(login.wait().code(), Some(3));
    let told = login.err.all();
    assert!(told.contains("AADSTS9010010") && told.contains("--resource omit"), "{told}");
    assert_eq!(server.token_requests().len(), 1, "it is not left out silently");
}

#[test]
fn a_token_that_is_about_to_expire_is_refreshed_first() {
    let server = ProtectedServer::start(3600);
    let home = Home::with(json!({ "notes": { "type": "http", "url": server.url() } }));
    log_in(&home, "notes");
    expire_tokens(&home);
    assert!(home.run_ok(&["tools", "--server", "notes"]).out.contains("take_note"));
    let requests = server.token_requests();
    assert!(
        requests[1].contains("grant_type=refresh_token&refresh_token=canary-refresh-1"),
        "{}",
        requests[1]
    );
}

#[test]
fn b04_a_server_that_registers_no_clients_says_what_to_configure() {
    let server = ProtectedServer::start(3600);
    server.set_metadata("registration_endpoint", Value::Null);
    let ran = Home::new().run(&["login", &server.url()]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("does not register clients by itself"), "{}", ran.err);
    assert!(ran.err.contains("with the redirect URI http://127.0.0.1:"), "{}", ran.err);
}
