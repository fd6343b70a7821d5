//! Our client over HTTP with servers written with the SDKs of others, in each form that they serve in.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use switchboard::client::HttpBinding;
use switchboard::client::{Change, ClientSession, RevisionPolicy};
use switchboard::protocol::ResourceBody;
use switchboard::protocol::{ListenFilter, Revision};
use switchboard::transport::LinkError;
use switchboard::{CallError, Client, json};
use switchboard_testkit::Failed;

use crate::interop::everything::Obliging;
use crate::interop::listening::Listening;
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[
    ("typescript_server_with_sessions", || typescript("session", RevisionPolicy::Any, Form::SESSION)),
    ("typescript_server_with_documents", || typescript("json", RevisionPolicy::Any, Form::DOCUMENTS)),
    ("typescript_server_that_forgets_its_session", typescript_forgets),
    ("typescript_server_without_sessions_in_the_modern_era", || {
        typescript("stateless", RevisionPolicy::Any, Form::MODERN)
    }),
    ("typescript_server_without_sessions_in_the_legacy_era", || {
        typescript("stateless", RevisionPolicy::LegacyOnly, Form::STATELESS)
    }),
    ("typescript_server_of_both_in_the_modern_era", || typescript("both", RevisionPolicy::Any, Form::MODERN)),
    ("typescript_server_of_both_in_the_legacy_era", || {
        typescript("both", RevisionPolicy::LegacyOnly, Form::SESSION)
    }),
    ("python_server_with_sessions_in_the_modern_era", || {
        python("session", RevisionPolicy::Any, Form::MODERN)
    }),
    ("python_server_with_sessions_in_the_legacy_era", || {
        python("session", RevisionPolicy::LegacyOnly, Form { subscribes: false, ..Form::SESSION })
    }),
    ("python_server_with_documents_in_the_modern_era", || {
        // It does not look whether the client is still there.
        python("json", RevisionPolicy::Any, Form { streams: false, cancels: false, ..Form::MODERN })
    }),
    ("python_server_with_documents_in_the_legacy_era", || {
        python("json", RevisionPolicy::LegacyOnly, Form { subscribes: false, ..Form::DOCUMENTS })
    }),
    ("python_server_without_sessions_in_the_modern_era", || {
        python("stateless", RevisionPolicy::Any, Form::MODERN)
    }),
    ("python_server_without_sessions_in_the_legacy_era", || {
        python("stateless", RevisionPolicy::LegacyOnly, Form::STATELESS)
    }),
];

/// What is spoken, and what the form that a server serves in lets it do.
#[derive(Clone, Copy)]
struct Form {
    revision: Revision,
    /// There is something to leave.
    session: bool,
    /// It speaks before it answers.
    streams: bool,
    /// It hears that a call is cancelled.
    cancels: bool,
    /// It can ask while it works on a call.
    asks: bool,
    /// It tells what changed.
    subscribes: bool,
}

impl Form {
    const MODERN: Self = Self {
        revision: Revision::LATEST,
        session: false,
        streams: true,
        cancels: true,
        asks: true,
        subscribes: true,
    };
    const SESSION: Self = Self { revision: Revision::LATEST_LEGACY, session: true, ..Self::MODERN };
    /// A document holds an answer and nothing else.
    const DOCUMENTS: Self = Self { streams: false, asks: false, ..Self::SESSION };
    /// Nothing connects two requests, so there is nothing to cancel, to answer or to subscribe to.
    const STATELESS: Self =
        Self { session: false, cancels: false, asks: false, subscribes: false, ..Self::SESSION };
}

fn typescript(kind: &'static str, offer: RevisionPolicy, form: Form) -> Result<(), Failed> {
    block_on(async move { all_of(Listening::typescript(kind).await, offer, form).await })
}

fn python(kind: &'static str, offer: RevisionPolicy, form: Form) -> Result<(), Failed> {
    block_on(async move { all_of(Listening::python(kind).await, offer, form).await })
}

