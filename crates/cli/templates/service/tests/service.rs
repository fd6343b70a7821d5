//! Talks to the service in this process, through its typed client, in both eras of the protocol.
//!
//! Written once by `switchboard new`; it is yours.

use __crate__::in_memory::InMemory;
use __crate__::{__Trait__, __Trait__Client, __Trait__Server};
use switchboard::client::RevisionPolicy;
use switchboard::{Client, InProcess};

/// What must hold of the service, however it is reached.
async fn keeps_and_finds(api: &impl __Trait__) {
    let kept = api.add_note("Oslo is rainy".into(), vec!["weather".into()]).await.unwrap();
    assert_eq!(kept.id, 1);
    let found = api.find_notes("weather".into(), 10).await.unwrap();
    assert_eq!(found, std::slice::from_ref(&kept));
    assert_eq!(api.note(1).await.unwrap(), kept);
    let prompt = api.summarize("Oslo".into()).await.unwrap();
    assert_eq!(prompt.messages.len(), 1);
}

#[tokio::test]
async fn it_works_without_any_protocol() {
    keeps_and_finds(&InMemory::default()).await;
}

#[tokio::test]
async fn it_works_in_both_eras() {
    for offer in [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly] {
        let server = __Trait__Server::builder(InMemory::default()).build().unwrap();
        let session = Client::new().with_revisions(offer).connect(InProcess::new(&server)).await.unwrap();
        keeps_and_finds(&__Trait__Client::new(session.clone())).await;
        session.close().await;
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_come_back_with_a_way_to_repair_them() {
    let server = __Trait__Server::builder(InMemory::default()).build().unwrap();
    let session = Client::new().connect(InProcess::new(&server)).await.unwrap();
    let error = __Trait__Client::new(session).add_note(String::new(), vec![]).await.unwrap_err();
    let repair = error.repair().expect("arguments can be repaired");
    assert!(repair.prompt().contains("Oslo is rainy in October"));
}
