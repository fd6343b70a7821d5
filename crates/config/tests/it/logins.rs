//! The `oauth` block and the header helper of an entry: read, checked, shown, covered by approvals.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_config::{
    Approvals, ConfigFile, ConsentScreen, GrantConfig, OAuthConfig, ResourceConfig, Scope, ServerConfig,
};

const URL: &str = "https://mcp.example.com/mcp";

fn entry(oauth: Value) -> ServerConfig {
    serde_json::from_value(json!({ "url": URL, "oauth": oauth })).unwrap()
}

fn variables(name: &str) -> Option<String> {
    match name {
        "SECRET" => Some("canary-secret\n".to_owned()),
        "ID_TOKEN" => Some("canary-id".to_owned()),
        "TENANT" => Some("blue".to_owned()),
        _ => None,
    }
}

fn resolved(oauth: Value) -> OAuthConfig {
    let plan = entry(oauth).resolve(&variables).unwrap();
    plan.oauth.unwrap().as_ref().clone()
}

/// Every setting that a block can have.
fn full() -> Value {
    json!({
        "clientId": "0oa-${TENANT}",
        "clientSecretEnv": "SECRET",
        "callbackPort": 8700,
        "scopes": ["notes.read", "notes.write"],
        "authServerMetadataUrl": "https://login.example.com/${TENANT}/.well-known/openid-configuration",
        "issuer": "https://login.example.com/",
        "resource": "api://notes",
        "account": "work",
        "authorizeParameters": { "access_type": "offline" },
        "pkce": "assume",
        "grant": {
            "type": "enterprise-managed",
            "tokenEndpoint": "https://idp.example.com/token",
            "clientId": "idp-client",
            "clientSecretEnv": "SECRET",
            "idTokenEnv": "ID_TOKEN",
        },
    })
}

#[test]
fn a_block_is_read_substituted_and_written_back() {
    let written = entry(full());
    assert_eq!(serde_json::to_value(&written).unwrap()["oauth"], full());
    let oauth = resolved(full());
    assert_eq!(oauth.client_id.as_deref(), Some("0oa-blue"));
    assert_eq!(oauth.client_secret.as_ref().unwrap().expose(), "canary-secret");
    assert_eq!(oauth.callback_port, Some(8700));
    assert_eq!(oauth.resource, Some(ResourceConfig::Identifier("api://notes".into())));
    assert!(oauth.assumes_pkce);
    let GrantConfig::EnterpriseManaged(enterprise) = &oauth.grant else { panic!("{oauth:?}") };
    assert_eq!(enterprise.secrets.id_token.as_ref().unwrap().expose(), "canary-id");
    assert_eq!(written.variables().into_iter().collect::<Vec<_>>(), ["ID_TOKEN", "SECRET", "TENANT"]);

    assert_eq!(resolved(json!({ "scopes": "a  b" })).scopes, ["a", "b"]);
    assert_eq!(resolved(json!({ "resource": "omit" })).resource, Some(ResourceConfig::Omit));
    let by_reference = resolved(json!({ "clientId": "c", "clientSecret": "${SECRET}" }));
    assert_eq!(by_reference.client_secret.unwrap().expose().trim(), "canary-secret");
    let file =
        json!({ "clientId": "c", "grant": { "type": "jwt-bearer", "assertionFile": "/run/${TENANT}" } });
    let expected = GrantConfig::JwtBearer { assertion_file: "/run/blue".into() };
    assert_eq!(resolved(file).grant, expected);
    let service =
        resolved(json!({ "clientId": "c", "clientSecretEnv": "SECRET", "grant": "client-credentials" }));
    assert_eq!(service.grant, GrantConfig::ClientCredentials);
}

