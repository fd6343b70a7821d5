//! Logins with OAuth: in the browser, pasted, refreshed, ended; no secret in any output.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use switchboard_testkit::{HttpScript, RunningCommand, http_response};

use crate::home::Home;

/// An MCP server and its authorization server at one origin. Secrets contain `canary`.
struct ProtectedServer {
    script: HttpScript,
    revoked: Arc<Mutex<Vec<String>>>,
}

impl ProtectedServer {
    /// Starts it; tokens are valid for this many seconds.
    fn start(lifetime: u64) -> Self {
        let tokens = Arc::new(AtomicUsize::new(0));
        let revoked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&revoked);
        let script = HttpScript::in_background(move |request| {
            let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
            let head = head.to_ascii_lowercase();
            let host =
                head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned();
            let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let path = target.split('?').next().unwrap_or_default();
            let original = request.split(' ').nth(1).unwrap_or_default();
            match path {
                "/mcp" => answer_mcp(&head, &host, body, tokens.load(Ordering::SeqCst)),
                "/.well-known/oauth-protected-resource/mcp" => json_response(&json!({
                    "resource": format!("http://{host}/mcp"), "authorization_servers": [format!("http://{host}")],
                    "scopes_supported": ["notes"],
                })),
                "/.well-known/oauth-authorization-server" => json_response(&metadata(&host)),
                "/register" => {
                    json_response(&json!({ "client_id": "c1", "token_endpoint_auth_method": "none" }))
                }
                "/authorize" => {
                    let redirect = parameter(original, "redirect_uri");
                    let state = parameter(original, "state");
                    let location = format!("location: {redirect}?code=canary-code&state={state}");
                    http_response("302 Found", &[&location, "content-length: 0"], "")
                }
                "/token" => {
                    let number = tokens.fetch_add(1, Ordering::SeqCst) + 1;
                    assert!(body.contains("resource="), "{body}");
                    json_response(&json!({
                        "access_token": format!("canary-access-{number}"), "token_type": "Bearer",
                        "expires_in": lifetime, "refresh_token": format!("canary-refresh-{number}"),
                    }))
                }
                "/revoke" => {
                    seen.lock().unwrap().push(body.to_owned());
                    json_response(&json!({}))
                }
                _ => http_response("404 Not Found", &["content-length: 0"], ""),
            }
        });
        Self { script, revoked }
    }

    fn url(&self) -> String {
        self.script.url("/mcp")
    }

    /// Returns the bodies of the token requests.
    fn token_requests(&self) -> Vec<String> {
        self.script.log.requests().into_iter().filter(|request| request.starts_with("POST /token")).collect()
    }
}

fn metadata(host: &str) -> Value {
    let endpoint = |path: &str| format!("http://{host}/{path}");
    json!({
        "issuer": format!("http://{host}"),
        "authorization_endpoint": endpoint("authorize"), "token_endpoint": endpoint("token"),
        "registration_endpoint": endpoint("register"), "revocation_endpoint": endpoint("revoke"),
        "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
    })
}

/// Answers a request to the MCP endpoint: a challenge, or the result for the newest token.
fn answer_mcp(head: &str, host: &str, body: &str, newest: usize) -> Vec<u8> {
    let expected = format!("authorization: bearer canary-access-{newest}");
    if newest == 0 || !head.lines().any(|line| line == expected) {
        let challenge = format!(
            "www-authenticate: Bearer scope=\"notes\", \
             resource_metadata=\"http://{host}/.well-known/oauth-protected-resource/mcp\""
        );
        return http_response("401 Unauthorized", &[&challenge, "content-length: 0"], "");
    }
    let message: Value = serde_json::from_str(body).unwrap_or_default();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "notes", "version": "1" },
        }),
        Some("tools/list") => {
            json!({ "tools": [{ "name": "take_note", "inputSchema": { "type": "object" } }] })
        }
        Some("server/discover") => {
            let error = json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": -32601, "message": "no" } });
            return json_response(&error);
        }
        _ => return http_response("202 Accepted", &["content-length: 0"], ""),
    };
    json_response(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

fn json_response(value: &Value) -> Vec<u8> {
    let body = value.to_string();
    http_response("200 OK", &["content-type: application/json"], body)
}

/// Returns a decoded query parameter.
fn parameter(url: &str, name: &str) -> String {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let found = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
    found.unwrap_or_default().replace("%3A", ":").replace("%2F", "/")
}

/// Requests a URL and returns the head of the response, as a browser without cookies would.
fn get(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    // The script keeps its connections open.
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// Opens the login page of a running command and returns the address to which it redirects.
fn visit_login_page(login: &RunningCommand) -> String {
    let url = login.err.line_after("Open this page:\n\n  ");
    let head = get(&url);
    head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().to_owned()
}

/// Returns a command that finds no browser to open.
fn without_browser(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(args);
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER"] {
        command.env_remove(name);
    }
    command
}

/// Logs in with the callback on a loopback port.
fn log_in(home: &Home, server: &str) -> RunningCommand {
    let mut login = RunningCommand::start(without_browser(home, &["login", server]));
    let callback = visit_login_page(&login);
    assert!(get(&callback).starts_with("HTTP/1.1 200 OK"));
    assert_eq!(login.wait().code(), Some(0), "{}", login.err.all());
    login
}

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
    let revoked = server.revoked.lock().unwrap().join("\n");
    assert!(revoked.contains("canary-refresh-1") && revoked.contains("canary-access-1"), "{revoked}");
    assert_eq!(home.run(&["tools", "--server", "notes"]).code, 3);
    assert_eq!(home.run(&["logout", "notes"]).code, 1);
    assert!(home.run_ok(&["accounts"]).err.contains("switchboard login SERVER"));
}

