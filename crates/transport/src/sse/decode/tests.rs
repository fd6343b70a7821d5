//! The decoder against tables, against a simple second implementation, and against itself cut otherwise.

use bytes::BytesMut;
use proptest::prelude::*;

use super::*;
use crate::sse::{EventFields, encode_comment, encode_event};

/// Name, data and id of each event, with the id and the retry at the end.
type Seen = (Vec<(String, Vec<u8>, Option<String>)>, Option<String>, Option<Duration>);

fn items(bytes: &[u8], chunk: usize, limit: usize) -> (Decoder, Vec<SseItem>) {
    let mut decoder = Decoder::new().with_limit(limit);
    let mut items = Vec::new();
    for chunk in bytes.chunks(chunk.max(1)) {
        decoder.push(Bytes::copy_from_slice(chunk));
        items.extend(std::iter::from_fn(|| decoder.next_item()));
    }
    (decoder, items)
}

fn seen(bytes: &[u8], chunk: usize) -> Seen {
    let (decoder, items) = items(bytes, chunk, DEFAULT_EVENT_LIMIT);
    let events = items.into_iter().map(|item| match item {
        SseItem::Event(event) => {
            (event.name.into_owned(), event.data.to_vec(), event.id.as_deref().map(Into::into))
        }
        SseItem::Lost(lost) => panic!("{lost:?}"),
    });
    (events.collect(), decoder.last_id().map(Into::into), decoder.retry())
}

/// The standard's algorithm in the plainest words: the whole text at once, line by line.
fn reference(bytes: &[u8]) -> Seen {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'\r', Some(b'\n')) => {
                at += 1;
                lines.push(Vec::new());
            }
            (b'\r' | b'\n', _) => lines.push(Vec::new()),
            (byte, _) => lines.last_mut().unwrap().push(byte),
        }
        at += 1;
    }
    lines.pop();
    let (mut events, mut data, mut name, mut id, mut last, mut retry) =
        (Vec::new(), Vec::new(), String::new(), String::new(), String::new(), None);
    for line in lines {
        if line.is_empty() {
            last.clone_from(&id);
            if data.pop().is_some() {
                let name = if name.is_empty() { "message".to_owned() } else { name.clone() };
                events.push((name, data.clone(), Some(last.clone()).filter(|id| !id.is_empty())));
            }
            data.clear();
            name.clear();
            continue;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                data.extend_from_slice(value);
                data.push(b'\n');
            }
            b"event" => name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => id = String::from_utf8_lossy(value).into_owned(),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let number = String::from_utf8_lossy(value).parse::<u128>().unwrap_or(u128::MAX);
                retry = Some(Duration::from_millis(u64::try_from(number.clamp(250, 30_000)).unwrap()));
            }
            _ => {}
        }
    }
    (events, Some(last).filter(|id| !id.is_empty()), retry)
}

#[test]
fn streams_as_the_standard_reads_them() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("data: a\n\n", &[("message", "a")]),
        ("data:a\n\n", &[("message", "a")]),
        ("data:  a \n\n", &[("message", " a ")]),
        ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", &[("message", "a"), ("message", "b"), ("message", "c")]),
        ("data: a\rdata: b\r\ndata: c\n\r", &[("message", "a\nb\nc")]),
        ("data\n\ndata\ndata\n\ndata:", &[("message", ""), ("message", "\n")]),
        ("\u{feff}data: a\n\n\u{feff}data: b\n\n", &[("message", "a")]),
        (":\n: comment\ndata: a\n:x\n\n", &[("message", "a")]),
        (":\n\u{feff}data: a\n\n", &[]),
        ("event: endpoint\ndata: /m?id=1\n\ndata: x\n\n", &[("endpoint", "/m?id=1"), ("message", "x")]),
        ("event: ping\n\ndata: x\n\n", &[("message", "x")]),
        ("no colon at all\nfoo: bar\ndata: x\nDATA: y\n data: z\n\n", &[("message", "x")]),
        ("data: not ended\n", &[]),
        ("\n\n\n\r\r\n", &[]),
        ("data: {\"a\":1}\ndata: \ndata: ü\n\n", &[("message", "{\"a\":1}\n\nü")]),
    ];
    for (text, expected) in cases {
        for chunk in 1..=text.len() {
            let events = seen(text.as_bytes(), chunk).0;
            let events: Vec<(&str, &str)> = events
                .iter()
                .map(|(name, data, _)| (name.as_str(), std::str::from_utf8(data).unwrap()))
                .collect();
            assert_eq!(events, *expected, "{text:?} in chunks of {chunk}");
        }
    }
}

