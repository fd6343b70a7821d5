//! Every error under every rule, and back.

use serde_json::json;
use switchboard_protocol::{CallToolResult, Content, Revision, lower_error};

use super::*;
use crate::repair::Operation;

fn rules() -> [ErrorRules; 3] {
    let spec = ErrorRules::new(ErrorPolicy::Specification);
    [spec, spec.with_arguments(ArgumentErrors::Code), ErrorRules::new(ErrorPolicy::Codes)]
}

/// The code, or `failed` for a failed result.
fn told(error: &Error, asked: Asked) -> [String; 3] {
    rules().map(|rules| match rules.answer(error, asked) {
        Answer::Result(result) => {
            assert!(result.is_error);
            "failed".to_owned()
        }
        Answer::Rpc(error) => error.code.to_string(),
    })
}

#[test]
fn the_table_holds() {
    let unknown = |kind| Error::unknown(kind, "x");
    let rows = [
        (Error::invalid_params("no"), Asked::Tool, ["failed", "-32602", "-32602"]),
        (Error::invalid_params("no"), Asked::Other, ["-32602", "-32602", "-32602"]),
        (unknown(ItemKind::Tool), Asked::Tool, ["-32602", "-32602", "-32601"]),
        (unknown(ItemKind::Prompt), Asked::Other, ["-32602", "-32602", "-32601"]),
        (unknown(ItemKind::Resource), Asked::Other, ["-32602", "-32602", "-32601"]),
        (Error::MethodNotFound { method: "m".into() }, Asked::Other, ["-32601", "-32601", "-32601"]),
        (Error::Unmapped { method: "m".into() }, Asked::Other, ["-32601", "-32601", "-32601"]),
        (Error::tool("not_found", "no"), Asked::Tool, ["failed", "failed", "-32603"]),
        (Error::tool("not_found", "no"), Asked::Other, ["-32603", "-32603", "-32603"]),
        (Error::tool("invalid_params", "no"), Asked::Tool, ["failed", "-32602", "-32602"]),
        (Error::tool("invalid_params", "no"), Asked::Other, ["-32602", "-32602", "-32602"]),
        (Error::tool("method_not_found", "no"), Asked::Tool, ["failed", "failed", "-32601"]),
        (Error::tool("method_not_found", "no"), Asked::Resource, ["-32601", "-32601", "-32601"]),
        (Error::tool("method_not_found", "no"), Asked::Prompt, ["-32601", "-32601", "-32601"]),
        (Error::tool("invalid_params", "no"), Asked::Resource, ["-32602", "-32602", "-32602"]),
        (Error::tool("busy", "no"), Asked::Resource, ["-32603", "-32603", "-32603"]),
        (Error::not_found("no"), Asked::Resource, ["-32002", "-32002", "-32002"]),
        (Error::not_found("no"), Asked::Prompt, ["-32602", "-32602", "-32602"]),
        (Error::Denied { uri: "doc://x".into() }, Asked::Other, ["-32602", "-32602", "-32602"]),
        (Error::Unauthorised { scopes: vec!["s".into()] }, Asked::Tool, ["-32600", "-32600", "-32600"]),
        (Error::Rpc(RpcError::new(ErrorCode(-7), "own")), Asked::Tool, ["-7", "-7", "-7"]),
        (Error::Timeout, Asked::Tool, ["-32603", "-32603", "-32603"]),
        (Error::Cancelled, Asked::Tool, ["-32603", "-32603", "-32603"]),
        (Error::MissingCapability("elicitation".into()), Asked::Tool, ["-32021", "-32021", "-32021"]),
        (Error::internal("secret"), Asked::Tool, ["-32603", "-32603", "-32603"]),
    ];
    for (error, asked, expected) in rows {
        assert_eq!(told(&error, asked), expected, "{error:?} {asked:?}");
    }
}

#[test]
fn an_unknown_resource_has_the_code_of_its_revision() {
    let error = Error::no_resource("doc://x");
    let Answer::Rpc(modern) = rules()[0].answer(&error, Asked::Other) else { panic!("an error") };
    assert_eq!(modern.message, "Unknown resource: doc://x");
    let mut legacy = modern.clone();
    lower_error(&mut legacy, Revision::LATEST_LEGACY);
    assert_eq!(legacy.code, ErrorCode::RESOURCE_NOT_FOUND);
    assert_eq!(modern.code, ErrorCode::INVALID_PARAMS);
    for answer in [modern, legacy] {
        assert!(matches!(received(Answer::Rpc(answer)), Error::Unknown { name, .. } if name == "doc://x"));
    }
}

