//! Files of recordings: writes kept frames, and reads a file without servers.

use std::collections::HashMap;

use switchboard_protocol::Revision;
use switchboard_recording::{FrameDirection as RecordedDirection, RecordedFrame, Recording, RecordingError};

use super::TrafficLog;
use super::frame_summary::FrameSummary;
use super::kept_frames::KeptFrame;
use super::payload_mask::PayloadMask;
use crate::contract::{self, Frame, FrameDirection, FrameKind};

/// Returns the text of a recording of these frames, masked. `revisions` are those of the servers now, for servers whose frames
/// do not tell.
pub(super) fn write_recording(
    frames: Vec<KeptFrame>,
    revisions: &[(String, Revision)],
    mask: &PayloadMask,
) -> String {
    let began = frames.iter().map(|kept| kept.frame.at_ms).min().unwrap_or_default();
    let recorded = frames.into_iter().filter(|kept| kept.is_on_wire).map(|kept| {
        let direction = match kept.frame.direction {
            FrameDirection::Out => RecordedDirection::ToServer,
            FrameDirection::In => RecordedDirection::ToClient,
        };
        let at_ms = kept.frame.at_ms.saturating_sub(began);
        RecordedFrame::new(kept.frame.server, direction, at_ms, mask.full(&kept.payload))
    });
    let mut recording = Recording::new(recorded.collect());
    recording.detect_revisions();
    for server in recording.servers.iter_mut().filter(|server| server.revision.is_none()) {
        let known = revisions.iter().find(|(name, _)| **name == *server.name);
        server.revision = known.map(|(_, revision)| *revision);
    }
    recording.write()
}

/// Reads the file of a recording. Secrets in it are masked with those that the log knows.
///
/// # Errors
/// When it is not a recording.
pub(crate) fn open_recording(
    log: &TrafficLog,
    name: &str,
    file: &[u8],
) -> Result<contract::Recording, RecordingError> {
    let recording = Recording::parse_file(name, file)?;
    let mut open = HashMap::new();
    let frames = recording.frames.iter().zip(1..).map(|(recorded, number)| {
        let payload = log.mask(&recorded.text);
        let mut frame = read_frame(recorded, number, payload.len() as u64);
        frame.target = frame.target.take().map(|target| log.mask(&target));
        join_request(&mut open, &mut frame);
        contract::RecordedFrame { frame, payload }
    });
    Ok(contract::Recording { name: name.to_owned(), frames: frames.collect() })
}

fn read_frame(recorded: &RecordedFrame, number: u64, bytes: u64) -> Frame {
    let summary = FrameSummary::parse(&recorded.text);
    Frame {
        frame: number,
        at_ms: recorded.at_ms,
        server: recorded.server.to_string(),
        direction: match recorded.direction {
            RecordedDirection::ToServer => FrameDirection::Out,
            RecordedDirection::ToClient => FrameDirection::In,
        },
        kind: summary.kind,
        method: Some(summary.method).filter(|method| !method.is_empty()),
        target: summary.target,
        id: summary.id,
        bytes,
        call: None,
        request_frame: None,
        ms: None,
        status: summary.status,
    }
}

/// The open requests of a recording: by server, direction of the request, and id.
type OpenRequests = HashMap<(String, bool, String), Frame>;

/// Joins a response with its request.
fn join_request(open: &mut OpenRequests, frame: &mut Frame) {
    let Some(id) = frame.id.clone() else { return };
    let is_out = frame.direction == FrameDirection::Out;
    match frame.kind {
        FrameKind::Request => _ = open.insert((frame.server.clone(), is_out, id), frame.clone()),
        FrameKind::Response => {
            let Some(request) = open.remove(&(frame.server.clone(), !is_out, id)) else { return };
            frame.request_frame = Some(request.frame);
            frame.method = request.method;
            frame.target = request.target;
            #[expect(clippy::cast_precision_loss, reason = "milliseconds of a request")]
            let since = frame.at_ms.saturating_sub(request.at_ms) as f64;
            frame.ms = Some(since);
        }
        FrameKind::Notification | FrameKind::Invalid => {}
    }
}
