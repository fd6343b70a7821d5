//! A server without a trait: `#[server]` on the methods of a type.
#![cfg(feature = "service-client")]

use std::sync::atomic::{AtomicU32, Ordering};

use switchboard::service::prelude::*;
use switchboard::{Client, InProcess};

struct Counter {
    count: AtomicU32,
}

/// Counts.
///
/// Start at nothing.
#[server(version = "2.0.0")]
impl Counter {
    const STEP: u32 = 1;

    fn new() -> Self {
        Self { count: AtomicU32::new(0) }
    }

    /// Counts up.
    #[tool(name = "count_up")]
    async fn up(&self, #[arg(default = 1)] mut by: u32) -> Result<u32> {
        by *= Self::STEP;
        Ok(self.count.fetch_add(by, Ordering::SeqCst) + by)
    }

    /// Tells whether this is a thread for work that holds it.
    #[tool]
    fn hold(&self) -> Result<bool> {
        Ok(std::thread::current().name().is_some_and(|name| name.starts_with("tokio")))
    }

    /// What was counted.
    #[resource("count://now", watch)]
    async fn now(&self) -> Result<u32> {
        Ok(self.count.load(Ordering::SeqCst))
    }

    /// It was counted.
    #[notification]
    fn counted(count: u32);
}

#[test]
fn the_service_is_called_after_the_type() {
    let design = CounterApiServer::design();
    assert_eq!((design.name.as_str(), design.version.as_str()), ("counter", "2.0.0"));
    assert_eq!(design.instructions.as_deref(), Some("Start at nothing."));
    assert_eq!(design.notifications[0].name, "counted");
}

#[tokio::test]
async fn its_methods_are_called_like_those_of_a_trait() {
    let server = Counter::new().builder().build().unwrap();
    let session = Client::new().connect(InProcess::new(&server)).await.unwrap();
    let counter = CounterApiClient::new(session);
    assert_eq!(counter.up(2).await.unwrap(), 2);
    assert_eq!(counter.up(1).await.unwrap(), 3);
    assert!(counter.hold().await.unwrap(), "what is not async holds a thread of its own");
}

struct Kept<T>(T);

/// Keeps a text.
#[server(name = "kept", version = "1.0.0")]
impl<T: AsRef<str> + Send + Sync + 'static> Kept<T> {
    /// Gives it back.
    #[tool]
    async fn text(&self) -> Result<String> {
        Ok(self.0.as_ref().to_owned())
    }
}

#[tokio::test]
async fn a_type_with_parameters_can_be_a_server() {
    let server = Kept("hello").builder().build().unwrap();
    let session = Client::new().connect(InProcess::new(&server)).await.unwrap();
    assert_eq!(KeptApiClient::new(session).text().await.unwrap(), "hello");
}
