//! One trait with three implementations: the service, its MCP client, its plain-endpoint client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use switchboard_service::{Changes, Cx, Events, PromptMessages, Result};

use crate::client::sessions::{self, ERAS};
use crate::expansion::{Counted, Svc, Texts, TextsClient, TextsServer};

/// Exercises the trait; the implementations must behave identically.
pub async fn use_texts(api: &impl Texts) {
    assert_eq!(api.count("two words".into(), None).await.unwrap(), Counted { words: 2 });
    assert_eq!(api.count("two words".into(), Some(1)).await.unwrap(), Counted { words: 1 });
    let cx = Cx::call().build();
    let (events, mut heard) = Events::channel(16);
    api.spell(&cx, events, "Ådne".into()).await.unwrap();
    let mut letters = Vec::new();
    while let Some(letter) = heard.recv().await.unwrap() {
        letters.push(letter);
    }
    assert_eq!(letters, ["Å", "d", "n", "e"]);
    assert_eq!(api.text("a/b?c".into(), vec![1.0, 2.5]).await.unwrap(), "a/b?c");
    assert_eq!(api.review("\"this\"".into()).await.unwrap(), PromptMessages::user("\"this\""));
    assert_eq!(api.reset(true).await.unwrap(), 7);
}

#[tokio::test]
async fn service_clients_and_arc_behave_identically() {
    use_texts(&Svc).await;
    use_texts(&Arc::new(Svc)).await;
    for offer in ERAS {
        let server = TextsServer::builder(Svc).build().unwrap();
        let session = sessions::session(&server, offer).await;
        let api = TextsClient::new(session).with_fallback(Arc::new(Svc));
        use_texts(&api).await;
        assert_eq!(api.complete_text("x".into()).await.unwrap(), ["x"]);
        let mut stream = api.spell_stream(&Cx::call().build(), "ab".into());
        let mut items = 0;
        while let Some(item) = stream.next().await {
            item.unwrap();
            items += 1;
        }
        assert_eq!(items, 3);
    }
}

#[tokio::test]
async fn a_client_over_a_pipe_behaves_identically() {
    for offer in ERAS {
        let server = TextsServer::builder(Svc).build().unwrap();
        let (near, far) = switchboard_session::link::pair();
        let serving = tokio::spawn(async move { server.serve(far).await });
        let peer =
            switchboard_session::MuxLink::start(near, switchboard_session::ConnectionLimits::default());
        let dial = switchboard_session::link::SingleLink::new(peer);
        let session =
            switchboard_service::client::client().with_revisions(offer).connect(dial).await.unwrap();
        let api = TextsClient::new(session).with_fallback(Arc::new(Svc));
        use_texts(&api).await;
        api.caller().session().close().await;
        tokio::time::timeout(std::time::Duration::from_secs(120), serving).await.unwrap().unwrap();
    }
}

/// Counts calls per implementation.
#[derive(Debug, Default)]
pub struct Counting {
    pub mapped: AtomicUsize,
    pub unmapped: AtomicUsize,
}

impl Counting {
    pub fn counts(&self) -> (usize, usize) {
        (self.mapped.load(Ordering::SeqCst), self.unmapped.load(Ordering::SeqCst))
    }

    fn mapped(&self) {
        self.mapped.fetch_add(1, Ordering::SeqCst);
    }
}

impl Texts for Counting {
    async fn count(&self, text: String, most: Option<u32>) -> Result<Counted> {
        self.mapped();
        Svc.count(text, most).await
    }
    async fn spell(&self, cx: &Cx, events: Events<String>, text: String) -> Result<()> {
        self.mapped();
        Svc.spell(cx, events, text).await
    }
    async fn text(&self, id: String, nums: Vec<f64>) -> Result<String> {
        self.mapped();
        Svc.text(id, nums).await
    }
    async fn watch_text(&self, cx: &Cx, changed: Changes) -> Result<()> {
        self.mapped();
        Svc.watch_text(cx, changed).await
    }
    async fn review(&self, text: String) -> Result<PromptMessages> {
        self.mapped();
        Svc.review(text).await
    }
    async fn complete_text(&self, value: String) -> Result<Vec<String>> {
        self.mapped();
        Svc.complete_text(value).await
    }
    async fn reset(&self, all: bool) -> Result<u64> {
        self.unmapped.fetch_add(1, Ordering::SeqCst);
        Svc.reset(all).await
    }
}

#[tokio::test]
async fn mapped_methods_use_mcp_and_others_the_fallback() {
    for offer in ERAS {
        let (served, fallback) = (Arc::new(Counting::default()), Arc::new(Counting::default()));
        let server = TextsServer::builder(Arc::clone(&served)).build().unwrap();
        let session = sessions::session(&server, offer).await;
        let api = TextsClient::new(session).with_fallback(Arc::clone(&fallback));
        use_texts(&api).await;
        assert_eq!((served.counts(), fallback.counts()), ((5, 0), (0, 1)));
    }
}
