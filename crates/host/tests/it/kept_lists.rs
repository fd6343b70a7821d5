//! Lists that a host keeps beside the tools, and questions that stay with their call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;
use switchboard_host::{Host, HostEvent, Run, ServerLists};
use switchboard_protocol::{
    CacheHints, CacheScope, CallToolResult, Content, ElicitParams, ElicitResult, FormSchema, Implementation,
    ListCapability, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    OrderedMap, Prompt, Raw, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    ResourcesCapability, RpcError, ServerCapabilities, Tool,
};
use switchboard_session::RevisionPolicy;
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{Handler, HandlerOutcome, RequestContext, Server, ServerRequest};
use switchboard_testkit::{trial, trial_leaving_tasks};
use tokio::sync::Barrier;

use crate::hosts::{host_with, http, paused_trial};
use crate::web::Web;

switchboard_testkit::trials![
    trial: prompts_resources_and_templates_are_kept_and_refreshed,
        a_host_that_keeps_no_lists_asks_for_none,
        the_manifest_of_a_server_has_all_its_lists;
    paused_trial: a_list_whose_lifetime_is_over_is_fetched_again_without_an_announcement;
    trial_leaving_tasks: questions_on_the_stream_of_a_call_stay_with_that_call
];

/// A server whose prompts change, and whose tool and resource ask once two callers have come.
struct Library {
    prompts: Mutex<Vec<&'static str>>,
    lists: AtomicUsize,
    both_are_here: Arc<Barrier>,
}

impl Library {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            prompts: Mutex::new(vec!["greet"]),
            lists: AtomicUsize::new(0),
            both_are_here: Arc::new(Barrier::new(2)),
        })
    }

    fn served(self: &Arc<Self>, revisions: RevisionPolicy) -> Arc<Server> {
        self.served_for(revisions, 0)
    }

    /// Its lists are fresh for so many milliseconds.
    fn served_for(self: &Arc<Self>, revisions: RevisionPolicy, lifetime: u64) -> Arc<Server> {
        let list = || ListCapability::new().with_list_changed(true);
        let offers = ServerCapabilities::new()
            .with_tools(list())
            .with_prompts(list())
            .with_resources(ResourcesCapability::new().with_list_changed(true));
        Server::builder(Implementation::new("library", "1"), offers)
            .revisions(revisions)
            .cache_hints(CacheHints::new(lifetime, CacheScope::Private))
            .build(Arc::clone(self))
    }
}

