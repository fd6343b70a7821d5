//! How the end of a server shows: F002, F008 to F011, F024, F055.

use std::time::{Duration, Instant};

use switchboard_session::link::{CloseOutcome, Link, LinkError};
use switchboard_testkit::{STEP_TIMEOUT, trial_leaving_tasks, unique_seconds, wait_for_processes};

use crate::links::{ask, end_of, group, link, sh};

switchboard_testkit::trials![trial_leaving_tasks:
    an_exit_is_seen_at_once_with_its_last_words,
    an_answer_written_just_before_the_exit_arrives,
    a_crash_is_seen_with_its_signal,
    a_grandchild_holding_the_pipes_does_not_hide_the_exit,
    a_daemon_ends_with_the_server_that_made_it,
    a_closed_stdout_is_a_lost_connection_and_the_server_is_killed,
    a_closed_stdin_still_lets_answers_come,
    a_flood_on_stderr_blocks_nobody,
];

/// F002, F003.
async fn an_exit_is_seen_at_once_with_its_last_words() {
    for command in [sh("echo hint >&2; exit 3"), group("echo hint >&2; exit 3")] {
        let start = Instant::now();
        let (link, child) = link(&command);
        let error = end_of(&link).await;
        assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
        let exit = error.exit().unwrap_or_else(|| panic!("{error}"));
        assert_eq!((exit.code, exit.signal, exit.stderr_tail.as_str()), (Some(3), None, "hint\n"));
        assert_eq!(&child.exited().await, exit);
        assert!(matches!(link.close(4 * STEP_TIMEOUT).await, CloseOutcome::Exited(left) if left == *exit));
    }
}

async fn an_answer_written_just_before_the_exit_arrives() {
    for round in 0..20 {
        let script = r#"read a; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; printf '{"jsonrpc":"2.0","id":2,"result":{}}'"#;
        let (link, _) = link(&if round % 2 == 0 { sh(script) } else { group(script) });
        let (first, second, third) = tokio::join!(ask(&link, 1), ask(&link, 2), ask(&link, 3));
        first.unwrap();
        second.expect("a last line needs no newline");
        assert!(third.unwrap_err().exit().is_some());
    }
}

/// F008.
async fn a_crash_is_seen_with_its_signal() {
    for command in [sh("read a; kill -SEGV $$"), group("read a; kill -SEGV $$")] {
        let (link, _) = link(&command);
        let start = Instant::now();
        let (first, second) = tokio::join!(ask(&link, 1), ask(&link, 2));
        for error in [first.unwrap_err(), second.unwrap_err()] {
            assert_eq!(error.exit().unwrap().signal, Some(11), "{error}");
        }
        assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    }
}

/// F011: in its group and out of it.
async fn a_grandchild_holding_the_pipes_does_not_hide_the_exit() {
    let token = unique_seconds();
    for script in
        [format!("sleep {token} & read a; exit 5"), format!("setsid sleep {token} & read a; exit 5")]
    {
        let (link, _) = link(&sh(script));
        wait_for_processes(&token, 1).await;
        let start = Instant::now();
        assert_eq!(ask(&link, 1).await.unwrap_err().exit().unwrap().code, Some(5));
        assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
        wait_for_processes(&token, 0).await;
    }
    let (link, _) = link(&group(format!("sleep {token} & read a; exit 5")));
    wait_for_processes(&token, 1).await;
    let start = Instant::now();
    assert_eq!(ask(&link, 1).await.unwrap_err().exit().unwrap().code, Some(5));
    assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    wait_for_processes(&token, 0).await;
}

/// F024.
async fn a_daemon_ends_with_the_server_that_made_it() {
    let token = unique_seconds();
    let (link, _) =
        link(&sh(format!("(setsid sh -c 'trap \"\" TERM; sleep {token} & wait' &) ; sleep 0.2; exit 0")));
    assert_eq!(end_of(&link).await.exit().unwrap().code, Some(0));
    wait_for_processes(&token, 0).await;
}

/// F009.
async fn a_closed_stdout_is_a_lost_connection_and_the_server_is_killed() {
    let token = unique_seconds();
    let (link, _) = link(&sh(format!("exec >&-; sleep {token}")));
    let start = Instant::now();
    let error = end_of(&link).await;
    assert!(matches!(&error, LinkError::Lost { reason, .. } if reason.contains("stdout")), "{error}");
    assert!(start.elapsed() > Duration::from_millis(1900) && start.elapsed() < STEP_TIMEOUT);
    wait_for_processes(&token, 0).await;
}

/// F010.
async fn a_closed_stdin_still_lets_answers_come() {
    let script = r#"exec <&-; sleep 0.3; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; sleep 30"#;
    let (link, _) = link(&sh(script));
    tokio::time::sleep(Duration::from_millis(100)).await;
    ask(&link, 1).await.expect("the answer came within the grace");
    let error = end_of(&link).await;
    assert!(matches!(&error, LinkError::Lost { reason, .. } if reason.contains("stdin")), "{error}");
}

/// F055.
async fn a_flood_on_stderr_blocks_nobody() {
    let script = r#"head -c 67108864 /dev/zero | tr '\0' e >&2; echo >&2; echo last words >&2
        read a; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; exec cat >/dev/null"#;
    let (link, child) = link(&sh(script));
    ask(&link, 1).await.unwrap();
    link.close(4 * STEP_TIMEOUT).await;
    let tail = child.stderr_tail();
    assert!(tail.ends_with("last words\n") && tail.len() <= 64 * 1024, "{}", tail.len());
}
