//! Encodes every error under every policy and decodes it again.

use serde_json::json;
use switchboard_protocol::{CallToolResult, Content, Revision, lower_error};

use super::*;
use crate::repair::Operation;

fn rules() -> [ErrorRules; 3] {
    let spec = ErrorRules::new(ErrorPolicy::Specification);
    [spec, spec.with_arguments(ArgumentErrors::Code), ErrorRules::new(ErrorPolicy::Codes)]
}

/// Returns the code under each set of rules, or `failed` for a failed result.
fn response_codes(error: &Error, request: RequestKind) -> [String; 3] {
    rules().map(|rules| match rules.respond(error, request) {
        ErrorResponse::Result(result) => {
            assert!(result.is_error);
            "failed".to_owned()
        }
        ErrorResponse::Rpc(error) => error.code.to_string(),
    })
}

#[test]
fn every_error_has_the_documented_code() {
    let unknown = |kind| Error::unknown(kind, "x");
    let rows = [
        (Error::invalid_params("no"), RequestKind::Tool, ["failed", "-32602", "-32602"]),
        (Error::invalid_params("no"), RequestKind::Other, ["-32602", "-32602", "-32602"]),
        (unknown(ItemKind::Tool), RequestKind::Tool, ["-32602", "-32602", "-32601"]),
        (unknown(ItemKind::Prompt), RequestKind::Other, ["-32602", "-32602", "-32601"]),
        (unknown(ItemKind::Resource), RequestKind::Other, ["-32602", "-32602", "-32601"]),
        (Error::MethodNotFound { method: "m".into() }, RequestKind::Other, ["-32601", "-32601", "-32601"]),
        (Error::Unmapped { method: "m".into() }, RequestKind::Other, ["-32601", "-32601", "-32601"]),
        (Error::tool("not_found", "no"), RequestKind::Tool, ["failed", "failed", "-32603"]),
        (Error::tool("not_found", "no"), RequestKind::Other, ["-32603", "-32603", "-32603"]),
        (Error::tool("invalid_params", "no"), RequestKind::Tool, ["failed", "-32602", "-32602"]),
        (Error::tool("invalid_params", "no"), RequestKind::Other, ["-32602", "-32602", "-32602"]),
        (Error::tool("method_not_found", "no"), RequestKind::Tool, ["failed", "failed", "-32601"]),
        (Error::tool("method_not_found", "no"), RequestKind::Resource, ["-32601", "-32601", "-32601"]),
        (Error::tool("method_not_found", "no"), RequestKind::Prompt, ["-32601", "-32601", "-32601"]),
        (Error::tool("invalid_params", "no"), RequestKind::Resource, ["-32602", "-32602", "-32602"]),
        (Error::tool("busy", "no"), RequestKind::Resource, ["-32603", "-32603", "-32603"]),
        (Error::not_found("no"), RequestKind::Resource, ["-32002", "-32002", "-32002"]),
        (Error::not_found("no"), RequestKind::Prompt, ["-32602", "-32602", "-32602"]),
        (Error::Denied { uri: "doc://x".into() }, RequestKind::Other, ["-32602", "-32602", "-32602"]),
        (Error::Unauthorized { scopes: vec!["s".into()] }, RequestKind::Tool, ["-32600", "-32600", "-32600"]),
        (Error::Rpc(RpcError::new(ErrorCode(-7), "own")), RequestKind::Tool, ["-7", "-7", "-7"]),
        (Error::Timeout, RequestKind::Tool, ["-32603", "-32603", "-32603"]),
        (Error::Cancelled, RequestKind::Tool, ["-32603", "-32603", "-32603"]),
        (Error::MissingCapability("elicitation".into()), RequestKind::Tool, ["-32021", "-32021", "-32021"]),
        (Error::internal("secret"), RequestKind::Tool, ["-32603", "-32603", "-32603"]),
    ];
    for (error, request, expected) in rows {
        assert_eq!(response_codes(&error, request), expected, "{error:?} {request:?}");
    }
}

