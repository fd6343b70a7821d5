//! Several accounts at one server: which one a command uses, and what it says if that is not clear.

use serde_json::{Value, json};
use switchboard_testkit::ProtectedServer;

use crate::home::Home;

/// Returns a server, and a home with logins of these accounts in this order: the first has the token 1.
fn logged_in(accounts: &[&str]) -> (ProtectedServer, Home) {
    let server = ProtectedServer::start(3600);
    server.support_device(&[]);
    let home = Home::with(json!({ "notes": { "type": "http", "url": server.url() } }));
    for account in accounts {
        home.run_ok(&["login", "notes", "--device", "--account", account]);
    }
    (server, home)
}

/// Returns the tokens that requests of a command carried.
fn tokens_of(server: &ProtectedServer, home: &Home, args: &[&str]) -> Vec<String> {
    let before = server.requests().len();
    home.run_ok(args);
    let mut tokens: Vec<String> = server.requests()[before..]
        .iter()
        .filter_map(|request| Some(request.split_once("Bearer ")?.1.split_once("\r\n")?.0.to_owned()))
        .collect();
    tokens.dedup();
    tokens
}

#[test]
fn a_command_uses_the_account_that_it_names() {
    let (server, home) = logged_in(&["work", "home"]);
    let url = server.url();
    for (account, token) in [("work", "canary-access-1"), ("home", "canary-access-2")] {
        for args in [
            &["tools", "--server", "notes"][..],
            &["tools", "--url", &url],
            &["info", "notes"],
            &["status"],
            &["reconnect", "notes"],
        ] {
            let args = [args, &["--account", account]].concat();
            assert_eq!(tokens_of(&server, &home, &args), [token], "{args:?}");
        }
    }
    let refused = home.run(&["tools", "--server", "notes", "--account", "other"]);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("switchboard login notes --account other"), "{}", refused.err);
    let out = home.run_ok(&["status", "--json", "--account", "home"]).json();
    assert_eq!(out[0]["loggedIn"]["account"], "home");
}

#[test]
fn the_only_account_and_the_default_need_no_name() {
    let (server, home) = logged_in(&["work"]);
    assert_eq!(tokens_of(&server, &home, &["tools", "--server", "notes"]), ["canary-access-1"]);
    home.run_ok(&["login", "notes", "--device"]);
    assert_eq!(tokens_of(&server, &home, &["tools", "--url", &server.url()]), ["canary-access-2"]);
    assert!(home.run_ok(&["logout", "notes"]).out.starts_with("logged out of notes: "));
    assert_eq!(tokens_of(&server, &home, &["tools", "--server", "notes"]), ["canary-access-1"]);
}

#[test]
fn several_accounts_without_a_default_are_listed() {
    let (server, home) = logged_in(&["work", "home"]);
    for args in [
        &["tools", "--server", "notes"][..],
        &["tools", "--url", &server.url()],
        &["reconnect", "notes"],
        &["logout", "notes"],
    ] {
        let ran = home.run(args);
        assert_eq!(ran.code, 3, "{args:?}: {}", ran.err);
        assert!(
            ran.err.contains("home, work") && ran.err.contains("--account home"),
            "{args:?}: {}",
            ran.err
        );
    }
    let status = home.run_ok(&["status", "--json"]).json();
    assert_eq!(status[0]["status"], "needs-auth");
    assert_eq!(status[0]["login"]["accounts"], json!(["home", "work"]));
    assert!(home.run_ok(&["status"]).out.contains("next: name one of your accounts, like --account home"));
    let accounts = home.run_ok(&["accounts", "--json"]).json();
    assert_eq!(accounts.as_array().unwrap().len(), 2);
}

#[test]
fn a_program_has_no_account() {
    let ran = crate::commands::run(&["tools", "--account", "work", "--", "true"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("--account applies to a server at a URL"), "{}", ran.err);
}

#[test]
fn status_shows_who_is_logged_in_until_when() {
    let (server, home) = logged_in(&["work"]);
    let table = home.run_ok(&["status"]).out;
    assert!(table.contains("LOGIN") && table.contains("work, for 59 min"), "{table}");
    let status = home.run_ok(&["status", "--json"]).json();
    let login = &status[0]["loggedIn"];
    assert_eq!((&login["account"], &login["issuer"]), (&json!("work"), &json!(server.issuer())));
    assert_eq!((&login["canRefresh"], &login["needsLogin"]), (&json!(true), &json!(false)));
    assert!(login["expiresAt"].as_u64().unwrap() > 1_700_000_000, "{login}");
    home.run_ok(&["logout", "notes"]);
    assert!(home.run_ok(&["status"]).out.contains("next: switchboard login notes\n"));
    assert_eq!(home.run_ok(&["status", "--json"]).json()[0].get("loggedIn"), None);
}

#[test]
fn the_oauth_block_of_an_entry_names_account_client_and_scopes() {
    let server = ProtectedServer::start(3600);
    server.support_device(&[]);
    server.set_metadata("registration_endpoint", Value::Null);
    let oauth = json!({ "account": "work", "clientId": "c9", "scopes": "notes admin", "resource": "omit" });
    let home = Home::with(json!({ "notes": { "type": "http", "url": server.url(), "oauth": oauth } }));
    let report = home.run(&["doctor", "notes"]).out;
    assert!(
        report.contains("configured: c9") && report.contains("next: switchboard login notes\n"),
        "{report}"
    );
    let login = home.run_ok(&["login", "notes", "--device", "--json"]).out;
    let login: Value = serde_json::from_str(login.lines().last().unwrap()).unwrap();
    assert_eq!((&login["account"], &login["clientId"]), (&json!("work"), &json!("c9")));
    assert_eq!(login["scopes"], json!(["notes", "admin"]));
    assert!(!server.token_requests()[0].contains("resource="));
    // The command line wins.
    home.run_ok(&["login", "notes", "--device", "--account", "home", "--scope", "notes"]);
    assert_eq!(tokens_of(&server, &home, &["tools", "--server", "notes"]), ["canary-access-1"]);
    assert_eq!(
        tokens_of(&server, &home, &["tools", "--server", "notes", "--account", "home"]),
        ["canary-access-2"]
    );
    assert_eq!(home.run_ok(&["status", "--json"]).json()[0]["loggedIn"]["account"], "work");
    assert!(home.run_ok(&["doctor", "notes"]).out.contains("account work at"));
    let told = home.run_ok(&["why", "notes", "--account", "home"]).out;
    assert!(told.contains("accepts the token of the account home"), "{told}");
    assert!(home.run_ok(&["logout", "notes"]).out.starts_with("logged out of notes (account work): "));
}
