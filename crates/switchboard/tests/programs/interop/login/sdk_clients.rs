//! Clients written with the SDKs of others log in at oidc-provider, call a scoped tool of our service, and step up.

use std::process::Stdio;

use serde_json::{Value, json};
use switchboard::auth::{DpopVerification, ResourceServer};
use switchboard_testkit::Failed;
use tokio::process::Command;

use crate::interop::listening;
use crate::interop::login::authorization_server::AuthorizationServer;
use crate::interop::login::notes_service::NotesService;
use crate::interop::peer::{Mark, place};
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[
    ("login::typescript_logs_in_and_steps_up_in_the_modern_era", || logs_in(typescript, "modern", MODERN)),
    ("login::typescript_logs_in_and_steps_up_in_the_legacy_era", || logs_in(typescript, "legacy", LEGACY)),
    ("login::typescript_logs_in_and_steps_up_with_bound_tokens", || {
        bound_logs_in(typescript_bound, "auto", MODERN)
    }),
    ("login::python_logs_in_and_steps_up_in_the_modern_era", || logs_in(python, "modern", MODERN)),
    ("login::python_logs_in_and_steps_up_in_the_legacy_era", || logs_in(python, "legacy", LEGACY)),
    ("login::rmcp_logs_in_and_steps_up_in_the_modern_era", || logs_in(rmcp, "modern", MODERN)),
    ("login::rmcp_logs_in_and_steps_up_in_the_legacy_era", || logs_in(rmcp, "legacy", LEGACY)),
];

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

fn typescript() -> Command {
    let mut command = Command::new("node");
    command.arg(place("SWITCHBOARD_INTEROP_NODE").join("login-client.mjs"));
    command
}

/// With tokens that are bound to a key, which no other SDK can.
fn typescript_bound() -> Command {
    let mut command = typescript();
    command.arg("--dpop");
    command
}

fn python() -> Command {
    listening::python("login_client.py")
}

fn rmcp() -> Command {
    Command::new(place("SWITCHBOARD_INTEROP_RMCP_LOGIN_CLIENT"))
}

fn logs_in(client: fn() -> Command, era: &'static str, revision: &'static str) -> Result<(), Failed> {
    sees(client, era, revision, |settings| settings)
}

/// Logs in to a service that wants tokens that are bound to a key, and proofs with its nonces.
fn bound_logs_in(client: fn() -> Command, era: &'static str, revision: &'static str) -> Result<(), Failed> {
    sees(client, era, revision, |settings| settings.dpop(DpopVerification::required().with_nonces()))
}

fn sees(
    client: fn() -> Command,
    era: &'static str,
    revision: &'static str,
    change: fn(ResourceServer) -> ResourceServer,
) -> Result<(), Failed> {
    block_on(async move {
        // All three register for the scopes of their first login, and do not register again when they need more.
        let issuer = AuthorizationServer::oidc_provider(&["--any-scope"]).await;
        let service = NotesService::start_with(issuer.issuer(), change).await;
        let mark = Mark::new();
        let output = client()
            .args(["--era", era, "--url", service.url(), "--", "node"])
            .arg(place("SWITCHBOARD_INTEROP_NODE").join("login-form.mjs"))
            .arg("--stay")
            .env(Mark::VARIABLE, mark.text())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .expect("the client starts");
        mark.gone().await;
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}\n{}", issuer.events().await);
        let seen: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
        let expected = json!({
            "protocolVersion": revision,
            "first": "ada with notes:read",
            "cleared": "cleared",
            "last": "ada with notes:read notes:delete",
            "logins": 2,
        });
        assert_eq!(seen, expected, "{}", issuer.events().await);
        assert_eq!(errors, "", "the client complained");
        issuer.stop().await;
    })
}