#[test]
fn an_unknown_resource_has_the_code_of_its_revision() {
    let error = Error::unknown_resource("doc://x");
    let ErrorResponse::Rpc(modern) = rules()[0].respond(&error, RequestKind::Other) else {
        panic!("an error")
    };
    assert_eq!(modern.message, "Unknown resource: doc://x");
    let mut legacy = modern.clone();
    lower_error(&mut legacy, Revision::LATEST_LEGACY);
    assert_eq!(legacy.code, ErrorCode::RESOURCE_NOT_FOUND);
    assert_eq!(modern.code, ErrorCode::INVALID_PARAMS);
    for response in [modern, legacy] {
        assert!(
            matches!(decode(ErrorResponse::Rpc(response)), Error::Unknown { name, .. } if name == "doc://x")
        );
    }
}

#[test]
fn internal_errors_have_details_only_when_enabled() {
    let error = Error::internal("the password is 1234");
    let text = |rules: ErrorRules| match rules.respond(&error, RequestKind::Tool) {
        ErrorResponse::Rpc(error) => error.message,
        ErrorResponse::Result(_) => panic!("an error"),
    };
    for rules in rules() {
        assert_eq!(text(rules), "Internal error");
        assert_eq!(text(rules.with_details(ErrorDetails::Shown)), "internal error: the password is 1234");
    }
}

fn decode(response: ErrorResponse) -> Error {
    let repair = |message: &str| Some(Repair::new(Operation::CallTool("t".into()), message, json!({"a": 1})));
    match response {
        ErrorResponse::Result(result) => Error::from_result(&result, repair).unwrap(),
        ErrorResponse::Rpc(error) => Error::from_rpc(error, repair),
    }
}

#[test]
fn invalid_arguments_decode_with_a_repair_under_every_policy() {
    let issues = vec![Issue::for_member("a", "got \"x\"").with_expected("an integer")];
    let sent = Error::InvalidParams(InvalidParams::from_issues(issues.clone()));
    for rules in rules() {
        let error = decode(rules.respond(&sent, RequestKind::Tool));
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
fn a_tool_error_keeps_its_name_and_data() {
    let sent = ToolError::new("not_found", "No such city").with_data(json!({"city": "Oslo"}));
    for rules in rules() {
        let Error::Tool(error) = decode(rules.respond(&Error::Tool(sent.clone()), RequestKind::Tool)) else {
            panic!("the service's own")
        };
        assert_eq!(
            (error.code, error.message, error.data),
            (sent.code.clone(), sent.message.clone(), sent.data.clone())
        );
    }
}

#[test]
fn d6_a_decoded_error_has_the_code_of_the_response() {
    for request in [RequestKind::Resource, RequestKind::Prompt, RequestKind::Other] {
        for sent in [
            Error::tool("method_not_found", "no"),
            Error::not_found("no"),
            Error::tool("busy", "no"),
            Error::unknown_resource("doc://x"),
            Error::unknown(ItemKind::Prompt, "x"),
            Error::MethodNotFound { method: "m".into() },
            Error::internal("secret"),
        ] {
            for rules in rules() {
                for revision in [Revision::LATEST, Revision::LATEST_LEGACY] {
                    let ErrorResponse::Rpc(mut response) = rules.respond(&sent, request) else {
                        panic!("an error")
                    };
                    lower_error(&mut response, revision);
                    let wire = response.code;
                    let error = decode(ErrorResponse::Rpc(response));
                    assert_eq!(error.code(), wire, "{sent:?} {request:?} {rules:?} {revision}");
                    let named = |error: &Error| matches!(error, Error::Tool(_)).then(|| error.to_string());
                    assert_eq!(named(&error), named(&sent), "{error:?}");
                }
            }
        }
    }
}

#[test]
fn v6_public_messages_differ_from_log_messages() {
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
            let ErrorResponse::Rpc(response) = rules.respond(&error, RequestKind::Other) else {
                panic!("an error")
            };
            assert_eq!(response.message, public);
            assert!(!response.message.contains('`'), "code is for developers: {}", response.message);
        }
    }
}

#[test]
fn responses_of_other_implementations_are_decoded() {
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