impl Handler for Library {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let both_are_here = Arc::clone(&self.both_are_here);
        match request {
            ServerRequest::ListTools(_) => {
                HandlerOutcome::now(ListToolsResult::new([Tool::new("ask", json!({ "type": "object" }))]))
            }
            ServerRequest::ListPrompts(_) => {
                self.lists.fetch_add(1, Ordering::SeqCst);
                let prompts = self.prompts.lock().iter().map(|name| Prompt::new(*name)).collect::<Vec<_>>();
                HandlerOutcome::now(ListPromptsResult::new(prompts))
            }
            ServerRequest::ListResources(_) => {
                self.lists.fetch_add(1, Ordering::SeqCst);
                HandlerOutcome::now(ListResourcesResult::new([Resource::new("book://1", "one")]))
            }
            ServerRequest::ListResourceTemplates(_) => {
                self.lists.fetch_add(1, Ordering::SeqCst);
                let template = ResourceTemplate::new("book://{id}", "book");
                HandlerOutcome::now(ListResourceTemplatesResult::new([template]))
            }
            ServerRequest::CallTool(_) => HandlerOutcome::later(async move {
                both_are_here.wait().await;
                let name = ask_name(&cx).await?;
                Ok(CallToolResult::new([Content::text(name)]).into())
            }),
            ServerRequest::ReadResource(read) => HandlerOutcome::later(async move {
                both_are_here.wait().await;
                let name = ask_name(&cx).await?;
                Ok(ReadResourceResult::new([ResourceContents::text(read.uri, name)]).into())
            }),
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

async fn ask_name(cx: &RequestContext) -> Result<String, RpcError> {
    let answer = cx.elicit("name", ElicitParams::form("Your name?", FormSchema::new())).await?;
    let content = answer.content.unwrap_or_default();
    Ok(content.get("name").and_then(|name| name.decode().ok()).unwrap_or_default())
}

fn lists(host: &Host) -> Arc<ServerLists> {
    let catalog = host.catalog();
    let (_, lists) = catalog.lists().next().unwrap();
    Arc::clone(lists)
}

async fn prompts_resources_and_templates_are_kept_and_refreshed() {
    let library = Library::new();
    let server = library.served(RevisionPolicy::Any);
    let host = host_with(Host::builder().with_all_lists(), &[("library", &server)]).await;
    let kept = lists(&host);
    assert_eq!((kept.prompts.len(), kept.resources.len(), kept.templates.len()), (1, 1, 1));
    assert_eq!(library.lists.load(Ordering::SeqCst), 3, "each is fetched once");
    let mut events = host.events();
    library.prompts.lock().push("part");
    server.publisher().prompts_changed();
    loop {
        if let HostEvent::Prompts { server } = events.next().await.unwrap() {
            assert_eq!(&*server, "library");
            break;
        }
    }
    assert_eq!(lists(&host).prompts.len(), 2, "announced after it was fetched");
    // Announced without a change: said so.
    server.publisher().resources_changed();
    while !matches!(events.next().await.unwrap(), HostEvent::UnchangedList { .. }) {}
    host.toggle("library", false).await.unwrap();
    assert_eq!(host.catalog().lists().count(), 0, "those of a disabled server are hidden");
    host.close().await;
}

async fn a_list_whose_lifetime_is_over_is_fetched_again_without_an_announcement() {
    let library = Library::new();
    let server = library.served_for(RevisionPolicy::ModernOnly, 60_000);
    let host = host_with(Host::builder().with_all_lists(), &[("library", &server)]).await;
    let mut events = host.events();
    library.prompts.lock().push("part");
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert_eq!((lists(&host).prompts.len(), library.lists.load(Ordering::SeqCst)), (1, 3), "still fresh");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!((lists(&host).prompts.len(), library.lists.load(Ordering::SeqCst)), (2, 6));
    // Nothing was announced, so nothing is said of the lists that have not changed.
    while let Ok(event) = tokio::time::timeout(Duration::ZERO, events.next()).await {
        let event = event.unwrap();
        assert!(!matches!(event, HostEvent::UnchangedList { .. }), "{event:?}");
    }
    host.close().await;
}

async fn a_host_that_keeps_no_lists_asks_for_none() {
    let library = Library::new();
    let server = library.served(RevisionPolicy::Any);
    let host = host_with(Host::builder(), &[("library", &server)]).await;
    assert_eq!(*lists(&host), ServerLists::default());
    assert_eq!(library.lists.load(Ordering::SeqCst), 0);
    host.close().await;
}

async fn the_manifest_of_a_server_has_all_its_lists() {
    let server = Library::new().served(RevisionPolicy::Any);
    let host = host_with(Host::builder().with_all_lists(), &[("library", &server)]).await;
    let manifest = host.manifest("library").unwrap();
    assert_eq!(manifest.prompts[0].name, "greet");
    assert_eq!(manifest.resources[0].uri, "book://1");
    assert_eq!(manifest.resource_templates[0].uri_template, "book://{id}");
    host.close().await;
}

/// A caller who answers with their name.
struct Named(&'static str);

impl ClientHandler for Named {
    fn elicit<'a>(
        &'a self,
        _: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        let name = Raw::encode(self.0).unwrap();
        let content: OrderedMap<Raw> = [("name".to_owned(), name)].into_iter().collect();
        Box::pin(async move { Ok(ElicitResult::accept(content)) })
    }
}

async fn questions_on_the_stream_of_a_call_stay_with_that_call() {
    let web = Web::open(&Library::new().served(RevisionPolicy::LegacyOnly)).await;
    let host = Host::builder().with_abilities(HandlerCapabilities::none().with_forms()).build();
    host.connect("library", http(&format!("{}/mcp", web.url))).await.unwrap();
    let (ada, bob) = (Run::with_handler(Named("ada")), Run::with_handler(Named("bob")));
    let call =
        async |run: &Run| host.call_tool("library", "ask", json!({})).within(run).await.unwrap().text();
    let (first, second) = tokio::join!(call(&ada), call(&bob));
    assert_eq!((first.as_str(), second.as_str()), ("ada", "bob"));
    let read = async |run: &Run| {
        let params = Raw::from(json!({ "uri": "book://1" }));
        host.request("library", "resources/read", params).within(run).await.unwrap().as_str().to_owned()
    };
    let (first, second) = tokio::join!(read(&ada), read(&bob));
    assert!(first.contains("ada") && second.contains("bob"), "{first} {second}");
    host.close().await;
}
