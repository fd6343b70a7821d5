//! Logins by device code: what a user and a program see, and how they end.

use serde_json::{Value, json};
use switchboard_testkit::{ProtectedServer, PseudoTerminal, RunningCommand};

use crate::home::Home;
use crate::login_steps::without_browser;

#[test]
fn a_code_is_shown_and_polled_for() {
    let server = ProtectedServer::start(3600);
    server.support_device(&["authorization_pending"]);
    let home = Home::with(json!({ "notes": { "type": "http", "url": server.url() } }));
    let ran = home.run_ok(&["login", "notes", "--device"]);
    assert!(ran.err.contains(&format!("\n  {}/activate\n  WDJB-MJHT\n", server.issuer())), "{}", ran.err);
    // Not a terminal, so nobody can scan anything.
    assert!(!ran.err.contains('█') && !ran.err.contains("scan"), "{}", ran.err);
    assert!(ran.out.starts_with("logged in to notes: the token is valid for 59 min"), "{}", ran.out);
    assert_eq!(server.token_requests().len(), 2);
    assert!(home.run_ok(&["tools", "--server", "notes"]).out.contains("take_note"));
}

#[test]
fn programs_get_the_code_before_the_result() {
    let server = ProtectedServer::start(3600);
    server.support_device(&[]);
    let ran = Home::new().run_ok(&["login", &server.url(), "--device", "--json", "--account", "ci"]);
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines[0],
        json!({
            "event": "device-code", "userCode": "WDJB-MJHT", "verificationUri": format!("{}/activate", server.issuer()),
            "verificationUriComplete": format!("{}/activate?user_code=WDJB-MJHT", server.issuer()), "expiresIn": 600,
        })
    );
    assert_eq!((lines.len(), &lines[1]["account"]), (2, &json!("ci")));
    assert_eq!(ran.err, "");
}

#[test]
fn a_terminal_shows_a_qr_code_and_the_time_that_is_left() {
    let server = ProtectedServer::start(3600);
    server.support_device(&["authorization_pending"; 60]);
    let home = Home::new();
    let mut command = without_browser(&home, &["login", &server.url(), "--device"]);
    command.env_remove("COLUMNS").env_remove("NO_COLOR");
    let mut terminal = PseudoTerminal::start(command, 100);
    terminal.expect_text("WDJB-MJHT");
    // Black on white, also on a dark terminal.
    terminal.expect_text("\u{1b}[38;5;16;48;5;231m");
    terminal.expect_text("▀");
    terminal.expect_text("min left; Ctrl-C cancels");
    terminal.interrupt();
    let (code, output) = terminal.finish();
    assert_eq!(code, 130, "{output}");
    assert_eq!(home.run_ok(&["accounts", "--json"]).json(), json!([]));
}

#[test]
fn a_narrow_terminal_shows_no_qr_code() {
    let server = ProtectedServer::start(3600);
    server.support_device(&[]);
    let home = Home::new();
    let mut command = without_browser(&home, &["login", &server.url(), "--device"]);
    command.env_remove("COLUMNS");
    let (code, output) = PseudoTerminal::start(command, 30).finish();
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("WDJB-MJHT") && !output.contains('▀'), "{output}");
}

#[test]
fn a_denied_or_unsupported_login_says_what_to_do() {
    let server = ProtectedServer::start(3600);
    let login = ["login", &server.url(), "--device"];
    let unsupported = Home::new().run(&login);
    assert_eq!(unsupported.code, 3, "{}", unsupported.err);
    assert!(unsupported.err.contains("does not support logins by device code"), "{}", unsupported.err);
    assert!(unsupported.err.contains("--paste"), "{}", unsupported.err);
    server.support_device(&["access_denied"]);
    let denied = Home::new().run(&login);
    assert_eq!(denied.code, 3, "{}", denied.err);
    assert!(denied.err.contains("denied the login: access_denied"), "{}", denied.err);
}

#[test]
fn a_login_without_a_browser_mentions_the_device_code() {
    let server = ProtectedServer::start(3600);
    server.support_device(&[]);
    let home = Home::new();
    let mut command = without_browser(&home, &["login", &server.url()]);
    command.env("SSH_TTY", "/dev/pts/0");
    let running = RunningCommand::start(command);
    running.err.wait_for("This server also supports --device", 0);
    running.err.wait_for("Open this page:", 0);
}
