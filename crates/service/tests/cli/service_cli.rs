//! The command line of the service itself.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use switchboard_testkit::RunningCommand;

use crate::roles::{Served, Test, done, program, service};

pub(crate) const TESTS: &[Test] = &[
    ("service::a_tool_is_called_in_process", call),
    ("service::the_printed_design_can_be_parsed_again", design_prints),
    ("service::design_check_reports_breaking_changes", lock),
    ("service::serving_over_http_shuts_down_gracefully_on_a_signal", ends),
    ("service::a_public_address_requires_allow_remote", loopback),
    ("service::serve_requires_a_transport", how),
    ("service::https_is_served_with_a_certificate_from_files", https),
    ("service::unusable_certificates_are_reported_before_anything_is_served", no_certificate),
];

fn call() {
    let done = service(&["call", "find-things", "--query", "q", "--limit", "2"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(serde_json::from_str::<Value>(&done.out).unwrap()["limit"], 2);
    assert_eq!(service(&["call", "find-things"]).code, 2);
}

fn design_prints() {
    let done = service(&["design", "print", "--json"]);
    let design: switchboard_service::Design = serde_json::from_str(&done.out).unwrap();
    assert_eq!(&design, &**crate::service::design());
    let done = service(&["design", "print", "--schema"]);
    assert!(serde_json::from_str::<Value>(&done.out).unwrap()["properties"]["tools"].is_object());
}

fn lock() {
    let folder = tempfile::tempdir().unwrap();
    let check =
        |words: &[&str]| done(program("service").current_dir(&folder).args(["design", "check"]).args(words));
    let first = check(&[]);
    assert_eq!(first.code, 2, "{first:?}");
    assert!(first.err.contains("`design check --bless` writes it"));
    assert_eq!(check(&["--bless"]).code, 0);
    let same = check(&[]);
    assert_eq!((same.code, same.out.as_str()), (0, "nothing has changed\n"));
    let path = folder.path().join("design.lock.json");
    let text = std::fs::read_to_string(&path).unwrap();
    // The lock file has another tool.
    std::fs::write(&path, text.replace("\"name\": \"fail\"", "\"name\": \"gone\"")).unwrap();
    let broken = check(&[]);
    assert_eq!(broken.code, 1, "{broken:?}");
    assert!(broken.out.contains("breaking: tool `gone`"), "{}", broken.out);
}

fn ends() {
    let mut served = Served::start();
    served.running.terminate();
    assert_eq!(served.running.wait().code(), Some(0));
}

/// Writes a certificate for 127.0.0.1 that is its own root, and its key.
fn write_certificate(folder: &Path) -> (String, String) {
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    std::fs::write(&certificate, certified.cert.pem()).unwrap();
    std::fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
    (certificate.display().to_string(), key.display().to_string())
}

fn https() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = write_certificate(folder.path());
    let words = ["serve", "--http", "127.0.0.1:0", "--tls-cert", &certificate, "--tls-key", &key];
    let running = RunningCommand::start(program("service").args(words));
    let url = running.err.line_after("listening at ");
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    let call = ["--url", &url, "find-things", "--query", "q"];
    let trusted = done(program("client").args(call).env("SSL_CERT_FILE", &certificate));
    assert_eq!(trusted.code, 0, "{trusted:?}");
    let untrusted = done(program("client").args(call).env("SSL_CERT_FILE", "/nonexistent"));
    assert!(untrusted.code == 1 && untrusted.err.contains("signed by nobody we trust"), "{untrusted:?}");

    // Another implementation, where there is one.
    let address = url.trim_start_matches("https://").trim_end_matches("/mcp");
    let script = "import socket, ssl, sys\n\
        host, port = sys.argv[1].split(':')\n\
        context = ssl.create_default_context(cafile=sys.argv[2])\n\
        context.set_alpn_protocols(['http/1.1'])\n\
        with context.wrap_socket(socket.create_connection((host, int(port))), server_hostname=host) as s:\n\
        \x20   s.sendall(b'GET /nowhere HTTP/1.1\\r\\nhost: localhost\\r\\nconnection: close\\r\\n\\r\\n')\n\
        \x20   print(s.selected_alpn_protocol(), s.recv(12).decode())\n";
    if Command::new("python3").arg("-c").arg("import ssl").status().is_ok_and(|status| status.success()) {
        let python = done(Command::new("python3").args(["-c", script, address, &certificate]));
        assert_eq!(python.out.trim(), "http/1.1 HTTP/1.1 404", "{python:?}");
    }
}

fn no_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = write_certificate(folder.path());
    let missing = folder.path().join("missing.pem").display().to_string();
    for (certificate, key) in [(&missing, &key), (&certificate, &missing), (&key, &certificate)] {
        let words = ["serve", "--http", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key];
        let ran = service(&words);
        assert!(ran.code == 2 && ran.err.contains(".pem") && !ran.err.contains("listening"), "{ran:?}");
    }
    for words in
        [&["--http", "127.0.0.1:0", "--tls-cert", "x"][..], &["--stdio", "--tls-cert", "x", "--tls-key", "y"]]
    {
        assert_eq!(service(&[&["serve"], words].concat()).code, 2, "{words:?}");
    }
}

fn loopback() {
    let done = service(&["serve", "--http", "0.0.0.0:0"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("can be reached from other machines"), "{}", done.err);
}

fn how() {
    let done = service(&["serve"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("<--stdio|--http <ADDR>>"), "{}", done.err);
}
