//! Errors, under every error policy and in every revision.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use switchboard_design::{ArgumentErrors, ErrorPolicy};
use switchboard_service::Error;
use switchboard_session::CallError;

use crate::sessions::{ERAS, MODERN, OLDER, REVISIONS, ask, outcome, session};
use crate::shop::Shop;

#[tokio::test]
async fn errors_are_mapped_as_specified_in_every_revision() {
    let specification = Shop::builder().build().unwrap();
    let codes = Shop::builder().error_policy(ErrorPolicy::Codes).build().unwrap();
    for revision in REVISIONS {
        let spec = session(&specification, revision).await;
        let seed = session(&codes, revision).await;
        let misfit = if revision == OLDER { "-32602" } else { "failed" };
        for (tool, args, expected, coded) in [
            ("echo", json!({}), misfit, "-32602"),
            ("echo", json!({"text": 3}), misfit, "-32602"),
            ("fail", json!({"text": "invalid"}), misfit, "-32602"),
            ("none", json!({}), "-32602", "-32601"),
            ("fail", json!({"text": "tool"}), "failed", "-32603"),
            ("fail", json!({"text": "missing"}), "failed", "-32603"),
            ("fail", json!({"text": "unmapped"}), "failed", "-32601"),
            ("fail", json!({"text": "internal"}), "-32603", "-32603"),
            ("fail", json!({"text": "timeout"}), "-32603", "-32603"),
            ("fail", json!({"text": "rpc"}), "-7", "-7"),
        ] {
            assert_eq!(outcome(&spec, tool, args.clone()).await.0, expected, "{tool} {args} {revision}");
            assert_eq!(outcome(&seed, tool, args.clone()).await.0, coded, "{tool} {args} {revision}, codes");
        }
        let unknown_resource = if revision == MODERN { -32602 } else { -32002 };
        for (method, params, expected, coded) in [
            ("resources/read", json!({"uri": "none://x"}), unknown_resource, -32601),
            ("resources/read", json!({"uri": "text://broken"}), -32603, -32603),
            ("resources/read", json!({"uri": "text://rude"}), -32603, -32603),
            ("resources/read", json!({"uri": "text://unmapped"}), -32601, -32601),
            ("resources/read", json!({"uri": "text://missing"}), unknown_resource, unknown_resource),
            ("prompts/get", json!({"name": "advise", "arguments": {"topic": "unmapped"}}), -32601, -32601),
            ("prompts/get", json!({"name": "advise", "arguments": {"topic": "missing"}}), -32602, -32602),
            ("resources/read", json!({"uri": "conversation://history?limit=x"}), -32602, -32602),
            ("prompts/get", json!({"name": "none"}), -32602, -32601),
            ("prompts/get", json!({"name": "advise"}), -32602, -32602),
            ("no/such", json!({}), -32601, -32601),
        ] {
            assert_eq!(
                ask(&spec, method, params.clone()).await.unwrap_err().0,
                expected,
                "{method} {revision}"
            );
            assert_eq!(ask(&seed, method, params).await.unwrap_err().0, coded, "{method} {revision}, codes");
        }
    }
}

#[tokio::test]
async fn v4_a_not_found_error_has_the_uri_and_the_name() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let params = json!({"uri": "text://missing"});
        let response = session.request_raw("resources/read", crate::sessions::raw(params)).await;
        let Err(CallError::Remote(error)) = response else { panic!("{response:?}") };
        let data: serde_json::Value = error.data.as_ref().unwrap().decode().unwrap();
        assert_eq!(data, json!({"uri": "text://missing", "name": "not_found"}), "{revision}");
        let code = error.code;
        let error = Error::from_rpc(error, |_| panic!("nothing to repair"));
        assert_eq!(error.code(), code, "{revision}");
        assert!(matches!(&error, Error::Tool(own) if own.code == "not_found"), "{error:?}");
    }
}

#[tokio::test]
async fn the_report_of_invalid_arguments_can_be_fixed() {
    for (reporting, expected) in [(ArgumentErrors::Code, "-32602"), (ArgumentErrors::Result, "failed")] {
        let server = Shop::builder().argument_errors(reporting).build().unwrap();
        for revision in REVISIONS {
            let session = session(&server, revision).await;
            assert_eq!(outcome(&session, "echo", json!({})).await.0, expected, "{revision}");
        }
    }
}

#[tokio::test]
async fn internal_errors_are_hidden_by_default() {
    let hidden = Shop::builder().build().unwrap();
    let shown = Shop::builder().debug_errors(true).build().unwrap();
    for revision in REVISIONS {
        let text = outcome(&session(&hidden, revision).await, "fail", json!({"text": "internal"})).await.1;
        assert_eq!(text, "Internal error");
        let text = outcome(&session(&shown, revision).await, "fail", json!({"text": "internal"})).await.1;
        assert!(text.contains("the password is 1234"), "{text}");
    }
}

#[tokio::test]
async fn the_error_mapper_is_called_once_per_error() {
    let asked = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&asked);
    let builder = Shop::builder().error_mapper(move |error| {
        seen.fetch_add(1, Ordering::SeqCst);
        match error {
            Error::Internal(_) => Error::tool("busy", "Try again later."),
            other => other,
        }
    });
    let server = builder.build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        asked.store(0, Ordering::SeqCst);
        let mapped = outcome(&session, "fail", json!({"text": "internal"})).await;
        assert_eq!(mapped, ("failed".to_owned(), "Try again later.".to_owned()), "{revision}");
        assert_eq!(asked.load(Ordering::SeqCst), 1, "{revision}");
        assert_eq!(
            ask(&session, "resources/read", json!({"uri": "text://broken"})).await.unwrap_err().0,
            -32603
        );
        assert_eq!(outcome(&session, "fail", json!({"text": "tool"})).await.0, "failed");
        assert_eq!(asked.load(Ordering::SeqCst), 3, "{revision}");
        // Errors of the adapter are not passed to the mapper.
        assert_eq!(outcome(&session, "none", json!({})).await.0, "-32602");
        assert_eq!(asked.load(Ordering::SeqCst), 3, "{revision}");
    }
}

#[tokio::test]
async fn a_panic_fails_only_its_own_request() {
    let server = Shop::builder().build().unwrap();
    for revision in ERAS {
        let session = session(&server, revision).await;
        for text in ["panic", "panic later"] {
            let (code, message) = outcome(&session, "fail", json!({"text": text})).await;
            assert_eq!(code, "-32603", "{revision} {text}");
            assert!(!message.contains("a method panicked"), "{message}");
        }
        assert_eq!(outcome(&session, "echo", json!({"text": "still here"})).await.1, "still here");
    }
}
