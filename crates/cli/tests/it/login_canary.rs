//! No secret of a login is in any output: not in results, errors, traces or logs, as text or JSON. Every secret of the test
//! server contains `canary`, and so does the client secret.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;
use switchboard_testkit::{ProtectedServer, run_command};

use crate::home::Home;
use crate::login_steps::{expire_tokens, log_in};

/// Collects the output of commands.
struct Outputs<'a> {
    home: &'a Home,
    text: String,
}

impl Outputs<'_> {
    /// Runs commands, each also with `--json`.
    fn run(&mut self, commands: &[&[&str]]) {
        for args in commands {
            for extra in [&[][..], &["--json"]] {
                let mut command = self.home.command(&[args, extra].concat());
                command
                    .env("CLIENT_SECRET", "canary-client-secret")
                    .env("RUST_LOG", "trace")
                    .env("RUST_BACKTRACE", "1");
                let ran = run_command(command, "");
                self.text += &format!("{args:?} {extra:?} ({})\n{}{}", ran.code, ran.out, ran.err);
            }
        }
    }

    /// Fails if a secret was printed, as it is or encoded; or if the commands did not do what they should.
    fn check(&self) {
        for text in [
            "WDJB-MJHT",
            "take_note",
            "PKCE with S256",
            "wants a login",
            "revoked",
            "expired",
            "invalid_grant",
        ] {
            assert!(self.text.contains(text), "{text}: {}", self.text);
        }
        let encoded = [STANDARD.encode("canary"), URL_SAFE_NO_PAD.encode("canary-")];
        for secret in [&["canary".to_owned()][..], &encoded].concat() {
            let at = self.text.find(&secret);
            assert_eq!(at, None, "{secret} in {}", self.text);
        }
    }
}

/// Fails if others can read the store, or anything in it.
fn check_modes(folder: &Path) {
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    assert_eq!(mode(folder), 0o700);
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{path:?}");
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn no_secret_is_printed_and_only_the_user_can_read_the_store() {
    let server = ProtectedServer::start(3600);
    server.support_device(&["authorization_pending"]);
    let home = Home::with(json!({ "notes": { "type": "http", "url": server.url() } }));
    let login = log_in(&home, "notes");
    let url = server.url();
    let mut outputs = Outputs { home: &home, text: login.out.all() + &login.err.all() };
    outputs.run(&[
        &["login", "notes", "--device", "--account", "work"],
        &[
            "login",
            "notes",
            "--device",
            "--client-id",
            "c2",
            "--client-secret-env",
            "CLIENT_SECRET",
            "--account",
            "own",
        ],
        &["tools", "--server", "notes", "--trace", "-vv"],
        &["tools", "--url", &url, "--trace", "-vv", "--account", "work"],
        &["info", "notes", "-vv", "--trace"],
        &["call", "notes/take_note", "--trace", "-vv"],
        &["status"],
        &["reconnect", "notes"],
        &["accounts"],
        &["doctor", "notes"],
        &["doctor", &url, "--account", "work"],
        &["why", "notes"],
        &["why", "notes/take_note"],
        &["get", "notes"],
        &["list"],
        &["add", "again", &url, "--replace"],
    ]);
    check_modes(&home.at("state/switchboard/auth"));

    // Expired, refused, and rejected tokens are explained without them.
    expire_tokens(&home);
    outputs.run(&[&["doctor", "notes"], &["why", "notes"], &["status"], &["accounts"]]);
    for challenge in [
        "Bearer error=\"invalid_token\", error_description=\"expired\"",
        // Nor if the server repeats it.
        "Bearer error=\"invalid_token\", error_description=\"bad: {token}\"",
        "Bearer error=\"insufficient_scope\", scope=\"admin\"",
    ] {
        server.refuse_tokens("401 Unauthorized", challenge);
        outputs.run(&[
            &["doctor", "notes"],
            &["why", "notes"],
            &["tools", "--server", "notes", "--trace", "-vv"],
            &["status"],
        ]);
    }
    server.fail_token_requests(json!({ "error": "invalid_grant" }));
    expire_tokens(&home);
    outputs.run(&[
        &["tools", "--server", "notes", "--trace", "-vv"],
        &["why", "notes"],
        &["doctor", "notes"],
        &["status"],
        &["accounts"],
        &["login", "notes", "--device"],
        &["logout", "notes"],
        &["logout", "notes", "--account", "own"],
        &["tools", "--server", "notes", "--account", "work"],
    ]);
    outputs.check();
    check_modes(&home.at("state/switchboard/auth"));
}