async fn all_of(server: Listening, offer: RevisionPolicy, form: Form) {
    let client = Client::new().with_revisions(offer).with_answers(Obliging);
    let session = server.connect(&client, HttpBinding::Auto).await;
    assert_eq!(session.info().unwrap().revision, form.revision);
    let tools = session.list_tools().await.unwrap();
    assert!(["echo", "slow", "ask", "touch"].iter().all(|name| tools.by_name(name).is_some()));
    let said = session.call_tool("echo", json!({ "text": "nonce 4711 é" })).await.unwrap();
    assert_eq!(said.text(), "nonce 4711 é");
    let unknown = session.call_tool("no-such-tool", json!({})).await;
    assert!(unknown.map_or(true, |result| result.is_error));

    let resting = session.call_tool("rests", json!({})).await.unwrap();
    assert_eq!(resting.text(), "rested", "the rest of the answer was fetched");
    if form.session && form.streams {
        server.says(&["came back"]).await;
    }
    reports_progress(&session, form.streams).await;
    cancels(&session, form.cancels).await;
    asks(&session, form.asks).await;
    if form.subscribes {
        subscribes(&session).await;
    }
    session.close().await;
    if form.session {
        server.says(&["session left", "Terminating session"]).await;
    }
    server.stop().await;
}

/// Reads go on in another session; a call is the caller's to repeat.
fn typescript_forgets() -> Result<(), Failed> {
    block_on(async {
        let server = Listening::typescript("session").await;
        let session = server.connect(&Client::new(), HttpBinding::Auto).await;
        assert_eq!(session.call_tool("forget", json!({})).await.unwrap().text(), "forgotten");
        let lost = session.call_tool("echo", json!({ "text": "lost" })).await.unwrap_err();
        assert!(matches!(lost, CallError::Link(LinkError::SessionExpired)), "{lost:?}");
        assert_eq!(session.call_tool("echo", json!({ "text": "found" })).await.unwrap().text(), "found");
        assert_eq!(session.call_tool("forget", json!({})).await.unwrap().text(), "forgotten");
        assert!(!session.read_resource("interop://slow").await.unwrap().contents.is_empty());
        subscribes(&session).await;
        session.close().await;
        server.says(&["session left"]).await;
        server.stop().await;
    })
}

/// Not every report reaches a caller when they come fast, but the last one does.
async fn reports_progress(session: &ClientSession, streams: bool) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noting = Arc::clone(&seen);
    let call = session.call_tool("slow", json!({ "seconds": 0.5 })).on_progress(move |progress| {
        assert_eq!(progress.total, Some(10.0));
        noting.lock().unwrap().push(progress.progress);
    });
    assert_eq!(call.await.unwrap().text(), "done");
    let seen = seen.lock().unwrap();
    if !streams {
        return assert!(seen.is_empty(), "{seen:?}");
    }
    assert!(seen.len() >= 3 && seen.is_sorted() && seen.last() == Some(&10.0), "{seen:?}");
}

/// A dropped call is cancelled where that can be told, and the connection goes on where it cannot.
async fn cancels(session: &ClientSession, told: bool) {
    let slow = session.call_tool("slow", json!({ "seconds": 4 }));
    assert!(tokio::time::timeout(Duration::from_millis(300), async { slow.await }).await.is_err());
    let counted = async {
        loop {
            let read = session.read_resource("interop://slow").await.unwrap();
            let ResourceBody::Text(text) = &read.contents[0].body else { panic!("it is text") };
            let counts: Value = serde_json::from_str(text).unwrap();
            assert_eq!((&counts["started"], &counts["finished"]), (&json!(2), &json!(1)), "{counts}");
            if !told || counts["cancelled"] == 1 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(3), counted).await.expect("the server saw the cancellation");
}

/// A question reaches us where it can; where it cannot, a server says so or waits for an answer that never comes.
async fn asks(session: &ClientSession, can: bool) {
    let ask = session.call_tool("ask", json!({}));
    let asked = tokio::time::timeout(Duration::from_secs(2), async { ask.await }).await;
    match asked {
        Ok(Ok(result)) if can => assert_eq!(result.text(), "hello Ada"),
        Ok(Ok(result)) => assert!(result.is_error, "nobody was asked"),
        Ok(Err(_)) | Err(_) => assert!(!can, "{asked:?}"),
    }
}

async fn subscribes(session: &ClientSession) {
    let uri = "interop://slow";
    let mut filter = ListenFilter::new();
    filter.resource_subscriptions.push(uri.into());
    let mut listening = session.listen(filter).await.unwrap();
    assert_eq!(session.call_tool("touch", json!({})).await.unwrap().text(), "touched");
    let told = async {
        loop {
            if let Change::Resource { uri } = listening.next().await.expect("the session is open") {
                return uri;
            }
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(5), told).await.expect("the change was told");
    assert_eq!(&*told, uri);
}
