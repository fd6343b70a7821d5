//! The audit log: files, back-pressure, failing sinks, shutdown.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use switchboard_gateway::audit::{
    AuditError, AuditFile, AuditFileOptions, AuditLog, AuditOptions, AuditOutcome, AuditPolicy, AuditRecord,
    AuditSink, FailurePolicy, OverflowPolicy, SyncPolicy,
};
use switchboard_gateway::policy::{Policy, Subject, Target};
use switchboard_protocol::Raw;

const LONG: Duration = Duration::from_secs(60);

fn record(number: usize) -> AuditRecord {
    AuditRecord::new("tools/call").with_identifier(&number.to_string())
}

fn read_lines(text: &str) -> Vec<serde_json::Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// A sink in memory that fails, or waits for permission to write, on request.
#[derive(Clone, Default)]
struct TestSink {
    lines: Arc<Mutex<Vec<Vec<u8>>>>,
    is_failing: Arc<AtomicBool>,
    /// Each message permits one write.
    gate: Option<Arc<Mutex<mpsc::Receiver<()>>>>,
    /// Whether each write takes one line only.
    is_slow: bool,
}

impl AuditSink for TestSink {
    fn write(&mut self, lines: &[Vec<u8>]) -> io::Result<usize> {
        if let Some(gate) = &self.gate {
            // Open when the test is over.
            let _ = gate.lock().unwrap().recv();
        }
        if self.is_failing.load(Ordering::SeqCst) {
            // What a full disk says.
            return fs::write("/dev/full", b"x").map(|()| 0);
        }
        let lines = if self.is_slow { &lines[..1] } else { lines };
        self.lines.lock().unwrap().extend(lines.iter().cloned());
        Ok(lines.len())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TestSink {
    fn text(&self) -> String {
        String::from_utf8(self.lines.lock().unwrap().concat()).unwrap()
    }
}

#[tokio::test]
async fn a_file_is_private_rotated_and_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let options = AuditFileOptions::default().with_max_bytes(1_000).with_files(3);
    let file = AuditFile::open(&path, options).unwrap();
    assert!(
        matches!(AuditFile::open(&path, options), Err(AuditError::Open { .. })),
        "a second writer is refused"
    );
    let log = AuditLog::start(file, AuditOptions::default().with_sync(SyncPolicy::EveryBatch));
    for number in 0..100 {
        log.begin(record(number)).await.unwrap().end(AuditOutcome::Ok).await;
    }
    log.close(LONG).await.unwrap();
    assert_eq!(log.counts().written, 100);

    let mut names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]);
    let mut numbers = Vec::new();
    for name in names.iter().rev() {
        let path = folder.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.len() <= 1_000 && text.ends_with('\n'), "{name} has {} bytes", text.len());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        numbers.extend(
            read_lines(&text)
                .iter()
                .map(|line| line["identifier"].as_str().unwrap().parse::<usize>().unwrap()),
        );
    }
    let first = numbers[0];
    assert_eq!(numbers, (first..100).collect::<Vec<_>>(), "in order, without gaps up to the last");
    assert!(AuditFile::open(&path, options).is_ok(), "the lock ends with the log");
}

#[test]
fn a_link_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("elsewhere");
    fs::write(&target, "").unwrap();
    let link = folder.path().join("audit.jsonl");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert!(AuditFile::open(&link, AuditFileOptions::default()).is_err());
}

#[tokio::test]
async fn a_full_queue_makes_calls_wait() {
    let (permit, gate) = mpsc::channel();
    let sink = TestSink { gate: Some(Arc::new(Mutex::new(gate))), ..TestSink::default() };
    let log = AuditLog::start(sink.clone(), AuditOptions::default().with_queue(2));
    for number in 0..2 {
        log.begin(record(number)).await.unwrap().end(AuditOutcome::Ok).await;
    }
    // Both places are taken until the sink has written: the next call may not even begin.
    let waiting = tokio::spawn({
        let log = log.clone();
        async move { log.begin(record(2)).await.unwrap().end(AuditOutcome::Ok).await }
    });
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!waiting.is_finished());
    for _ in 0..3 {
        permit.send(()).unwrap();
    }
    drop(permit);
    waiting.await.unwrap();
    log.close(LONG).await.unwrap();
    assert_eq!(read_lines(&sink.text()).len(), 3);
    assert_eq!(log.counts().dropped, 0);
}

#[tokio::test]
async fn dropping_is_opt_in_and_counted() {
    let (permit, gate) = mpsc::channel();
    let sink = TestSink { gate: Some(Arc::new(Mutex::new(gate))), ..TestSink::default() };
    let options = AuditOptions::default().with_queue(2).with_overflow(OverflowPolicy::Drop);
    let log = AuditLog::start(sink.clone(), options);
    for number in 0..10 {
        log.begin(record(number)).await.unwrap().end(AuditOutcome::Ok).await;
    }
    assert_eq!(log.counts().dropped, 8);
    drop(permit);
    log.close(LONG).await.unwrap();
    assert_eq!(read_lines(&sink.text()).len(), 2);
}