#[test]
fn a_callback_can_be_pasted() {
    let server = ProtectedServer::start(3600);
    let home = Home::new();
    let command = without_browser(&home, &["login", &server.url(), "--paste", "--json", "--account", "work"]);
    let mut login = RunningCommand::start_with_input(command);
    let callback = visit_login_page(&login);
    let mut stdin = login.child.stdin.take().unwrap();
    writeln!(stdin, "not an address\n{callback}").unwrap();
    assert_eq!(login.wait().code(), Some(0), "{}", login.err.all());
    assert!(login.err.all().contains("it has no `state`"));
    let account: Value = serde_json::from_str(&login.out.all()).unwrap();
    assert_eq!(account["account"], "work");
    // Another account has no token.
    assert_eq!(home.run(&["tools", "--url", &server.url()]).code, 3);
}

#[test]
fn a_token_that_is_about_to_expire_is_refreshed_first() {
    let server = ProtectedServer::start(1);
    let home = Home::with(json!({ "notes": { "type": "http", "url": server.url() } }));
    log_in(&home, "notes");
    // With a lifetime of one second every later command finds a token that is due.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert!(home.run_ok(&["tools", "--server", "notes"]).out.contains("take_note"));
    let requests = server.token_requests();
    assert!(
        requests[1].contains("grant_type=refresh_token&refresh_token=canary-refresh-1"),
        "{}",
        requests[1]
    );
}

#[test]
fn no_secret_is_printed_and_only_the_user_can_read_the_store() {
    let server = ProtectedServer::start(3600);
    let home = Home::with(json!({ "notes": { "type": "http", "url": server.url() } }));
    let login = log_in(&home, "notes");
    let mut printed = login.out.all() + &login.err.all();
    for args in [
        &["tools", "--server", "notes", "--trace"][..],
        &["tools", "--url", &server.url(), "--trace", "-v"],
        &["status", "--json"],
        &["accounts"],
        &["accounts", "--json"],
        &["doctor", "notes"],
        &["logout", "notes", "--json"],
        &["tools", "--server", "notes", "--json"],
    ] {
        let ran = home.run(args);
        printed += &format!("{args:?} {} {}", ran.out, ran.err);
    }
    assert!(!printed.contains("canary"), "{printed}");
    let folder = home.at("state/switchboard/auth");
    assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
    for file in std::fs::read_dir(&folder).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "{file:?}");
    }
}

#[test]
fn a_server_that_registers_no_clients_says_what_to_configure() {
    let script = HttpScript::in_background(|request| {
        let host =
            request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned();
        match request.split(' ').nth(1).unwrap_or_default() {
            "/.well-known/oauth-protected-resource/mcp" => json_response(&json!({
                "resource": format!("http://{host}/mcp"), "authorization_servers": [format!("http://{host}")],
            })),
            "/.well-known/oauth-authorization-server" => {
                let mut metadata = metadata(&host);
                metadata.as_object_mut().unwrap().remove("registration_endpoint");
                json_response(&metadata)
            }
            _ => http_response("401 Unauthorized", &["www-authenticate: Bearer", "content-length: 0"], ""),
        }
    });
    let ran = Home::new().run(&["login", &script.url("/mcp")]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("does not register clients by itself"), "{}", ran.err);
    assert!(ran.err.contains("with the redirect URI http://127.0.0.1:"), "{}", ran.err);
}
