//! Lists that misbehave, as the host meets them: F143 to F149.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use switchboard_host::Host;
use switchboard_protocol::{
    Implementation, ListCapability, ListToolsResult, RpcError, ServerCapabilities, Tool,
};
use switchboard_session::RevisionPolicy;
use switchboard_session::server::{Handler, HandlerOutcome, RequestContext, Server, ServerRequest};
use switchboard_testkit::trial;

use crate::hosts::{host_of, names};

switchboard_testkit::trials![trial:
    f143_a_cursor_that_repeats_ends_the_list,
    f144_cursors_without_end_are_bounded,
    f145_an_empty_cursor_is_followed_once,
    f146_a_cursor_that_is_not_known_any_more_begins_the_list_anew,
    f147_of_two_tools_of_one_name_on_two_pages_neither_is_mistaken_for_the_other,
    f149_a_server_that_tells_of_a_change_with_every_list_is_not_followed_for_ever,
];

/// A server whose pages are made by a function of the cursor and of how many were asked for before.
struct Pages<F> {
    page: F,
    asked: AtomicUsize,
}

type Page = Result<(Vec<&'static str>, Option<String>), RpcError>;

impl<F: Fn(Option<&str>, usize) -> Page + Send + Sync + 'static> Handler for Pages<F> {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        let ServerRequest::ListTools(params) = request else {
            return HandlerOutcome::error(RpcError::method_not_found(request.method()));
        };
        let before = self.asked.fetch_add(1, Ordering::SeqCst);
        match (self.page)(params.cursor.as_deref(), before) {
            Ok((names, next)) => {
                let tools: Vec<Tool> =
                    names.iter().map(|name| Tool::new(*name, json!({"type": "object"}))).collect();
                let mut page = ListToolsResult::new(tools);
                page.next_cursor = next;
                HandlerOutcome::now(page)
            }
            Err(error) => HandlerOutcome::error(error),
        }
    }
}

/// A host of one such server, and how many pages it was asked for.
async fn listing(
    page: impl Fn(Option<&str>, usize) -> Page + Send + Sync + 'static,
) -> (Host, Vec<String>, usize) {
    let pages = Arc::new(Pages { page, asked: AtomicUsize::new(0) });
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    let server = Server::builder(Implementation::new("pages", "1"), offers).build(Arc::clone(&pages));
    let host = host_of(&[("s", &server)]).await;
    let found = names(&host);
    (host, found, pages.asked.load(Ordering::SeqCst))
}

async fn f143_a_cursor_that_repeats_ends_the_list() {
    let (host, found, asked) = listing(|_, _| Ok((vec!["a"], Some("again".into())))).await;
    assert_eq!((found, asked), (vec!["mcp__s__a".to_owned()], 2));
    host.close().await;
}

async fn f144_cursors_without_end_are_bounded() {
    let (host, found, asked) = listing(|_, before| Ok((vec!["a"], Some(before.to_string())))).await;
    assert_eq!(asked, 64, "pages");
    assert!(found.len() <= 1, "{found:?}");
    host.close().await;
}

async fn f145_an_empty_cursor_is_followed_once() {
    let (host, found, asked) = listing(|cursor, _| match cursor {
        None => Ok((vec!["a"], Some(String::new()))),
        Some(_) => Ok((vec!["b"], None)),
    })
    .await;
    assert_eq!((found, asked), (vec!["mcp__s__a".to_owned(), "mcp__s__b".to_owned()], 2));
    host.close().await;
}

async fn f146_a_cursor_that_is_not_known_any_more_begins_the_list_anew() {
    let (host, found, asked) = listing(|cursor, before| match (cursor, before) {
        (None, _) => Ok((vec!["a"], Some("next".into()))),
        (Some(_), 1) => Err(RpcError::invalid_params("that cursor is no longer valid")),
        (Some(_), _) => Ok((vec!["b"], None)),
    })
    .await;
    assert_eq!((found, asked), (vec!["mcp__s__a".to_owned(), "mcp__s__b".to_owned()], 4));
    host.close().await;
}

async fn f147_of_two_tools_of_one_name_on_two_pages_neither_is_mistaken_for_the_other() {
    let (host, found, _) = listing(|cursor, _| match cursor {
        None => Ok((vec!["twice", "once"], Some("next".into()))),
        Some(_) => Ok((vec!["twice"], None)),
    })
    .await;
    assert!(found.contains(&"mcp__s__once".to_owned()), "{found:?}");
    assert!(found.iter().filter(|name| *name == "mcp__s__twice").count() <= 1, "{found:?}");
    host.close().await;
}

/// Tells of a change whenever it is asked for its list.
struct PingPong {
    lists: AtomicUsize,
}

impl Handler for PingPong {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let ServerRequest::ListTools(_) = request else {
            return HandlerOutcome::error(RpcError::method_not_found(request.method()));
        };
        self.lists.fetch_add(1, Ordering::SeqCst);
        cx.notify("notifications/tools/list_changed", None);
        HandlerOutcome::now(ListToolsResult::new([Tool::new("a", json!({"type": "object"}))]))
    }
}

async fn f149_a_server_that_tells_of_a_change_with_every_list_is_not_followed_for_ever() {
    let handler = Arc::new(PingPong { lists: AtomicUsize::new(0) });
    let offers = ServerCapabilities::new().with_tools(ListCapability::new().with_list_changed(true));
    let server = Server::builder(Implementation::new("pong", "1"), offers)
        .revisions(RevisionPolicy::LegacyOnly)
        .build(Arc::clone(&handler));
    let host = host_of(&[("pong", &server)]).await;
    let began = std::time::Instant::now();
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let lists = handler.lists.load(Ordering::SeqCst);
    // A busy machine may wake us late.
    let most = 2 + usize::try_from(began.elapsed().as_secs()).unwrap();
    assert!(lists <= most, "{lists} lists in {:?}", began.elapsed());
    assert_eq!(names(&host), ["mcp__pong__a"]);
    host.close().await;
}
