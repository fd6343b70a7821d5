//! Questions of servers: shown, checked, answered once, closed with their call.

use serde_json::json;
use switchboard_protocol::Root;
use switchboard_testkit::{trial_leaving_tasks, trials, wait_until};

use crate::page::Page;
use crate::workshop::{LEGACY, MODERN, Running, child};

trials! {
    trial_leaving_tasks:
        a_form_is_answered_once_in_both_eras,
        pages_messages_and_roots_are_answered,
        a_question_ends_with_its_call,
        calls_of_a_legacy_program_at_once_are_all_asked,
}

async fn a_form_is_answered_once_in_both_eras() {
    for revisions in [MODERN, LEGACY] {
        let running = Running::new(revisions);
        let page = Page::open(|host| host, [("shop", running.spec())]).await;
        let (one, other) = (page.events(None).await, page.events(None).await);
        let call = page.call("shop", "ask", "{}").await;
        let question = one.question(0).await;
        assert_eq!(other.question(0).await, question, "both tabs see it");
        assert_eq!((&question["server"], &question["call"]), (&json!("shop"), &json!(call)));
        assert_eq!(
            (&question["body"]["type"], &question["body"]["message"]),
            (&json!("form"), &json!("Who are you?"))
        );
        assert!(question["expiresAtMs"].as_u64().unwrap() > question["askedAtMs"].as_u64().unwrap());
        let waiting = |event: &serde_json::Value| event["call"]["state"]["type"] == "waitingForAnswer";
        one.wait_for("the state of the call", waiting).await;
        let path = format!("/api/questions/{}", question["question"]);
        let long = json!({"type": "accept", "contentJson": r#"{"name":"a name that is too long"}"#});
        assert_eq!(page.post(&path, &long).await.1["code"], "invalid_answer");
        assert!(running.seen().answers.lock().is_empty(), "an invalid answer is not sent");
        let answer = json!({"type": "accept", "contentJson": r#"{"name":"Ada"}"#});
        assert_eq!(page.post(&path, &answer).await.0, 200);
        let (status, error) = page.post(&path, &answer).await;
        assert_eq!((status, &error["code"]), (404, &json!("question_closed")), "the second tab is too late");
        assert_eq!(page.outcome(&one, call).await["type"], "ok");
        assert_eq!(*running.seen().answers.lock(), [r#"{"action":"accept","content":{"name":"Ada"}}"#]);
        let closed = other.wait_for("the end", |event| event["type"] == "questionClosed").await;
        assert_eq!((&closed["question"], &closed["reason"]), (&question["question"], &json!("answered")));
        assert_eq!(page.fetch("/api/snapshot").await["questions"], json!([]));
        page.close().await;
    }
}

async fn pages_messages_and_roots_are_answered() {
    for revisions in [MODERN, LEGACY] {
        let running = Running::new(revisions);
        let roots = [Root::new("file:///work")];
        let page = Page::open(|host| host.with_roots(roots), [("shop", running.spec())]).await;
        let events = page.events(None).await;
        let message = r#"{"role":"assistant","content":{"type":"text","text":"Fine."},"model":"by hand"}"#;
        let mut last = 0;
        for (tool, kind, answer, seen) in [
            ("visit", "url", json!({"type": "decline"}), "Decline"),
            ("sample", "sampling", json!({"type": "sampling", "resultJson": message}), "by hand"),
            (
                "roots",
                "roots",
                json!({"type": "roots", "roots": [{"uri": "file:///home", "name": null}]}),
                "file:///home",
            ),
        ] {
            let call = page.call("shop", tool, "{}").await;
            let question = events.question(last).await;
            last = question["question"].as_u64().unwrap();
            assert_eq!(question["body"]["type"], kind, "{question}");
            if kind == "roots" {
                assert_eq!(
                    question["body"]["roots"][0]["uri"], "file:///work",
                    "those of the host are proposed"
                );
                let path = format!("/api/questions/{last}");
                let invalid =
                    json!({"type": "roots", "roots": [{"uri": "https://example.org/", "name": null}]});
                assert_eq!(page.post(&path, &invalid).await.1["code"], "invalid_answer");
            }
            assert_eq!(page.post(&format!("/api/questions/{last}"), &answer).await.0, 200);
            page.outcome(&events, call).await;
            assert_eq!(running.seen().answers.lock().last().unwrap(), seen, "{tool} {revisions:?}");
        }
        page.close().await;
    }
}

async fn a_question_ends_with_its_call() {
    for revisions in [MODERN, LEGACY] {
        let running = Running::new(revisions);
        let page = Page::open(|host| host, [("shop", running.spec())]).await;
        let events = page.events(None).await;
        let call = page.call("shop", "ask", "{}").await;
        let question = events.question(0).await;
        page.post(&format!("/api/calls/{call}/cancel"), &json!({})).await;
        let closed = events.wait_for("the end", |event| event["type"] == "questionClosed").await;
        assert_eq!((&closed["question"], &closed["reason"]), (&question["question"], &json!("cancelled")));
        let answer = json!({"type": "decline"});
        let (status, _) = page.post(&format!("/api/questions/{}", question["question"]), &answer).await;
        assert_eq!(status, 404);
        assert!(running.seen().answers.lock().is_empty());
        page.close().await;
    }
}

/// Over a pipe a server of the legacy era does not say which of its calls it asks for.
async fn calls_of_a_legacy_program_at_once_are_all_asked() {
    let page = Page::open(|host| host, [("shop", child("legacy"))]).await;
    let events = page.events(None).await;
    let calls = [page.call("shop", "ask", "{}").await, page.call("shop", "ask", "{}").await];
    wait_until("both questions", || events.of_type("question").len() == 2).await;
    for question in events.of_type("question") {
        let path = format!("/api/questions/{}", question["question"]["question"]);
        let answer = json!({"type": "accept", "contentJson": r#"{"name":"Ada"}"#});
        assert_eq!(page.post(&path, &answer).await.0, 200);
    }
    for call in calls {
        assert_eq!(page.outcome(&events, call).await["type"], "ok");
        let result = page.fetch(&format!("/api/calls/{call}/result")).await;
        assert!(result["resultJson"].as_str().unwrap().contains("Ada"));
    }
    page.close().await;
}
