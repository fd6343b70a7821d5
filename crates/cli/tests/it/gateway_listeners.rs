//! Where a gateway listens: a Unix socket of this user, and https.

use std::os::unix::fs::PermissionsExt;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::json;
use switchboard::transport::http_client::HttpClientOptions;
use switchboard::{Client, Http};
use switchboard_testkit::{RunningCommand, run_command};

use crate::commands::switchboard;
use crate::gateway_program::{ConfiguredGateway, demo_server, write_config};
use crate::home::Home;

#[test]
fn a_unix_socket_belongs_to_this_user() {
    let home = Home::new();
    // Its owner may use the credentials of servers without a key.
    let server = format!("{}env = {{ TOKEN = \"s3cret\" }}\n", demo_server("one"));
    let config = format!("[listen]\nunix = \"gateway.sock\"\n{server}");
    write_config(&home, &config);
    let file = home.at("gateway.toml").display().to_string();
    let mut gateway = RunningCommand::start(home.command(&["gateway", "--config", &file]));
    let url = gateway.err.line_after("listening at ");
    let socket = home.at("gateway.sock");
    assert_eq!(url, format!("unix:{}", socket.display()));
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    for revision in ["2025-11-25", "2026-07-28"] {
        let args = ["call", "one__add", "a=19", "b=23", "--url", &url, "--revision", revision];
        let called = run_command(switchboard(args), "");
        assert_eq!((called.code, called.out.contains("42")), (0, true), "{} {}", called.out, called.err);
    }
    let second = home.run(&["gateway", "--config", &file]);
    assert_ne!(second.code, 0);
    assert!(second.err.contains("another process listens on"), "{}", second.err);
    gateway.terminate();
    assert_eq!(gateway.wait().code(), Some(0));
    assert!(!socket.exists());

    // A gateway that was killed leaves its socket; the next one takes it over.
    let mut killed = RunningCommand::start(home.command(&["gateway", "--config", &file]));
    killed.err.wait_for("listening at unix:", 0);
    killed.child.kill().unwrap();
    killed.wait();
    assert!(socket.exists());
    let next = RunningCommand::start(home.command(&["gateway", "--config", &file]));
    next.err.wait_for("listening at unix:", 0);
    let called = run_command(switchboard(["call", "one__add", "a=1", "b=2", "--url", &url]), "");
    assert_eq!(called.code, 0, "{}", called.err);

    let absent = run_command(switchboard(["tools", "--url", "unix:/nonexistent/gateway.sock"]), "");
    assert_eq!(absent.code, 4, "{}", absent.err);
    assert!(absent.err.contains("gateway.sock"), "{}", absent.err);
}

#[tokio::test]
async fn https_is_served_with_the_newest_certificate() {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let home = Home::new();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(home.at("cert.pem"), params.signed_by(&key, &authority).unwrap().pem()).unwrap();
    crate::gateway_program::write_private(&home.at("key.pem"), &key.serialize_pem());
    let config = format!(
        "[listen]\nhttp = \"127.0.0.1:0\"\n[listen.tls]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n{}",
        demo_server("one")
    );
    let gateway = ConfiguredGateway::start_in(home, &config, &[]);
    assert!(gateway.url.starts_with("https://"), "{}", gateway.url);
    let roots = HttpClientOptions::default().with_extra_roots(authority.pem());
    let session = Client::new().connect(Http::new(&gateway.url).options(roots)).await.unwrap();
    let sum = session.call_tool("one__add", json!({ "a": 19, "b": 23 })).await.unwrap();
    assert!(sum.text().contains("42"), "{}", sum.text());
    session.close().await;
    let untrusted =
        Client::new().connect(Http::new(&gateway.url).options(HttpClientOptions::default())).await;
    assert!(untrusted.is_err());
}