#[test]
fn ids_stay_until_another_comes() {
    let text = b"id: 1\ndata: a\n\ndata: b\n\nid: 2\n\nid: x\0y\ndata: c\n\nid\ndata: d\n\nid: 9\ndata: cut";
    let (events, last, _) = seen(text, 100);
    let ids: Vec<Option<&str>> = events.iter().map(|(_, _, id)| id.as_deref()).collect();
    assert_eq!((ids, last), (vec![Some("1"), Some("1"), Some("2"), None], None));
    assert_eq!(seen(b"id: 5\n\n", 1).1.as_deref(), Some("5"));
    let long = format!("id: 1\nid: {}\n\n", "x".repeat(MAX_ID + 1));
    assert_eq!(seen(long.as_bytes(), 1000).1.as_deref(), Some("1"));
    let resumed = Decoder::new().with_last_id(Some("7".into()));
    assert_eq!(resumed.last_id(), Some("7"));
}

#[test]
fn retry_is_clamped_and_nonsense_ignored() {
    let cases = [
        ("0", Some(250)),
        ("1000", Some(1000)),
        ("30001", Some(30_000)),
        ("99999999999", Some(30_000)),
        ("99999999999999999999999999999999999999", Some(30_000)),
        ("-1", None),
        ("abc", None),
        ("1.5", None),
        ("", None),
        ("１", None),
    ];
    for (value, expected) in cases {
        let text = format!("retry: {value}\n");
        assert_eq!(seen(text.as_bytes(), 3).2, expected.map(Duration::from_millis), "{value}");
        let kept = format!("retry: 500\nretry: {value}\n");
        assert_eq!(
            seen(kept.as_bytes(), 3).2,
            Some(Duration::from_millis(expected.unwrap_or(500))),
            "{value}"
        );
    }
}