#[test]
fn a_mistake_names_its_field_and_what_to_write() {
    for (oauth, field, words) in [
        (json!("yes"), "oauth", "expected an object"),
        (json!({ "clientId": 5 }), "oauth.clientId", "a string"),
        (json!({ "clientId": "c", "clientSecret": "hunter2" }), "oauth.clientSecret", "like ${NAME}"),
        (json!({ "clientId": "c", "clientSecret": "${A:-hunter2}" }), "oauth.clientSecret", "like ${NAME}"),
        (
            json!({ "clientId": "c", "clientSecret": "${A}", "clientSecretEnv": "A" }),
            "oauth.clientSecret",
            "one of the two",
        ),
        (json!({ "clientSecretEnv": "A" }), "oauth.clientSecretEnv", "`clientId`"),
        (json!({ "callbackPort": 70_000 }), "oauth.callbackPort", "1 to 65535"),
        (json!({ "callbackPort": "8700" }), "oauth.callbackPort", "a port number"),
        (json!({ "scopes": ["a b"] }), "oauth.scopes[0]", "one scope"),
        (json!({ "scopes": 1 }), "oauth.scopes", "a string of scopes"),
        (
            json!({ "authorizeParameters": { "state": "x" } }),
            "oauth.authorizeParameters.state",
            "sets this parameter",
        ),
        (json!({ "authorizeParameters": { "a": 1 } }), "oauth.authorizeParameters.a", "a string"),
        (json!({ "pkce": "no" }), "oauth.pkce", "\"assume\""),
        (json!({ "grant": "client-credentials" }), "oauth.grant", "needs a `clientId`"),
        (json!({ "clientId": "c", "grant": "jwt-bearer" }), "oauth.grant", "assertionFile"),
        (
            json!({ "clientId": "c", "grant": { "type": "jwt-bearer" } }),
            "oauth.grant.assertionFile",
            "missing",
        ),
        (
            json!({ "clientId": "c", "grant": { "type": "password" } }),
            "oauth.grant.type",
            "client-credentials",
        ),
        (
            json!({ "clientId": "c", "grant": { "type": "jwt-bearer", "assertionFile": "f", "file": "g" } }),
            "oauth.grant.file",
            "no setting of that name",
        ),
    ] {
        let text = json!({ "mcpServers": { "notes": { "url": URL, "oauth": oauth } } }).to_string();
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("mcp.json");
        std::fs::write(&path, &text).unwrap();
        let file = ConfigFile::open_shared(&path).unwrap();
        let error = file.servers()[0].entry.as_ref().unwrap_err();
        assert_eq!(error.field(), format!("mcpServers.notes.{field}"), "{text}");
        assert!(error.to_string().contains(words) && !error.to_string().contains("hunter2"), "{error}");
        assert!(error.position().is_some(), "{error}");
    }
    for (oauth, field) in [
        (json!({ "clientId": "c", "clientSecretEnv": "UNSET" }), "oauth.clientSecretEnv"),
        (json!({ "clientId": "${UNSET}" }), "oauth.clientId"),
        (json!({ "authServerMetadataUrl": "http://other.example/x" }), "oauth.authServerMetadataUrl"),
        (json!({ "resource": "notes" }), "oauth.resource"),
        (json!({ "resource": "https://a/#b" }), "oauth.resource"),
    ] {
        assert_eq!(entry(oauth).resolve(&variables).unwrap_err().field(), field);
    }
}

#[test]
fn s2_the_settings_of_a_login_are_shown_and_approved() {
    let shown = |oauth: Value| ConsentScreen::of_server(&entry(oauth)).lines().join("\n");
    let screen = shown(full());
    for line in [
        "oauth clientId 0oa-${TENANT}",
        "oauth clientSecretEnv SECRET",
        "oauth scopes notes.read\noauth scopes notes.write",
        "oauth issuer https://login.example.com/",
        "oauth resource api://notes",
        "oauth authorizeParameters \"access_type\" offline",
        "oauth grant \"tokenEndpoint\" https://idp.example.com/token",
    ] {
        assert!(screen.contains(line), "{line} in\n{screen}");
    }
    let fingerprint = |oauth: Value| Approvals::fingerprint(Path::new("/shop"), "notes", &entry(oauth));
    let Value::Object(all) = full() else { unreachable!() };
    for key in all.keys().filter(|key| !["clientId", "clientSecretEnv"].contains(&key.as_str())) {
        let mut fewer = full();
        fewer.as_object_mut().unwrap().remove(key);
        assert_ne!(fingerprint(fewer.clone()), fingerprint(full()), "{key}");
        assert_ne!(shown(fewer), screen, "{key}");
    }
    // Unknown fields have no effect: kept, reported, and not covered.
    let mut more = full();
    more["xaa"] = json!({ "token": "hunter2" });
    assert_eq!((fingerprint(more.clone()), shown(more.clone())), (fingerprint(full()), screen));
    let entry = entry(more);
    assert_eq!(serde_json::to_value(&entry).unwrap()["oauth"]["xaa"]["token"], "hunter2");
    assert!(!format!("{entry:?}").contains("hunter2"), "{entry:?}");
}

