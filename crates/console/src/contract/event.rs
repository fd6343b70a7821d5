//! Events of the stream.

use serde::{Deserialize, Serialize};

use crate::contract::{
    CallSnapshot, Denial, DoctorOutcome, DoctorStep, Frame, LatencySample, LoginAttempt, Question,
    ResourceSubscription, ServerMetrics, ServerSnapshot, StderrLine, TaskSnapshot, TrafficTotals,
};

/// `GET /api/events`. The `id` of each event is its sequence number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ConsoleEvent {
    /// Events are missing: fetch the snapshot again. Has the number of the last event that was lost.
    Gap {
        lost: u64,
    },
    Server {
        server: Box<ServerSnapshot>,
    },
    ServerRemoved {
        name: String,
    },
    Stderr {
        server: String,
        lines: Vec<StderrLine>,
    },
    Latency {
        server: String,
        samples: Vec<LatencySample>,
        metrics: ServerMetrics,
    },
    Catalog {
        revision: u64,
    },
    DoctorStep {
        run: u64,
        server: String,
        step: Box<DoctorStep>,
    },
    DoctorDone {
        run: u64,
        server: String,
        outcome: DoctorOutcome,
    },
    Call {
        call: Box<CallSnapshot>,
    },
    Question {
        question: Box<Question>,
    },
    QuestionClosed {
        question: u64,
        reason: QuestionEnd,
    },
    Task {
        task: Box<TaskSnapshot>,
    },
    Subscription {
        subscription: ResourceSubscription,
    },
    Unsubscribed {
        server: String,
        uri: String,
    },
    /// A batch: at most 500 frames, sent at most every 50 ms.
    Frames {
        frames: Vec<Frame>,
        totals: TrafficTotals,
    },
    TrafficCleared {
        totals: TrafficTotals,
    },
    LoginAttempt {
        attempt: Box<LoginAttempt>,
    },
    LoginsChanged,
    Denial {
        denial: Box<Denial>,
    },
    GatewayChanged,
}

/// Why a question is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QuestionEnd {
    Answered,
    Cancelled,
    Expired,
}
