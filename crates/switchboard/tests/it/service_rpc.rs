//! The plain endpoint of a service as the macro writes it: every method over one POST, beside MCP.

#![cfg(feature = "service-rpc")]
#![allow(clippy::unwrap_used, missing_docs, reason = "a test")]

use switchboard::Http;
use switchboard::client::RevisionPolicy;
use switchboard::server::{HttpListener, HttpServerOptions};
use switchboard::service::client::{self, StreamItem};
use switchboard::service::prelude::*;
use switchboard::service::rpc::CombinedService;

/// Words, and what to do with them.
#[service(name = "words", version = "1.0.0", rpc = "/rpc")]
pub trait Words {
    /// Counts words.
    #[tool(read_only)]
    async fn count(&self, text: String, #[schemars(range(min = 1))] most: Option<u32>) -> Result<u32>;
    /// Says each word.
    #[tool]
    async fn say(&self, cx: &Cx, events: Events<String>, text: String) -> Result<u32>;
    /// One word.
    #[resource(uri = "word://{id}")]
    async fn word(&self, id: String, times: Vec<u32>) -> Result<String>;
    /// Asks for a poem.
    #[prompt]
    async fn poem(&self, about: String) -> Result<PromptMessages>;
    /// Forgets all words.
    async fn forget(&self, all: bool) -> Result<u64>;
    /// The program's own.
    #[internal]
    async fn flush(&self) -> Result<()>;
}

struct Svc;

impl Words for Svc {
    async fn count(&self, text: String, most: Option<u32>) -> Result<u32> {
        let words = u32::try_from(text.split_whitespace().count())?;
        Ok(most.map_or(words, |most| most.min(words)))
    }
    async fn say(&self, _: &Cx, events: Events<String>, text: String) -> Result<u32> {
        for word in text.split_whitespace() {
            events.send(word.to_owned()).await?;
        }
        self.count(text, None).await
    }
    async fn word(&self, id: String, times: Vec<u32>) -> Result<String> {
        Ok(format!("{id}{times:?}"))
    }
    async fn poem(&self, about: String) -> Result<PromptMessages> {
        Ok(PromptMessages::user(format!("A poem about {about}")))
    }
    async fn forget(&self, all: bool) -> Result<u64> {
        Ok(u64::from(all))
    }
    async fn flush(&self) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a2_a_client_without_a_fallback_calls_all_that_is_mapped() {
    let words = WordsClient::new(WordsServer::builder(Svc).connect().await.unwrap());
    assert_eq!(words.count("two words".into(), None).await.unwrap(), 2);
    assert_eq!(words.word("x".into(), vec![]).await.unwrap(), "x[]");
    for (method, error) in
        [("forget", words.forget(true).await.unwrap_err()), ("flush", words.flush().await.unwrap_err())]
    {
        assert!(matches!(&error, Error::Unmapped { method: told } if told == method), "{error:?}");
        assert!(error.to_string().contains("with_fallback"), "{error}");
    }
}

async fn use_words(words: &impl Words) {
    assert_eq!(words.count("two words".into(), None).await.unwrap(), 2);
    let (events, mut heard) = Events::channel(16);
    assert_eq!(words.say(&Cx::call().build(), events, "a b".into()).await.unwrap(), 2);
    assert_eq!(heard.recv().await.unwrap().unwrap(), "a");
    assert_eq!(heard.recv().await.unwrap().unwrap(), "b");
    assert_eq!(words.word("x/y".into(), vec![1, 2]).await.unwrap(), "x/y[1, 2]");
    assert_eq!(words.poem("rain".into()).await.unwrap(), PromptMessages::user("A poem about rain"));
    assert_eq!(words.forget(true).await.unwrap(), 1);
    let error = words.count("a".into(), Some(0)).await;
    // The service itself has no schema to check by; whoever is called over a wire has.
    assert!(error.is_err() || error.is_ok_and(|count| count == 0));
}

#[tokio::test]
async fn a_service_is_the_same_over_both_endpoints_of_one_listener() {
    use_words(&Svc).await;
    let both =
        CombinedService::from_builder(&WordsServer::builder(Svc), HttpServerOptions::default()).unwrap();
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let base = format!("http://{}", listener.address().unwrap());
    let serving = tokio::spawn(listener.serve(both));

    let plain = WordsRpcClient::new(&format!("{base}/rpc")).unwrap();
    use_words(&plain).await;
    let unfit = plain.count("a".into(), Some(0)).await.unwrap_err();
    assert!(unfit.repair().unwrap().prompt().starts_with("\nOperation: tools/call:count\n"));

    for offer in [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly] {
        let there = Http::new(format!("{base}/mcp"));
        let session = client::client().with_revisions(offer).connect(there).await.unwrap();
        let words = WordsClient::new(session).with_fallback(plain.clone());
        use_words(&words).await;
        let unfit = words.count("a".into(), Some(0)).await.unwrap_err();
        assert!(unfit.repair().unwrap().prompt().starts_with("\nOperation: tools/call:count\n"));
        let mut stream = words.say_stream(&Cx::call().build(), "a b".into());
        let mut items = Vec::new();
        while let Some(item) = stream.next().await {
            items.push(item.unwrap());
        }
        assert_eq!(
            items,
            [StreamItem::Event("a".to_owned()), StreamItem::Event("b".to_owned()), StreamItem::Result(2)]
        );
    }
    serving.abort();
}