#[test]
fn a_large_event_costs_itself_and_tells_its_id() {
    let filler = "x".repeat(50_000);
    let late = "an-id-that-comes-late-and-is-long";
    let large = format!("id: 3\ndata: {{\"result\":\"{filler}\",\ndata: \"id\":42}}\nid: {late}\n\n");
    let commented = format!(":{filler}\nevent: {}\ndata: ok\n\n", "e".repeat(50));
    let text = format!("data: first\n\n{large}data: {{\"id\":7}}\n\n{commented}");
    for chunk in [1, 7, 100, 4096, text.len()] {
        let (decoder, items) = items(text.as_bytes(), chunk, 10_000);
        let [SseItem::Event(first), SseItem::Lost(lost), SseItem::Event(third), SseItem::Event(fourth)] =
            &items[..]
        else {
            panic!("{items:?}")
        };
        assert_eq!(
            (&first.data[..], &third.data[..], &fourth.data[..]),
            (&b"first"[..], &br#"{"id":7}"#[..], &b"ok"[..])
        );
        assert_eq!((&lost.recovered.id, lost.limit), (&Some(42.into()), 10_000), "in chunks of {chunk}");
        assert_eq!(decoder.last_id(), Some(late));
        assert!(decoder.line.capacity() <= 64 * 1024);
    }
}

#[test]
fn an_id_behind_data_that_just_fits_does_no_harm() {
    let text = format!("data: {}\nid: {}\n\n", "x".repeat(100), "i".repeat(300));
    let (decoder, items) = items(text.as_bytes(), 9, 100);
    assert!(matches!(&items[..], [SseItem::Event(_)]), "{items:?}");
    assert_eq!(decoder.last_id().map(str::len), Some(300));
}

#[test]
fn many_small_lines_are_also_too_large() {
    let text = format!("data: {{\"id\":\"a\",\n{}data: 0]}}\n\n", "data: 1,2,3,4,5,\n".repeat(300));
    for chunk in [1, 13, text.len()] {
        let (_, items) = items(text.as_bytes(), chunk, 1000);
        assert!(
            matches!(&items[..], [SseItem::Lost(lost)] if lost.recovered.id == Some("a".into())),
            "{items:?}"
        );
    }
}

#[test]
fn an_endless_event_is_reported_once_and_passed_over() {
    let start = "data: {\"id\":1,\"result\":\"".to_owned();
    let text = start + &"y".repeat(40_000) + "\"}\n\ndata: next\n\n";
    for chunk in [50, 500, text.len()] {
        let (_, items) = items(text.as_bytes(), chunk, 100);
        let [SseItem::Lost(lost), SseItem::Event(next)] = &items[..] else { panic!("{items:?}") };
        assert_eq!((&lost.recovered.id, &next.data[..]), (&Some(1.into()), &b"next"[..]));
    }
}

#[test]
fn a_million_junk_events_are_a_loop() {
    let text = "event: junk\n\n:\n\n".repeat(500_000) + "data: x\n\n";
    let (_, items) = items(text.as_bytes(), text.len(), 1000);
    assert_eq!(items.len(), 1);
}

#[test]
fn one_line_of_data_is_not_copied() {
    let chunk = Bytes::from_static(b"data: {\"id\":1}\n\n");
    let mut decoder = Decoder::new();
    decoder.push(chunk.clone());
    let Some(SseItem::Event(event)) = decoder.next_item() else { panic!() };
    assert_eq!(event.data.as_ptr(), chunk[6..].as_ptr());
}

#[test]
fn a_small_event_does_not_pin_a_large_chunk() {
    let chunk = Bytes::from(["data: x\n\n".as_bytes(), &[b'\n'; 200_000]].concat());
    let mut decoder = Decoder::new();
    decoder.push(chunk.clone());
    let Some(SseItem::Event(event)) = decoder.next_item() else { panic!() };
    assert_ne!(event.data.as_ptr(), chunk[6..].as_ptr());
}

#[test]
fn names_and_ids_cannot_smuggle_fields() {
    let mut into = BytesMut::new();
    for bad in ["a\ndata: x", "a\r", "\0"] {
        assert!(encode_event(&EventFields { name: Some(bad), ..EventFields::default() }, &mut into).is_err());
        assert!(encode_event(&EventFields { id: Some(bad), ..EventFields::default() }, &mut into).is_err());
    }
    assert!(into.is_empty());
    encode_comment("keep\ndata: alive", &mut into);
    assert_eq!(&into[..], b": keep\n: data: alive\n\n");
}

/// Bytes that hit the grammar often.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 17] = [
        b"data",
        b"data: ",
        b"event: e",
        b"id:",
        b"retry: 7",
        b":",
        b" ",
        b"\n",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\xef\xbb\xbf",
        "ü".as_bytes(),
        b"\xff",
        b"\0",
        b"5",
    ];
    let piece = proptest::sample::select(&PIECES[..]);
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn it_reads_what_the_reference_reads(bytes in stream(), chunk in 1usize..20) {
        prop_assert_eq!(seen(&bytes, chunk), reference(&bytes));
    }

    #[test]
    fn any_bytes_in_any_chunks(bytes in proptest::collection::vec(0u8.., 0..400), chunk in 1usize..50) {
        prop_assert_eq!(seen(&bytes, chunk), reference(&bytes));
    }

    #[test]
    fn limits_do_not_depend_on_chunks(bytes in stream(), chunk in 1usize..20, limit in 0usize..30) {
        // Where the text has a five, the line is long.
        let long = "5".repeat(2 * MAX_ID);
        let bytes: Vec<&[u8]> = bytes.split(|byte| *byte == b'5').collect();
        let bytes = [b"data: \n\n", &bytes.join(long.as_bytes())[..]].concat();
        let chunk = chunk * 499;
        prop_assert_eq!(items(&bytes, chunk, limit).1, items(&bytes, bytes.len(), limit).1);
    }

    #[test]
    fn what_is_printed_reads_back(
        events in proptest::collection::vec(
            ("[a-z ]{0,6}", proptest::option::of("[ -~ü]{1,6}"), proptest::option::of(250u64..30_000), "[ -~\nü]{0,30}"),
            0..5,
        ),
        chunk in 1usize..50,
    ) {
        let mut into = BytesMut::new();
        let (mut expected, mut last, mut last_retry) = (Vec::new(), None, None);
        for (name, id, retry, data) in &events {
            let retry = retry.map(Duration::from_millis);
            let event = EventFields { name: Some(name), id: id.as_deref(), retry, data: Some(data.as_bytes()) };
            encode_event(&event, &mut into).unwrap();
            encode_comment("", &mut into);
            last = id.clone().or(last);
            last_retry = retry.or(last_retry);
            let name = if name.is_empty() { "message".to_owned() } else { name.clone() };
            expected.push((name, data.clone().into_bytes(), last.clone()));
        }
        prop_assert_eq!(seen(&into, chunk), (expected, last, last_retry));
    }
}
