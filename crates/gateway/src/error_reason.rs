//! The reasons that the gateway gives for its own errors, for programs: `data.reason`.

use switchboard_protocol::{ErrorCode, Raw, RpcError};

/// Why the gateway answers with an error. No error of a server has one of these reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorReason {
    UpstreamTimeout,
    UpstreamFailed,
    UpstreamNeedsLogin,
    UpstreamNeedsScope,
    UpstreamUnavailable,
    UpstreamBusy,
    UpstreamProtocolError,
    UpstreamError,
    UpstreamRemoved,
    TooManySessions,
    TooManyQuestions,
    NotPermitted,
    InvalidArguments,
    NotSubscribable,
    AmbiguousOwner,
    TaskElsewhere,
    QuestionExpired,
    QuestionElsewhere,
    ResultExpired,
    ViewRemoved,
    ShuttingDown,
    AuditUnavailable,
    ArgumentsNotAnObject,
    DuplicateKey,
    UnknownArgument,
}

impl ErrorReason {
    const ALL: [Self; 25] = [
        Self::UpstreamTimeout,
        Self::UpstreamFailed,
        Self::UpstreamNeedsLogin,
        Self::UpstreamNeedsScope,
        Self::UpstreamUnavailable,
        Self::UpstreamBusy,
        Self::UpstreamProtocolError,
        Self::UpstreamError,
        Self::UpstreamRemoved,
        Self::TooManySessions,
        Self::TooManyQuestions,
        Self::NotPermitted,
        Self::InvalidArguments,
        Self::NotSubscribable,
        Self::AmbiguousOwner,
        Self::TaskElsewhere,
        Self::QuestionExpired,
        Self::QuestionElsewhere,
        Self::ResultExpired,
        Self::ViewRemoved,
        Self::ShuttingDown,
        Self::AuditUnavailable,
        Self::ArgumentsNotAnObject,
        Self::DuplicateKey,
        Self::UnknownArgument,
    ];

    /// Returns the text of the reason.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::UpstreamTimeout => "upstream_timeout",
            Self::UpstreamFailed => "upstream_failed",
            Self::UpstreamNeedsLogin => "upstream_needs_login",
            Self::UpstreamNeedsScope => "upstream_needs_scope",
            Self::UpstreamUnavailable => "upstream_unavailable",
            Self::UpstreamBusy => "upstream_busy",
            Self::UpstreamProtocolError => "upstream_protocol_error",
            Self::UpstreamError => "upstream_error",
            Self::UpstreamRemoved => "upstream_removed",
            Self::TooManySessions => "too_many_sessions",
            Self::TooManyQuestions => "too_many_questions",
            Self::NotPermitted => "not_permitted",
            Self::InvalidArguments => "invalid_arguments",
            Self::NotSubscribable => "not_subscribable",
            Self::AmbiguousOwner => "ambiguous_owner",
            Self::TaskElsewhere => "task_elsewhere",
            Self::QuestionExpired => "question_expired",
            Self::QuestionElsewhere => "question_elsewhere",
            Self::ResultExpired => "result_expired",
            Self::ViewRemoved => "view_removed",
            Self::ShuttingDown => "shutting_down",
            Self::AuditUnavailable => "audit_unavailable",
            Self::ArgumentsNotAnObject => "arguments_not_an_object",
            Self::DuplicateKey => "duplicate_key",
            Self::UnknownArgument => "unknown_argument",
        }
    }
}

/// Creates an error of the gateway.
pub(crate) fn with_reason(code: ErrorCode, reason: ErrorReason, message: String) -> RpcError {
    RpcError::new(code, message).with_data(Raw::from(serde_json::json!({ "reason": reason.as_str() })))
}

/// Returns whether the data of an error has a reason that only the gateway gives. Of several members of that name, readers
/// take different ones: each counts.
pub(crate) fn has_reserved_reason(data: &Raw) -> bool {
    data.fields().filter(|(name, _)| name.as_str() == "reason").any(|(_, value)| {
        let reason: Option<String> = value.decode().ok();
        reason.is_some_and(|reason| ErrorReason::ALL.iter().any(|own| own.as_str() == reason))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_of_the_gateway_is_found_however_it_is_written() {
        for (data, is_reserved) in [
            (r#"{"reason":"upstream_unavailable"}"#, true),
            (r#"{"r\u0065ason":"shutting\u005fdown"}"#, true),
            (r#"{"reason":"mine","reason":"not_permitted"}"#, true),
            (r#"{"reason":"not_permitted","reason":"mine"}"#, true),
            (r#"{"reason":"quota"}"#, false),
            (r#"{"reason":["not_permitted"]}"#, false),
            (r#"{"why":{"reason":"not_permitted"}}"#, false),
            (r#""not_permitted""#, false),
        ] {
            assert_eq!(has_reserved_reason(&Raw::parse(data.to_owned()).unwrap()), is_reserved, "{data}");
        }
    }

    #[test]
    fn the_reasons_of_all_errors_are_reserved() {
        let texts: std::collections::BTreeSet<_> = ErrorReason::ALL.map(ErrorReason::as_str).into();
        assert_eq!(texts.len(), ErrorReason::ALL.len(), "each is listed once");
    }
}