#[tokio::test]
async fn cancelled_calls_do_not_get_past_the_bound_of_the_queue() {
    let (permit, gate) = mpsc::channel();
    let sink = TestSink { gate: Some(Arc::new(Mutex::new(gate))), ..TestSink::default() };
    let options = AuditOptions::default().with_queue(2).with_overflow(OverflowPolicy::Drop);
    let log = AuditLog::start(sink.clone(), options);
    for number in 0..10 {
        drop(log.begin(record(number)).await.unwrap());
    }
    assert_eq!((log.counts().queued, log.counts().dropped), (2, 8));
    drop(permit);
    log.close(LONG).await.unwrap();
    assert_eq!((read_lines(&sink.text()).len(), log.counts().lost), (2, 0));
}

#[tokio::test]
async fn calls_wait_for_the_records_of_cancelled_calls_and_none_is_lost() {
    let (permit, gate) = mpsc::channel();
    let gate = Some(Arc::new(Mutex::new(gate)));
    let sink = TestSink { gate, is_slow: true, ..TestSink::default() };
    let log = AuditLog::start(sink.clone(), AuditOptions::default().with_queue(2));
    let mut open = Vec::new();
    for number in 0..5 {
        open.push(log.begin(record(number)).await.unwrap());
    }
    drop(open);
    assert_eq!(log.counts().queued, 5, "they were open before the queue was full");
    let waiting = tokio::spawn({
        let log = log.clone();
        async move { drop(log.begin(record(5)).await.unwrap()) }
    });
    let written = async |records| {
        while log.counts().written < records {
            tokio::task::yield_now().await;
        }
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    };
    for records in 1..=3 {
        permit.send(()).unwrap();
        written(records).await;
        assert!(!waiting.is_finished(), "{} records wait for two places", 5 - records);
    }
    permit.send(()).unwrap();
    waiting.await.unwrap();
    drop(permit);
    log.close(LONG).await.unwrap();
    let counts = log.counts();
    assert_eq!((read_lines(&sink.text()).len(), counts.dropped, counts.lost), (6, 0, 0));
}

#[tokio::test]
async fn those_who_wait_for_a_place_learn_that_the_log_is_closed() {
    let (permit, gate) = mpsc::channel();
    let sink = TestSink { gate: Some(Arc::new(Mutex::new(gate))), ..TestSink::default() };
    let log = AuditLog::start(sink, AuditOptions::default().with_queue(1));
    log.begin(record(0)).await.unwrap().end(AuditOutcome::Ok).await;
    let waiting = tokio::spawn({
        let log = log.clone();
        async move { log.begin(record(1)).await.map(drop) }
    });
    tokio::task::yield_now().await;
    assert!(log.close(Duration::from_millis(1)).await.is_err(), "the sink is stuck");
    assert!(matches!(waiting.await.unwrap(), Err(AuditError::Closed)));
    drop(permit);
}

