//! Framing, F031 to F043: what bytes become, whatever way they are cut.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use proptest::prelude::*;
use switchboard_session::link::{Frame, LinkError};
use switchboard_testkit::trial_leaving_tasks;
use switchboard_transport::stdio::LineInlet;
use tokio::io::{AsyncRead, ReadBuf};

use crate::links::next_frames;

switchboard_testkit::trials![trial_leaving_tasks:
    any_cut_gives_the_same_lines,
    marks_returns_and_blanks_are_dropped,
    a_last_line_without_newline_counts_if_it_looks_whole,
    a_line_too_long_costs_its_own_call_only,
    many_small_lines_beyond_the_limit_are_fine,
    an_endless_line_ends_the_stream,
    one_hundred_mebibytes_stay_within_the_limit,
];

/// Gives its pieces one read at a time, waiting before each.
struct Pieces(VecDeque<Vec<u8>>, bool);

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.1 = !self.1;
        if self.1 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(mut piece) = self.0.pop_front() {
            let rest = piece.split_off(piece.len().min(buf.remaining()));
            buf.put_slice(&piece);
            if !rest.is_empty() {
                self.0.push_front(rest);
            }
        }
        Poll::Ready(Ok(()))
    }
}

fn pieces(bytes: &[u8], cuts: &[usize]) -> Pieces {
    let mut rest = bytes;
    let mut all = VecDeque::new();
    for &cut in cuts.iter().cycle().take(if cuts.is_empty() { 0 } else { bytes.len() }) {
        let (piece, after) = rest.split_at(cut.min(rest.len()));
        rest = after;
        if piece.is_empty() {
            break;
        }
        all.push_back(piece.to_vec());
    }
    if !rest.is_empty() {
        all.push_back(rest.to_vec());
    }
    Pieces(all, false)
}

/// Every frame, as text: lost ones with their id.
async fn frames(source: Pieces, limit: usize) -> (Vec<String>, LinkError) {
    let mut inlet = LineInlet::new(source).with_limit(limit);
    let mut all = Vec::new();
    loop {
        let (frames, end) = next_frames(&mut inlet).await;
        all.extend(frames.into_iter().map(|frame| match frame {
            Frame::Message(line) => String::from_utf8_lossy(&line).into_owned(),
            Frame::Lost { recovered, error: LinkError::TooLarge { limit } } => {
                let id = recovered.id.filter(|_| !recovered.has_method);
                format!("lost {id:?} {limit}")
            }
            Frame::Lost { .. } => panic!("lost for another reason"),
        }));
        if let Err(end) = end {
            return (all, end);
        }
    }
}

async fn lines(bytes: &[u8]) -> Vec<String> {
    frames(pieces(bytes, &[]), 1000).await.0
}

/// F034, F035, F043.
async fn any_cut_gives_the_same_lines() {
    let words = proptest::collection::vec("[a-zé\u{1f600}\"{}\\[\\] \\\\]{0,40}", 0..20);
    let ends = proptest::collection::vec(prop_oneof!["\n", "\r\n", "\n\n", "\n  \n"], 20);
    let cuts = proptest::collection::vec(1usize..30, 1..10);
    std::thread::spawn(move || {
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) };
        proptest::test_runner::TestRunner::new(config)
            .run(&(words, ends, cuts), |(words, ends, cuts)| {
                let text: String =
                    words.iter().zip(&ends).map(|(word, end)| format!("{word}{end}")).collect();
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let whole = runtime.block_on(frames(pieces(text.as_bytes(), &[]), 30));
                let cut = runtime.block_on(frames(pieces(text.as_bytes(), &cuts), 30));
                prop_assert_eq!(whole.0, cut.0);
                Ok(())
            })
            .unwrap();
    })
    .join()
    .unwrap();
}

/// F031, F032, F033.
async fn marks_returns_and_blanks_are_dropped() {
    let bytes = b"\xef\xbb\xbf{\"a\":1}\r\n\n   \r\n\xef\xbb\xbf{\"b\":2}\n\r\n{\"c\":3}\r\r\n\xef\xbb\xbf\n";
    assert_eq!(lines(bytes).await, [r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#]);
}

/// F038.
async fn a_last_line_without_newline_counts_if_it_looks_whole() {
    assert_eq!(lines(b"{\"a\":1}\n{\"b\":2}").await, [r#"{"a":1}"#, r#"{"b":2}"#]);
    assert_eq!(lines(b"{\"a\":1}\n{\"b\":").await, [r#"{"a":1}"#]);
    assert_eq!(lines(b"no newline").await, [""; 0]);
}

/// F039 in small.
async fn a_line_too_long_costs_its_own_call_only() {
    let long = "x".repeat(300);
    let text = format!(
        "{{\"id\":1}}\n{{\"result\":\"{long}\",\"id\":2}}\n{{\"id\":3,\"method\":\"{long}\"}}\n{{\"id\":4}}\n[{long}"
    );
    let expected =
        [r#"{"id":1}"#, "lost Some(Number(2)) 100", "lost None 100", r#"{"id":4}"#, "lost None 100"]
            .map(String::from);
    for cuts in [&[][..], &[1], &[7], &[99, 3]] {
        let (found, end) = frames(pieces(text.as_bytes(), cuts), 100).await;
        assert_eq!(found, expected, "{cuts:?}");
        assert!(matches!(end, LinkError::Lost { .. }));
    }
}

/// F041.
async fn many_small_lines_beyond_the_limit_are_fine() {
    let text = "{\"id\":1}\n".repeat(10_000);
    assert_eq!(frames(pieces(text.as_bytes(), &[]), 100).await.0.len(), 10_000);
}

/// F040.
async fn an_endless_line_ends_the_stream() {
    let text = vec![b'x'; 1_000_000];
    let (found, end) = frames(pieces(&text, &[50]), 1000).await;
    assert_eq!(found, [""; 0]);
    assert!(matches!(&end, LinkError::Lost { reason, .. } if reason.contains("newline")), "{end}");
}

/// F039 in full, in a process of its own, whose peak is then its own.
async fn one_hundred_mebibytes_stay_within_the_limit() {
    let said = crate::part::said("long-line", &[]).await;
    let grown: u64 = said.trim().parse().unwrap_or_else(|_| panic!("{said}"));
    assert!(grown <= (16 + 8) * 1024, "grew by {grown} KiB");
}
