//! Traffic: frames, their payloads, recordings.

use serde::{Deserialize, Serialize};

use crate::contract::{JsonText, UnixMs};

/// A message of the traffic, without its payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    /// Ascending, without gaps among kept frames.
    pub frame: u64,
    pub at_ms: UnixMs,
    pub server: String,
    /// `out`: to the server. `in`: from the server.
    pub direction: FrameDirection,
    pub kind: FrameKind,
    /// Of a response: the method of its request.
    pub method: Option<String>,
    /// The tool, prompt or URI, at most 120 characters.
    pub target: Option<String>,
    /// The JSON-RPC id as JSON text.
    pub id: Option<JsonText>,
    pub bytes: u64,
    /// The host's call that the frame belongs to; questions and retries share the number of their call.
    pub call: Option<u64>,
    /// Of a response: the frame of its request.
    pub request_frame: Option<u64>,
    /// Of a response: the time since its request.
    pub ms: Option<f64>,
    pub status: Option<FrameStatus>,
}

/// The direction of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FrameDirection {
    Out,
    In,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FrameKind {
    Request,
    Response,
    Notification,
    Invalid,
}

/// Of a response. `toolError`: a result with `isError`. `inputRequired`: a question inside the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FrameStatus {
    Ok,
    Error,
    ToolError,
    InputRequired,
    Cancelled,
}

/// What the traffic log keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrafficTotals {
    pub frames: u64,
    pub bytes: u64,
    /// Number of the oldest frame that is kept.
    pub first_frame: u64,
    pub recording: bool,
}

/// `GET /api/traffic`: frames in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrafficPage {
    pub frames: Vec<Frame>,
    pub totals: TrafficTotals,
    /// More frames follow the last one.
    pub has_more: bool,
}

/// `GET /api/traffic/{frame}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FramePayload {
    pub frame: u64,
    /// Secrets masked.
    pub payload: String,
    pub truncated: bool,
    pub bytes: u64,
}

/// `POST /api/recordings`: a recording that was opened, without servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recording {
    pub name: String,
    pub frames: Vec<RecordedFrame>,
}

/// A frame of a recording, with its payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedFrame {
    pub frame: Frame,
    pub payload: String,
}
