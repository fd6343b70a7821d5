//! Rate limits with the clock of the runtime.

use std::sync::Arc;
use std::time::Duration;

use switchboard_gateway::limits::{MemoryLimitStore, Operation, RateLimiter};
use switchboard_gateway::policy::{Subject, Target};

const DOCUMENT: &str = r#"
default = "allow"
[[limit]]
name = "person"
rate = "600/min"
burst = 5
per = "principal"
[[limit]]
name = "writes"
operation = "call"
tool = "write_*"
rate = "1/s"
burst = 2
per = ["principal", "tool"]
[[limit]]
name = "lists"
operation = ["list", "discover"]
rate = "1/min"
per = "principal"
"#;

#[tokio::test(start_paused = true)]
async fn every_limit_of_a_request_is_checked() {
    let limiter = RateLimiter::parse(DOCUMENT).unwrap();
    let ada = Subject::new("ada");
    let write = Target::tool("files", "write_text");
    assert!(limiter.check(&ada, &Operation::Call(&write)).await.is_ok());
    assert!(limiter.check(&ada, &Operation::Call(&write)).await.is_ok());
    for _ in 0..20 {
        let refused = limiter.check(&ada, &Operation::Call(&write)).await.unwrap_err();
        assert_eq!((refused.limit.as_str(), refused.retry_after), ("writes", Duration::from_secs(1)));
    }
    let status = limiter.status();
    let counts: Vec<_> = status.iter().map(|limit| (&*limit.name, limit.refused)).collect();
    assert_eq!(counts, [("person", 0), ("writes", 20), ("lists", 0)]);
    assert_eq!(status[1].per, ["principal", "tool"]);
    // The refused calls cost nothing: three of five are left.
    let read = Target::tool("files", "read_text");
    for _ in 0..3 {
        assert!(limiter.check(&ada, &Operation::Call(&read)).await.is_ok());
    }
    let refused = limiter.check(&ada, &Operation::Call(&read)).await.unwrap_err();
    assert_eq!((refused.limit.as_str(), refused.retry_after), ("person", Duration::from_millis(100)));
    tokio::time::advance(refused.retry_after).await;
    assert!(limiter.check(&ada, &Operation::Call(&read)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_request_of_several_operations_is_charged_for_all_or_none() {
    let limiter = RateLimiter::parse(DOCUMENT).unwrap();
    let ada = Subject::new("ada");
    let (one, two) = (Target::tool("files", "write_one"), Target::tool("files", "write_two"));
    let (one, two) = (Operation::Call(&one), Operation::Call(&two));
    for _ in 0..10 {
        let refused = limiter.check_all(&ada, &[one, two, one, one]).await.unwrap_err();
        assert_eq!((refused.limit.as_str(), refused.largest), ("writes", Some(2)));
    }
    assert!(limiter.check_all(&ada, &[one, two, one]).await.is_ok());
    for _ in 0..10 {
        let refused = limiter.check_all(&ada, &[two, one]).await.unwrap_err();
        assert_eq!((refused.limit.as_str(), refused.largest), ("writes", None));
    }
    // One write of `two` is left, and one call of the five of the person after it.
    assert!(limiter.check(&ada, &two).await.is_ok());
    assert!(limiter.check(&ada, &Operation::Call(&Target::tool("files", "read"))).await.is_ok());
    let refused = limiter.check(&ada, &Operation::Call(&Target::tool("files", "read"))).await.unwrap_err();
    assert_eq!(refused.limit, "person");
    assert!(limiter.check_all(&ada, &[]).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn lists_and_discovery_share_a_limit_of_their_own() {
    let limiter = RateLimiter::parse(DOCUMENT).unwrap();
    let ada = Subject::new("ada");
    assert!(limiter.check(&ada, &Operation::List).await.is_ok());
    assert_eq!(limiter.check(&ada, &Operation::Discover).await.unwrap_err().limit, "lists");
    assert!(limiter.check(&Subject::new("bob"), &Operation::List).await.is_ok());
    let other = Subject::new("ada").with_issuer("https://a");
    assert!(limiter.check(&other, &Operation::List).await.is_ok(), "another issuer, another person");
    assert!(limiter.check(&Subject::anonymous(), &Operation::List).await.is_ok());
    assert!(
        limiter.check(&Subject::anonymous(), &Operation::List).await.is_err(),
        "anonymous callers share one bucket"
    );
}

#[tokio::test(start_paused = true)]
async fn tools_of_different_servers_have_different_buckets() {
    let limiter = RateLimiter::parse("default=\"allow\"\n[[limit]]\nrate = \"1/h\"\nper = \"tool\"").unwrap();
    let ada = Subject::new("ada");
    for (server, tool) in [("a", "x"), ("b", "x"), ("a", "y"), ("a\",\"x", "")] {
        assert!(limiter.check(&ada, &Operation::Call(&Target::tool(server, tool))).await.is_ok());
        assert!(limiter.check(&ada, &Operation::Call(&Target::tool(server, tool))).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_store_refuses_new_callers_and_a_reload_keeps_the_buckets() {
    let store = Arc::new(MemoryLimitStore::new(2));
    let limiter = RateLimiter::parse(
        "default=\"allow\"\n[[limit]]\nname = \"all\"\nrate = \"1/h\"\nper = \"principal\"",
    )
    .unwrap()
    .with_store(store);
    for name in ["ada", "bob"] {
        assert!(limiter.check(&Subject::new(name), &Operation::List).await.is_ok());
    }
    let refused = limiter.check(&Subject::new("eve"), &Operation::List).await.unwrap_err();
    assert_eq!((refused.limit.as_str(), refused.retry_after), ("tracked callers", Duration::from_secs(3600)));
    let reloaded = limiter
        .reload("default=\"deny\"\n[[limit]]\nname = \"all\"\nrate = \"1/h\"\nper = \"principal\"")
        .unwrap();
    assert!(reloaded.check(&Subject::new("ada"), &Operation::List).await.is_err());
}

#[test]
fn invalid_limits_are_explained() {
    for (text, expected) in [
        ("[[limit]]\nname = \"a\"", "line 1: limit 1 (a): `rate` is missing; write `rate = \"60/min\"`"),
        (
            "[[limit]]\nrate = \"60\"",
            "line 2: limit 1, rate: write a number of requests per s, min, h or day, like `60/min`",
        ),
        (
            "[[limit]]\nrate = \"0/s\"",
            "line 2: limit 1, rate: write a number of requests per s, min, h or day, like `60/min`",
        ),
        ("[[limit]]\nrate = \"1/s\"\nburst = 0", "line 3: limit 1, burst: must be a whole number from 1 on"),
        (
            "[[limit]]\nrate = \"1/s\"\nper = \"ip\"",
            "line 3: limit 1, per: `ip` is not known here; known are principal, server, tool, view",
        ),
        (
            "[[limit]]\nrate = \"1/s\"\noperations = \"list\"",
            "line 3: limit 1: `operations` is not known here; did you mean `operation`?",
        ),
    ] {
        assert_eq!(RateLimiter::parse(text).unwrap_err().to_string(), expected, "{text}");
    }
}
