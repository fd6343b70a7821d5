//! The contract with the page: the bodies of requests, responses and events.
//!
//! `page/src/api/types.ts` is generated from the source text of this module, with its comments and in its order; a test
//! compares it. A member of type `Option` is `null` if it is missing. A member without a comment is what its name says.
//! JSON of servers travels as text in members that end with `Json`; times are milliseconds since the Unix epoch in members
//! that end with `Ms` after a point in time.

mod add;
mod calls;
mod catalog;
mod console;
mod error;
mod event;
mod gateway;
mod logins;
mod policy;
mod questions;
mod scalars;
mod servers;
mod traffic;

pub use add::{AddPlan, AddRequest};
pub use calls::{
    CallLog, CallOutcome, CallRequest, CallResult, CallSnapshot, CallStarted, CallState, CompleteAnswer,
    CompleteRequest, CompletionReference, Progress,
};
pub use catalog::{
    Catalog, CatalogItemKind, CheckOutcome, Drift, Hidden, Permission, PromptArgument, PromptRow,
    ResourceRow, ServerItem, TaskSupport, TemplateRow, ToolDetail, ToolHints, ToolRow, WhyAnswer, WhyCheck,
    WhyVerdict,
};
pub use console::{ConsoleInfo, ConsoleLimits, ConsoleMode, DemoServer, FirstRun, ImportSource, Snapshot};
pub use error::ApiError;
pub use event::{ConsoleEvent, QuestionEnd};
pub use gateway::{
    AuditPage, AuditRow, GatewayLimit, GatewaySnapshot, GatewayView, ParkedQuestion, WaitingForLogin,
    WithheldName,
};
pub use logins::{ForgetLogin, LoginAttempt, LoginRequest, LoginRow, LoginState, LoginStep, Logins};
pub use policy::{
    DefaultEffect, Denial, DenialOutcome, PolicyDecision, PolicyRule, PolicySnapshot, PolicyTest,
    PolicyVerdict,
};
pub use questions::{Answer, Question, QuestionBody, ResourceSubscription, Root, TaskSnapshot, TaskStatus};
pub use scalars::{JsonText, UnixMs};
pub use servers::{
    DoctorOutcome, DoctorRun, DoctorStep, Identity, LatencySample, LoginRequirement, RequirementKind,
    ServerCounts, ServerMetrics, ServerSnapshot, ServerState, ServerTransport, SessionEra, SessionSummary,
    StderrLine, StderrTail, TriedUrl,
};
pub use traffic::{
    Frame, FrameDirection, FrameKind, FramePayload, FrameStatus, RecordedFrame, Recording, TrafficPage,
    TrafficTotals,
};
