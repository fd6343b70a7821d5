//! Callers of a gateway: OAuth tokens, what servers learn about them, and logins of an open gateway.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::json;
use switchboard_testkit::{HttpScript, ProtectedServer, RunningCommand, http_response};

use crate::gateway_program::{ConfiguredGateway, base_config, write_config, write_private};
use crate::home::Home;
use crate::login_steps::log_in;

const PUBLIC_URL: &str = "https://tools.example.org/mcp";

/// Starts an authorization server that knows a token of ada for the gateway, and one of hers for another server.
fn authorization_server() -> HttpScript {
    HttpScript::in_background(|request| {
        let answer = |value: serde_json::Value| {
            http_response("200 OK", &["content-type: application/json"], value.to_string())
        };
        let (audience, scope) = match request {
            _ if !request.starts_with("POST /introspect") => return http_response("404 Not Found", &[], ""),
            _ if !request.contains("c2VjcmV0LW9mLWNsaWVudA") && !request.contains("authorization: Basic") => {
                return http_response("401 Unauthorized", &[], "");
            }
            _ if request.contains("token=opaque-ada-write") => (PUBLIC_URL, "read write"),
            _ if request.contains("token=opaque-ada") => (PUBLIC_URL, "read"),
            _ if request.contains("token=opaque-elsewhere") => ("https://other.example/mcp", "read"),
            _ => return answer(json!({ "active": false })),
        };
        answer(
            json!({ "active": true, "sub": "ada", "aud": audience, "scope": scope, "exp": 4_000_000_000_u64 }),
        )
    })
}

#[test]
fn callers_authenticate_with_tokens_for_this_gateway() {
    let issuer = authorization_server();
    let home = Home::new();
    write_private(&home.at("client-secret"), "secret-of-client\n");
    let origin = format!("http://{}", issuer.address);
    let callers = format!(
        "[callers.oauth]\nissuer = \"{origin}\"\nscopes = [\"read\"]\n[callers.oauth.introspection]\n\
         endpoint = \"{origin}/introspect\"\nclient_id = \"gateway\"\nclient_secret_file = \"client-secret\"\n"
    );
    let policy = format!(
        "[policy]\ndefault = \"deny\"\nissuer = \"{origin}\"\n[[policy.rule]]\neffect = \"allow\"\nprincipal = \"ada\"\n\
         [[policy.rule]]\neffect = \"deny\"\ntool = \"echo\"\nunless_scope = [\"write\"]\n"
    );
    let listen = format!("public_url = \"{PUBLIC_URL}\"\n[servers.one]");
    let config = format!("{}{callers}{policy}", base_config().replace("[servers.one]", &listen));
    let gateway = ConfiguredGateway::start_in(home, &config, &[]);

    let metadata = gateway.get("/.well-known/oauth-protected-resource/mcp").1;
    assert!(metadata.contains(PUBLIC_URL) && metadata.contains(&origin), "{metadata}");
    let call = |tool: &str, token: &str| {
        let header = format!("Authorization: Bearer {token}");
        let arguments = if tool == "one__add" { &["a=19", "b=23"][..] } else { &["text=x"] };
        gateway.run(&[&["call", tool, "-H", &header], arguments].concat())
    };
    let sum = call("one__add", "opaque-ada");
    assert_eq!((sum.code, sum.out.contains("42")), (0, true), "{} {}", sum.out, sum.err);
    assert_eq!(call("one__add", "opaque-elsewhere").code, 3, "a token for another audience");
    assert_eq!(call("one__add", "opaque-unknown").code, 3);
    assert_eq!(gateway.run(&["tools"]).code, 3, "no token");
    let refused = call("one__echo", "opaque-ada");
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("write"), "{}", refused.err);
    assert_eq!(call("one__echo", "opaque-ada-write").code, 0);
    assert!(!gateway.stop().contains("secret-of-client"));
}

#[test]
fn a_changed_client_secret_is_used_from_then_on() {
    // The authorization server knows the client by another secret than the file has at first.
    let issuer = HttpScript::in_background(|request| {
        if !request.starts_with("POST /introspect") {
            return http_response("404 Not Found", &[], "");
        }
        // gateway:second-secret
        if !request.contains("Z2F0ZXdheTpzZWNvbmQtc2VjcmV0") {
            return http_response("401 Unauthorized", &[], "");
        }
        let answer = json!({ "active": true, "sub": "ada", "aud": PUBLIC_URL, "exp": 4_000_000_000_u64 });
        http_response("200 OK", &["content-type: application/json"], answer.to_string())
    });
    let home = Home::new();
    let secret = home.at("client-secret");
    write_private(&secret, "first-secret\n");
    let origin = format!("http://{}", issuer.address);
    let callers = format!(
        "[callers.oauth]\nissuer = \"{origin}\"\n[callers.oauth.introspection]\nendpoint = \"{origin}/introspect\"\n\
         client_id = \"gateway\"\nclient_secret_file = \"client-secret\"\n"
    );
    let listen = format!("public_url = \"{PUBLIC_URL}\"\n[servers.one]");
    let config = format!("{}{callers}", base_config().replace("[servers.one]", &listen));
    let gateway = ConfiguredGateway::start_in(home, &config, &[]);
    let call = || gateway.run(&["call", "one__add", "a=19", "b=23", "-H", "Authorization: Bearer opaque"]);
    assert_ne!(call().code, 0, "the client is refused");
    write_private(&secret, "\n");
    let seen = gateway.running.err.wait_for("it is empty", 0);
    write_private(&secret, "second-secret\n");
    gateway.running.err.wait_for("configuration applied: callers replaced", seen);
    let sum = call();
    assert_eq!((sum.code, sum.out.contains("42")), (0, true), "{} {}", sum.out, sum.err);
    assert!(!gateway.stop().contains("-secret\n"));
}