#[tokio::test(start_paused = true)]
async fn while_the_disk_is_full_calls_are_refused_and_no_record_is_lost() {
    let sink = TestSink::default();
    let log = AuditLog::start(sink.clone(), AuditOptions::default());
    let running = log.begin(record(0)).await.unwrap();
    sink.is_failing.store(true, Ordering::SeqCst);
    log.begin(record(1)).await.unwrap().end(AuditOutcome::Ok).await;
    while !log.counts().is_failing {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(matches!(log.begin(record(2)).await, Err(AuditError::Unavailable)));
    // A call that was under way ends without waiting for the disk.
    running.end(AuditOutcome::Error).await;
    sink.is_failing.store(false, Ordering::SeqCst);
    while log.counts().is_failing {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    log.begin(record(3)).await.unwrap().end(AuditOutcome::Ok).await;
    log.close(LONG).await.unwrap();
    let identifiers: Vec<String> =
        read_lines(&sink.text()).iter().map(|line| line["identifier"].as_str().unwrap().to_owned()).collect();
    assert_eq!(identifiers, ["1", "0", "3"]);
    assert_eq!((log.counts().lost, log.counts().written), (0, 3));
}

#[tokio::test]
async fn those_who_wait_for_a_place_learn_that_the_sink_fails() {
    for failure in [FailurePolicy::Closed, FailurePolicy::Open] {
        let (permit, gate) = mpsc::channel();
        let sink = TestSink { gate: Some(Arc::new(Mutex::new(gate))), ..TestSink::default() };
        let options = AuditOptions::default().with_queue(1).with_failure(failure);
        let log = AuditLog::start(sink.clone(), options);
        let running = [log.begin(record(1)).await.unwrap(), log.begin(record(2)).await.unwrap()];
        log.begin(record(0)).await.unwrap().end(AuditOutcome::Ok).await;
        // The only place is taken until the sink has written.
        let ending = running.map(|entry| tokio::spawn(entry.end(AuditOutcome::Ok)));
        let beginning = tokio::spawn({
            let log = log.clone();
            async move { log.begin(record(3)).await }
        });
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(!beginning.is_finished() && ending.iter().all(|ending| !ending.is_finished()), "{failure:?}");
        sink.is_failing.store(true, Ordering::SeqCst);
        permit.send(()).unwrap();
        // None of them waits for the disk, which fails until all have gone on.
        for ending in ending {
            ending.await.unwrap();
        }
        let begun = beginning.await.unwrap();
        match failure {
            FailurePolicy::Closed => assert!(matches!(begun, Err(AuditError::Unavailable)), "{begun:?}"),
            FailurePolicy::Open => drop(begun.unwrap()),
        }
        sink.is_failing.store(failure == FailurePolicy::Open, Ordering::SeqCst);
        drop(permit);
        log.close(LONG).await.unwrap();
        let counts = log.counts();
        match failure {
            FailurePolicy::Closed => assert_eq!((counts.written, counts.lost), (3, 0)),
            FailurePolicy::Open => assert_eq!((counts.written, counts.lost), (0, 4)),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_log_that_fails_open_counts_what_it_loses() {
    let sink = TestSink::default();
    sink.is_failing.store(true, Ordering::SeqCst);
    let log = AuditLog::start(sink.clone(), AuditOptions::default().with_failure(FailurePolicy::Open));
    for number in 0..5 {
        log.begin(record(number)).await.unwrap().end(AuditOutcome::Ok).await;
    }
    log.close(LONG).await.unwrap();
    assert_eq!((log.counts().lost, log.counts().written), (5, 0));
}

#[tokio::test(start_paused = true)]
async fn closing_says_what_could_not_be_written() {
    let sink = TestSink::default();
    sink.is_failing.store(true, Ordering::SeqCst);
    let log = AuditLog::start(sink, AuditOptions::default());
    log.begin(record(0)).await.unwrap().end(AuditOutcome::Ok).await;
    assert!(matches!(log.close(Duration::from_secs(5)).await, Err(AuditError::Unflushed { records: 1 })));
    assert!(matches!(log.begin(record(1)).await, Err(AuditError::Closed | AuditError::Unavailable)));
}

#[tokio::test]
async fn a_cancelled_call_is_recorded_once() {
    let sink = TestSink::default();
    let log = AuditLog::start(sink.clone(), AuditOptions::default());
    drop(log.begin(record(0)).await.unwrap());
    let (began, has_begun) = tokio::sync::oneshot::channel::<()>();
    let task = tokio::spawn({
        let log = log.clone();
        async move {
            let entry = log.begin(record(1)).await.unwrap();
            began.send(()).unwrap();
            std::future::pending::<()>().await;
            entry.end(AuditOutcome::Ok).await;
        }
    });
    has_begun.await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    log.close(LONG).await.unwrap();
    let lines = read_lines(&sink.text());
    let outcomes: Vec<&str> = lines.iter().map(|line| line["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["cancelled", "cancelled"]);
}

#[tokio::test]
async fn payloads_are_recorded_only_where_a_rule_says_so() {
    let document = r#"
        default = "allow"
        [audit]
        redact = ["ssn"]
        [[audit.payload]]
        record = ["arguments", "result"]
        server = "files"
        tool = "write"
    "#;
    assert!(Policy::parse(document).is_ok(), "one document for all");
    let log = AuditLog::start(TestSink::default(), AuditOptions::default().with_max_payload(100))
        .with_policy(AuditPolicy::parse(document).unwrap());
    let ada = Subject::new("ada");
    let payload = Raw::parse(r#"{"ssn":"123","password":"x","text":"hello"}"#).unwrap();
    let (write, read) = (Target::tool("files", "write"), Target::tool("files", "read"));
    let recorded = log.arguments(&ada, &write, Some(&payload)).unwrap();
    assert_eq!(recorded.as_str(), r#"{"ssn":"[redacted]","password":"[redacted]","text":"hello"}"#);
    assert!(
        log.arguments(&ada, &read, Some(&payload)).is_none()
            && log.result(&ada, &read, Some(&payload)).is_none()
    );
    let large = Raw::parse(format!("{:?}", "x".repeat(10_000))).unwrap();
    assert!(log.result(&ada, &write, Some(&large)).unwrap().len() < 300);
    log.close(LONG).await.unwrap();
}

#[tokio::test]
async fn decisions_are_recorded_with_their_rule() {
    let policy =
        Policy::parse("default=\"allow\"\n[[rule]]\nname = \"quiet\"\neffect = \"deny\"\ntool = \"x\"")
            .unwrap();
    let sink = TestSink::default();
    let log = AuditLog::start(sink.clone(), AuditOptions::default());
    let (ada, target) = (Subject::new("ada"), Target::tool("s", "x"));
    let decision = policy.decide(&ada, &target, None);
    let mut entry =
        log.begin(AuditRecord::new("tools/call").with_subject(&ada).with_target(&target)).await.unwrap();
    entry.record_mut().set_decision(&decision);
    entry.end(AuditOutcome::Denied).await;
    log.close(LONG).await.unwrap();
    let line = &read_lines(&sink.text())[0];
    assert_eq!(
        (&line["outcome"], &line["rule"], &line["reason"]),
        (&"denied".into(), &"rule 1 (`quiet`)".into(), &"rule".into())
    );
}