#[test]
fn no_secret_of_a_plan_is_printed() {
    let mut entry = entry(full());
    entry.headers_helper = serde_json::from_value::<ServerConfig>(
        json!({ "url": URL, "headersHelper": { "command": "h", "env": { "KEY": "canary-key" } } }),
    )
    .unwrap()
    .headers_helper;
    let plan = entry.resolve(&variables).unwrap();
    let printed = format!("{plan:?} {:?} {:?} {}", plan.oauth, plan.headers_helper, entry.masked());
    assert!(!printed.contains("canary"), "{printed}");
    assert!(printed.contains("SECRET") && printed.contains("https://idp.example.com/token"), "{printed}");
}

#[test]
fn a_header_helper_is_a_command_that_needs_approval() {
    let entry = |helper: Value| -> ServerConfig {
        serde_json::from_value(json!({ "url": URL, "headersHelper": helper })).unwrap()
    };
    let plain = entry(json!("print-headers '$HOME'"));
    assert_eq!(serde_json::to_value(&plain).unwrap()["headersHelper"], "print-headers '$HOME'");
    assert!(
        ConsentScreen::of_server(&plain).lines().contains(&"headersHelper \"print-headers '$HOME'\"".into())
    );
    let full =
        entry(json!({ "command": "h", "env": { "A": "${TENANT}" }, "inheritEnv": ["B"], "timeout": 500 }));
    let lines = ConsentScreen::of_server(&full).lines().join("\n");
    for line in ["headersHelper h", "headersHelper env A=${TENANT}", "headersHelper inherits env B"] {
        assert!(lines.contains(line), "{lines}");
    }
    let helper = full.resolve(&variables).unwrap().headers_helper.unwrap();
    assert_eq!(helper.env["A"].expose(), "blue");
    let fingerprint = |entry: &ServerConfig| Approvals::fingerprint(Path::new("/shop"), "notes", entry);
    assert_ne!(fingerprint(&plain), fingerprint(&entry(json!("print-headers '$HOME' "))));
    for wrong in
        [json!(5), json!({}), json!({ "command": "h", "cmd": "x" }), json!({ "command": "h", "timeout": 0 })]
    {
        assert!(
            serde_json::from_value::<ServerConfig>(json!({ "url": URL, "headersHelper": wrong })).is_err()
        );
    }
    assert!(entry(json!(" ")).resolve(&variables).is_err());
}

#[test]
fn settings_that_have_no_effect_are_reported() {
    let text = json!({ "mcpServers": {
        "program": { "command": "x", "oauth": {}, "headersHelper": "h" },
        "both": { "url": URL, "oauth": { "clientID": "c" }, "headers": { "authorization": "Bearer ${T}" } },
    } })
    .to_string();
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("mcp.json");
    std::fs::write(&path, text).unwrap();
    let file = ConfigFile::open_shared(&path).unwrap();
    let warnings: Vec<String> =
        file.warnings().iter().map(|warning| format!("{}: {}", warning.field(), warning.text())).collect();
    assert_eq!(
        warnings,
        [
            "mcpServers.both.oauth.clientID: unknown field: kept, but not used",
            "mcpServers.program.headersHelper: a server of type `stdio` does not use this",
            "mcpServers.program.oauth: a server of type `stdio` does not use this",
        ]
    );
    let both = file.servers()[0].entry.as_ref().unwrap();
    let warning = &both.risk_warnings(Scope::User)[0];
    assert!(warning.text().starts_with("not used: the entry has an `Authorization` header"), "{warning}");
}