#[test]
fn our_own_failures_are_told_only_when_asked_for() {
    let error = Error::internal("the password is 1234");
    let text = |rules: ErrorRules| match rules.answer(&error, Asked::Tool) {
        Answer::Rpc(error) => error.message,
        Answer::Result(_) => panic!("an error"),
    };
    for rules in rules() {
        assert_eq!(text(rules), "Internal error");
        assert_eq!(text(rules.with_details(Details::Shown)), "internal error: the password is 1234");
    }
}

fn received(answer: Answer) -> Error {
    let repair = |message: &str| Some(Repair::new(Operation::CallTool("t".into()), message, json!({"a": 1})));
    match answer {
        Answer::Result(result) => Error::from_result(&result, repair).unwrap(),
        Answer::Rpc(error) => Error::from_rpc(error, repair),
    }
}

#[test]
fn arguments_that_do_not_fit_come_back_with_a_repair_however_they_were_told() {
    let issues = vec![Issue::at("a", "got \"x\"").expecting("an integer")];
    let sent = Error::InvalidParams(InvalidParams::from_issues(issues.clone()));
    for rules in rules() {
        let error = received(rules.answer(&sent, Asked::Tool));
        assert!(error.is_retryable());
        let repair = error.repair().unwrap();
        assert_eq!(repair.issues, issues);
        assert_eq!(
            repair.prompt(),
            "\nOperation: tools/call:t\n\
             Error: Invalid arguments: `a` must be an integer; got \"x\"\n\
             Redo the operation now with valid parameters.\n\
             Use only valid schema fields and ensure required fields and types/enums are valid.\n\
             Example params: {\"a\":1}"
        );
    }
}

#[test]
fn a_services_own_error_comes_back_with_its_name_and_data() {
    let sent = ToolError::new("not_found", "No such city").with_data(json!({"city": "Oslo"}));
    for rules in rules() {
        let Error::Tool(error) = received(rules.answer(&Error::Tool(sent.clone()), Asked::Tool)) else {
            panic!("the service's own")
        };
        assert_eq!(
            (error.code, error.message, error.data),
            (sent.code.clone(), sent.message.clone(), sent.data.clone())
        );
    }
}

#[test]
fn d6_a_received_error_has_the_code_it_was_told_with() {
    for asked in [Asked::Resource, Asked::Prompt, Asked::Other] {
        for sent in [
            Error::tool("method_not_found", "no"),
            Error::not_found("no"),
            Error::tool("busy", "no"),
            Error::no_resource("doc://x"),
            Error::unknown(ItemKind::Prompt, "x"),
            Error::MethodNotFound { method: "m".into() },
            Error::internal("secret"),
        ] {
            for rules in rules() {
                for revision in [Revision::LATEST, Revision::LATEST_LEGACY] {
                    let Answer::Rpc(mut told) = rules.answer(&sent, asked) else { panic!("an error") };
                    lower_error(&mut told, revision);
                    let wire = told.code;
                    let error = received(Answer::Rpc(told));
                    assert_eq!(error.code(), wire, "{sent:?} {asked:?} {rules:?} {revision}");
                    let named = |error: &Error| matches!(error, Error::Tool(_)).then(|| error.to_string());
                    assert_eq!(named(&error), named(&sent), "{error:?}");
                }
            }
        }
    }
}

#[test]
fn v6_developers_and_models_are_told_different_things() {
    let errors = [
        (Error::Unmapped { method: "reindex".into() }, "Method not found: reindex"),
        (
            Error::MissingCapability("elicitation".into()),
            "This needs the capability elicitation, which the client does not have.",
        ),
        (Error::internal("the password is 1234"), "Internal error"),
    ];
    for (error, public) in errors {
        for rules in rules() {
            let Answer::Rpc(told) = rules.answer(&error, Asked::Other) else { panic!("an error") };
            assert_eq!(told.message, public);
            assert!(!told.message.contains('`'), "code is for developers: {}", told.message);
        }
    }
}

#[test]
fn what_others_send_is_read_too() {
    let failed = CallToolResult::error("boom");
    let none = |_: &str| None;
    assert!(matches!(Error::from_result(&failed, none), Some(Error::Tool(own)) if own.message == "boom"));
    assert!(Error::from_result(&CallToolResult::new([Content::text("fine")]), none).is_none());
    let error = Error::from_rpc(RpcError::invalid_params("no"), none);
    assert!(error.is_retryable() && error.repair().is_none());
    let other = Error::from_rpc(RpcError::internal("no"), none);
    assert!(matches!(&other, Error::Rpc(_)) && !other.is_retryable());
    assert!(!Error::Transport("reset".into()).is_retryable());
}
