//! What `doctor`, `why` and `add` say about logins, without changing any.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use switchboard_testkit::{HttpScript, ProtectedServer, PseudoTerminal, ReservedPort, http_response};

use crate::home::Home;
use crate::login_steps::{expire_tokens, get, without_browser};

/// Returns a server that supports device codes, and a home in which it is configured as `notes`.
fn configured() -> (ProtectedServer, Home) {
    let server = ProtectedServer::start(3600);
    server.support_device(&[]);
    let home = Home::with(json!({ "notes": { "type": "http", "url": server.url() } }));
    (server, home)
}

fn log_in(home: &Home) {
    home.run_ok(&["login", "notes", "--device"]);
}

/// Returns all files of the token store with their contents.
fn store_files(home: &Home) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = std::fs::read_dir(home.at("state/switchboard/auth")) else { return Vec::new() };
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

fn step<'a>(report: &'a Value, name: &str) -> &'a Value {
    let steps = report["steps"].as_array().unwrap();
    steps.iter().find(|step| step["step"] == name).unwrap_or_else(|| panic!("{name}: {report}"))
}

#[test]
fn doctor_walks_discovery_with_every_url_tried() {
    let (server, home) = configured();
    let ran = home.run(&["doctor", "notes", "--json"]);
    assert_eq!(ran.code, 3, "{}", ran.out);
    let report = ran.json();
    let tried = step(&report, "discovery")["tried"].as_array().unwrap();
    let issuer = server.issuer();
    assert_eq!(
        tried,
        &[
            json!({
                "document": "protected resource metadata", "outcome": "found",
                "url": format!("{issuer}/.well-known/oauth-protected-resource/mcp"),
            }),
            json!({
                "document": "authorization server metadata", "outcome": "found",
                "url": format!("{issuer}/.well-known/oauth-authorization-server"),
            }),
        ]
    );
    for (name, said) in [
        ("challenge", "status 401"),
        ("discovery", &*format!("the issuer is {issuer}")),
        ("client", "dynamic registration at"),
        ("scopes", "the challenge asks for: notes"),
        ("grants", "PKCE with S256; device code (--device)"),
        ("login", "you are not logged in"),
    ] {
        assert!(step(&report, name)["said"].as_str().unwrap().contains(said), "{name}: {report}");
    }
    assert_eq!(report["next"], "switchboard login notes");
    // Nothing was registered, requested or stored.
    let requests = server.requests();
    assert!(!requests.iter().any(|request| request.starts_with("POST /register")), "{requests:?}");
    assert_eq!((server.token_requests().len(), store_files(&home).len()), (0, 0));

    log_in(&home);
    let before = store_files(&home);
    let text = home.run_ok(&["doctor", "notes"]).out;
    for line in
        ["✓ login", "account default at", "the token is valid for 59 min, refreshed by itself", "✓ tools"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(text.contains("protected resource metadata: ") && text.contains("(found)"), "{text}");
    assert!(home.run_ok(&["doctor", &server.url()]).out.contains("✓ tools"));
    assert_eq!(store_files(&home), before);
    assert_eq!(server.token_requests().len(), 1);
}

#[test]
fn doctor_does_not_refresh_an_expired_token() {
    let (server, home) = configured();
    log_in(&home);
    expire_tokens(&home);
    let ran = home.run(&["doctor", "notes"]);
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert!(
        ran.out.contains("the token expired") && ran.out.contains("the next command refreshes it"),
        "{}",
        ran.out
    );
    assert_eq!(server.token_requests().len(), 1);
    // And it does.
    assert!(home.run_ok(&["status"]).out.contains("connected"));
}

#[test]
fn doctor_names_the_metadata_that_is_wrong_and_what_to_do() {
    let (server, home) = configured();
    server.set_metadata("issuer", json!("https://other.example"));
    let ran = home.run(&["doctor", "notes", "--json"]);
    assert_eq!(ran.code, 3, "{}", ran.out);
    let report = ran.json();
    let failed = step(&report, "discovery");
    assert!(
        failed["said"].as_str().unwrap().contains("names the issuer \"https://other.example\""),
        "{report}"
    );
    let tried = failed["tried"].as_array().unwrap();
    assert_eq!(tried[1]["outcome"], "it names the issuer \"https://other.example\"");
    assert!(tried[2]["outcome"].as_str().unwrap().contains("404"), "{report}");
    assert!(report["next"].as_str().unwrap().contains("--server-metadata-url"), "{report}");

    server.set_metadata("issuer", json!(server.issuer()));
    server.set_metadata("registration_endpoint", Value::Null);
    let report = home.run(&["doctor", "notes", "--json"]).json();
    assert_eq!(
        report["next"],
        "switchboard login notes --client-id ID, after you have registered a client there"
    );
}

#[test]
fn the_setting_that_helps_is_named_with_the_error() {
    let (server, home) = configured();
    server.fail_token_requests(json!({
        "error": "invalid_target",
        "error_description": "AADSTS9010010: The resource parameter provided in the request doesn't match with the requested scopes.",
    }));
    let ran = home.run(&["login", "notes", "--device"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(
        ran.err.contains("hint: Entra: the `resource` parameter does not match the requested scopes"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("--resource omit"), "{}", ran.err);
}

#[test]
fn a_refresh_that_is_refused_names_the_setting_too() {
    let (server, home) = configured();
    log_in(&home);
    server.fail_token_requests(
        json!({ "error": "invalid_request", "error_description": "AADSTS900144: no scope" }),
    );
    server.forget_tokens();
    expire_tokens(&home);
    for args in [&["tools", "--url", &server.url()][..], &["tools", "--server", "notes"]] {
        let ran = home.run(args);
        assert_ne!(ran.code, 0);
        assert!(
            ran.err.contains("Entra: the request has no `scope`: name the scopes: --scope"),
            "{}",
            ran.err
        );
    }
}

/// Returns a JWT with these claims and a signature that nobody verifies here.
fn jwt(claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!(
        "{}.{}.{}",
        part(&json!({"alg": "ES256"})),
        part(claims),
        URL_SAFE_NO_PAD.encode("canary-signature")
    )
}

/// Returns what `why` says after a login, with the check that fails.
fn explained(prepare: impl Fn(&ProtectedServer)) -> (String, Value) {
    let (server, home) = configured();
    prepare(&server);
    log_in(&home);
    server
        .refuse_tokens("401 Unauthorized", "Bearer error=\"invalid_token\", error_description=\"not good\"");
    prepare(&server);
    let before = store_files(&home);
    let report = home.run_ok(&["why", "notes", "--json"]).json();
    assert_eq!(store_files(&home), before, "it changes nothing");
    assert_eq!(server.token_requests().len(), 1);
    (report["check"].as_str().unwrap().to_owned(), report)
}

#[test]
fn why_tells_which_check_a_token_fails() {
    let (check, report) = explained(|_| {});
    assert_eq!(check, "revoked", "{report}");
    assert!(report["why"].as_str().unwrap().ends_with("the server says: not good"), "{report}");
    assert_eq!(report["next"], "switchboard login notes");

    let (check, report) = explained(|server| {
        server.refuse_tokens("403 Forbidden", "Bearer error=\"insufficient_scope\", scope=\"notes admin\"");
    });
    assert_eq!(check, "scope", "{report}");
    assert!(report["why"].as_str().unwrap().contains("lacks: admin"), "{report}");
    assert_eq!(report["next"], "switchboard login notes --scope 'notes admin'");

    let (check, report) = explained(|server| server.refuse_tokens("403 Forbidden", "Bearer"));
    assert_eq!(check, "blocked-by-admin", "{report}");

    let (check, report) =
        explained(|server| server.set_next_token(&jwt(&json!({"aud": "https://other.example/mcp"}))));
    assert_eq!(check, "audience", "{report}");
    assert!(
        report["why"].as_str().unwrap().contains("is for the audience https://other.example/mcp"),
        "{report}"
    );

    let (check, report) = explained(|server| server.set_next_token(&jwt(&json!({"exp": 1_700_000_000}))));
    assert_eq!(check, "expired", "{report}");

    let (check, report) =
        explained(|server| server.set_next_token(&jwt(&json!({"iss": "https://other.example"}))));
    assert_eq!(check, "issuer", "{report}");
}

#[test]
fn why_explains_a_login_that_is_missing_accepted_or_rejected() {
    let (server, home) = configured();
    let ran = home.run_ok(&["why", "notes"]);
    assert_eq!(ran.out, "notes: you are not logged in\nnext: switchboard login notes\n");
    log_in(&home);
    // The refresh token is rejected, which is remembered.
    server.fail_token_requests(json!({
        "error": "invalid_grant", "error_description": "AADSTS50105: the user is not assigned to a role",
    }));
    server.forget_tokens();
    expire_tokens(&home);
    assert_eq!(home.run(&["tools", "--server", "notes"]).code, 3);
    let report = home.run_ok(&["why", "notes", "--json"]).json();
    assert_eq!(report["check"], "blocked-by-admin", "{report}");
    assert!(report["why"].as_str().unwrap().contains("you are not assigned to the application"), "{report}");
    let tool = home.run_ok(&["why", "notes/take_note"]).out;
    assert!(tool.contains("rejected the refresh token"), "{tool}");

    let (server, home) = configured();
    log_in(&home);
    let told = home.run_ok(&["why", &server.url()]).out;
    let expected = "the server accepts the token of the account default, which is valid for 59 min";
    assert_eq!(told, format!("{}: {expected}\n", server.url()));
}

#[test]
fn an_unapproved_server_of_a_project_is_not_contacted() {
    let server = ProtectedServer::start(3600);
    let home = Home::new();
    home.write(
        "project/.mcp.json",
        &json!({ "mcpServers": { "theirs": { "type": "http", "url": server.url() } } }),
    );
    for args in [&["login", "theirs"][..], &["why", "theirs"], &["doctor", "theirs"], &["status"]] {
        let ran = home.run(args);
        assert!((ran.out + &ran.err).contains("switchboard approve theirs"), "{args:?}");
    }
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn add_says_that_a_server_wants_a_login() {
    let server = ProtectedServer::start(3600);
    let home = Home::new();
    let ran = home.run_ok(&["add", "notes", &server.url()]);
    assert!(ran.err.contains("notes wants a login\nnext: switchboard login notes\n"), "{}", ran.err);
    let report = home.run_ok(&["add", "notes", &server.url(), "--replace", "--json"]).json();
    assert_eq!(report["needsLogin"], true);
    let before = server.requests().len();
    let ran = home.run_ok(&["add", "notes", &server.url(), "--replace", "--no-probe"]);
    assert!(ran.err.contains("next: switchboard doctor notes"), "{}", ran.err);
    // Nor is a server asked that has credentials of its own.
    home.run_ok(&["add", "keyed", &server.url(), "-H", "Authorization: Bearer ${KEY:-none}"]);
    assert_eq!(server.requests().len(), before);

    let open =
        HttpScript::in_background(|_| http_response("200 OK", &["content-type: application/json"], "{}"));
    let report = home.run_ok(&["add", "open", &open.url("/mcp"), "--json"]).json();
    assert_eq!(report["needsLogin"], false);
}

#[test]
fn add_does_not_wait_for_a_server_that_is_away() {
    let home = Home::new();
    let refused = ReservedPort::new();
    let ran = home.run_ok(&["add", "gone", &format!("http://{}/mcp", refused.address())]);
    assert!(ran.err.contains("it does not answer now"), "{}", ran.err);
    // Accepts connections and never answers.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let ran = home.run_ok(&["add", "mute", &url, "--json"]);
    assert_eq!(ran.json().get("needsLogin"), None, "{}", ran.out);
}

#[test]
fn add_offers_the_login_at_a_terminal() {
    let server = ProtectedServer::start(3600);
    let home = Home::new();
    let mut terminal = PseudoTerminal::start(without_browser(&home, &["add", "notes", &server.url()]), 200);
    terminal.expect_text("notes wants a login. Log in now? [y/N]");
    terminal.enter("y");
    terminal.expect_text("Open this page:");
    let authorize = server.issuer() + "/authorize";
    let url = terminal.word_after(&authorize);
    let head = get(&format!("{authorize}{url}"));
    let callback = head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
    get(callback);
    terminal.expect_text("logged in to notes");
    assert_eq!(terminal.finish().0, 0);
    assert!(home.run_ok(&["tools", "--server", "notes"]).out.contains("take_note"));
}