/// Forwards connections to an HTTP server, and records what clients send.
fn recording_proxy(upstream: String) -> (String, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&recorded);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (Ok(client), Ok(server)) = (client, TcpStream::connect(&upstream)) else { return };
            let (Ok(client_half), Ok(server_half)) = (client.try_clone(), server.try_clone()) else { return };
            let log = Arc::clone(&log);
            std::thread::spawn(move || {
                forward(client, server, |bytes| log.lock().unwrap().extend_from_slice(bytes))
            });
            std::thread::spawn(move || forward(server_half, client_half, |_| ()));
        }
    });
    (address, recorded)
}

fn forward(mut from: TcpStream, mut to: TcpStream, record: impl Fn(&[u8])) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        record(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Write);
}

#[test]
fn the_token_of_a_caller_never_reaches_a_server() {
    let home = Home::new();
    let upstream = RunningCommand::start(home.command(&["demo-server", "--http", "127.0.0.1:0"]));
    let url = upstream.err.line_after("listening at http://");
    let (proxy, recorded) = recording_proxy(url.trim_end_matches("/mcp").to_owned());
    let keys = home.at("keys.json").display().to_string();
    let created = home.run_ok(&["key", "create", "laptop", "--file", &keys]);
    let key = created.out.split_whitespace().find(|word| word.starts_with("sbk_")).unwrap().to_owned();
    let config = format!(
        "[listen]\nhttp = \"127.0.0.1:0\"\n[callers]\napi_keys = \"keys.json\"\n[servers.one]\n\
         url = \"http://{proxy}/mcp\"\nheaders = {{ X-Own = \"own-credential\" }}\n"
    );
    let gateway = ConfiguredGateway::start_in(home, &config, &[]);
    let header = format!("Authorization: Bearer {key}");
    for revision in ["2025-11-25", "2026-07-28"] {
        let args = ["call", "one__add", "a=19", "b=23", "-H", &header, "-H", "X-Caller: caller-header"];
        let called = gateway.run(&[&args[..], &["--revision", revision]].concat());
        assert_eq!((called.code, called.out.contains("42")), (0, true), "{} {}", called.out, called.err);
    }
    let recorded = String::from_utf8_lossy(&recorded.lock().unwrap()).to_lowercase();
    assert!(recorded.contains("tools/call") && recorded.contains("x-own: own-credential"), "{recorded}");
    for secret in [&key[..12], "authorization", "bearer", "caller-header"] {
        assert!(!recorded.contains(&secret.to_lowercase()), "{secret}: {recorded}");
    }
}

#[test]
fn a_login_made_while_an_open_gateway_runs_is_not_lent_to_everyone() {
    let protected = ProtectedServer::start(3600);
    let home = Home::with(json!({ "notes": { "type": "http", "url": protected.url() } }));
    let open = RunningCommand::start(home.command(&["gateway", "--http", "127.0.0.1:0"]));
    let open_url = open.err.line_after("listening at ");
    open.err.wait_for("notes needs a login, which a gateway that everyone can use does not use", 0);
    let allowed = RunningCommand::start(home.command(&["gateway", "--http", "127.0.0.1:0", "--anonymous"]));
    let allowed_url = allowed.err.line_after("listening at ");
    allowed.err.wait_for("notes needs a login: `switchboard login notes`", 0);

    log_in(&home, "notes");
    let has_tools = |url: &str| {
        let tools = crate::commands::run(&["tools", "--url", url]);
        tools.code == 0 && tools.out.contains("notes__")
    };
    // The other one sees the login within about a second.
    while !has_tools(&allowed_url) {
        std::thread::yield_now();
    }
    assert!(!has_tools(&open_url));
    let file = home.at("gateway.toml").display().to_string();
    write_config(
        &home,
        &format!("[listen]\nhttp = \"127.0.0.1:0\"\n[servers.notes]\nurl = \"{}\"\n", protected.url()),
    );
    let refused = home.run(&["gateway", "--config", &file]);
    assert!(refused.err.contains("notes has credentials"), "{}", refused.err);
}
