//! What hostile servers and neighbours try: T09, T14, T43.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use switchboard_host::{Host, Run};
use switchboard_protocol::{
    CallToolResult, Content, ElicitAction, ElicitParams, ElicitResult, FormSchema, Implementation,
    ListCapability, ListToolsResult, OrderedMap, RpcError, ServerCapabilities, ServerResult, Tool,
};
use switchboard_session::RevisionPolicy;
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{Handler, HandlerOutcome, RequestContext, Server, ServerRequest};
use switchboard_testkit::{trial, trial_leaving_tasks};

use crate::hosts::{host_with, http, sh};
use crate::toy::Toy;
use crate::web::Web;

switchboard_testkit::trials![
    trial:
        t09_a_server_has_three_descriptors_and_no_terminal,
        t43_an_address_a_server_asks_about_is_shown_and_not_visited,
        t43_questions_without_end_are_ended;
    trial_leaving_tasks:
        t14_neighbours_on_one_server_never_see_each_others_answers;
];

/// Says on stderr what it was given, and ends: the words come back with the failure.
async fn t09_a_server_has_three_descriptors_and_no_terminal() {
    let host = Host::builder().build();
    // Without a pipeline: a shell holds its pipes for a moment, and would count them.
    let script = "ls /proc/$$/fd >&2; (: < /dev/tty) 2>/dev/null && echo terminal >&2; exit 1";
    let failed = host.connect("s", sh(script)).await.unwrap_err().to_string();
    assert!(!failed.contains("terminal"), "{failed}");
    // Beside the three, only what the shell opened for itself.
    let words = failed.rsplit(": ").next().unwrap();
    let mut descriptors: Vec<u32> = words
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .filter(|fd| ![10, 255].contains(fd))
        .collect();
    descriptors.sort_unstable();
    assert_eq!(descriptors, [0, 1, 2], "{failed}");
    host.close().await;
}

async fn t14_neighbours_on_one_server_never_see_each_others_answers() {
    for offer in [RevisionPolicy::LegacyOnly, RevisionPolicy::ModernOnly] {
        let web = Web::open(&Toy::full().served("toy", offer)).await;
        let mut calls = Vec::new();
        let mut hosts = Vec::new();
        for neighbour in 0..8 {
            // Every host counts its requests from the same number on.
            let host = Host::builder().build();
            host.connect("toy", http(&format!("{}/mcp", web.url))).await.unwrap();
            for nonce in 0..50 {
                let said = format!("{neighbour}/{nonce}");
                let call = host.call_tool("toy", "echo", json!({"nonce": said}));
                calls.push(tokio::spawn(async move { (said, call.await) }));
            }
            hosts.push(host);
        }
        for call in calls {
            let (said, heard) = call.await.unwrap();
            assert_eq!(heard.unwrap().text(), json!({"nonce": said}).to_string());
        }
        for host in hosts {
            host.close().await;
        }
    }
}

/// Asks its caller to visit an address, or asks for ever.
struct Asks {
    address: Option<String>,
}

impl Handler for Asks {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                HandlerOutcome::now(ListToolsResult::new([Tool::new("ask", json!({"type": "object"}))]))
            }
            ServerRequest::CallTool(_) => {
                let address = self.address.clone();
                HandlerOutcome::later(async move {
                    let Some(address) = address else {
                        // A new key each time is a new question each time.
                        for question in 0.. {
                            let form = FormSchema::new();
                            cx.elicit(&format!("q{question}"), ElicitParams::form("Sure?", form)).await?;
                        }
                        return Err(RpcError::internal("never"));
                    };
                    let answer = cx.elicit("visit", ElicitParams::url("Log in here", address)).await?;
                    let text = format!("{answer:?}");
                    Ok(ServerResult::from(CallToolResult::new([Content::text(text)])))
                })
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

fn asks(address: Option<String>) -> Arc<Server> {
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    Server::builder(Implementation::new("asks", "1"), offers)
        .revisions(RevisionPolicy::ModernOnly)
        .build(Asks { address })
}

/// Writes down what it is asked, and declines or accepts.
#[derive(Clone, Default)]
struct Clerk {
    shown: Arc<parking_lot::Mutex<Vec<String>>>,
    asked: Arc<AtomicUsize>,
}

impl ClientHandler for Clerk {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms().with_urls()
    }

    fn elicit<'a>(
        &'a self,
        params: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            match params {
                ElicitParams::Url(url) => {
                    self.shown.lock().push(url.url.clone());
                    Ok(ElicitResult::new(ElicitAction::Decline))
                }
                _ => Ok(ElicitResult::accept(OrderedMap::new())),
            }
        })
    }
}

async fn t43_an_address_a_server_asks_about_is_shown_and_not_visited() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/login?code=secret", listener.local_addr().unwrap());
    let builder = Host::builder().with_abilities(HandlerCapabilities::none().with_urls());
    let host = host_with(builder, &[("asks", &asks(Some(address.clone())))]).await;
    let clerk = Clerk::default();
    let said = host.call_tool("asks", "ask", ()).within(&Run::with_handler(clerk.clone())).await.unwrap();
    assert!(said.text().to_lowercase().contains("decline"), "{}", said.text());
    assert_eq!(*clerk.shown.lock(), [address], "in full");
    let visited = tokio::time::timeout(std::time::Duration::from_millis(100), listener.accept()).await;
    assert!(visited.is_err(), "nobody goes there unasked");
    host.close().await;
}

async fn t43_questions_without_end_are_ended() {
    let builder = Host::builder().with_abilities(HandlerCapabilities::none().with_forms());
    let host = host_with(builder, &[("asks", &asks(None))]).await;
    let clerk = Clerk::default();
    let error =
        host.call_tool("asks", "ask", ()).within(&Run::with_handler(clerk.clone())).await.unwrap_err();
    assert!(error.to_string().contains("10"), "{error}");
    assert_eq!(clerk.asked.load(Ordering::SeqCst), 10, "rounds");
    host.close().await;
}
