//! Rate limits: token buckets by principal, server and tool, for calls, lists and discovery.
//!
//! 1. [`RateLimiter::parse`] reads the `[[limit]]` tables of a policy document.
//! 2. [`RateLimiter::check`] finds the buckets of a request and takes one token from each of them, or from none;
//!    [`RateLimiter::check_all`] does so for a request of several operations.
//! 3. A [`LimitStore`] keeps the buckets: [`MemoryLimitStore`] in this process; an engine that replicas share
//!    implements the same trait.
//!
//! **Invariants.** A request that one bucket refuses takes nothing from the others. A bucket is forgotten only when it
//! is full, so that no flood of keys refills it. When the store is full, requests with new keys are refused.
//!
//! Check after the policy allowed a call, and before it is sent: a denied call costs nothing.
//!
//! ```
//! use switchboard::gateway::limits::{Operation, RateLimiter};
//! use switchboard::gateway::policy::{Subject, Target};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
//! let limiter = RateLimiter::parse(r#"
//!     default = "allow"
//!     [[limit]]
//!     name = "calls"
//!     operation = "call"
//!     rate = "60/min"
//!     burst = 2
//!     per = ["principal", "tool"]
//! "#)?;
//! let (ada, target) = (Subject::new("ada"), Target::tool("files", "read"));
//! let call = Operation::Call(&target);
//! assert!(limiter.check(&ada, &call).await.is_ok());
//! assert!(limiter.check(&ada, &call).await.is_ok());
//! let refused = limiter.check(&ada, &call).await.unwrap_err();
//! assert_eq!(refused.retry_after.as_secs(), 1);
//! assert!(limiter.check(&Subject::new("bob"), &call).await.is_ok());
//! # Ok::<(), switchboard::gateway::policy::PolicyError>(()) }).unwrap();
//! ```

mod bucket;
mod error;
mod key;
mod limit_document;
mod limiter;
mod memory_limit_store;
mod store;

pub use bucket::BucketRate;
pub use error::RateLimited;
pub use key::BucketKey;
pub use limiter::{LimitStatus, Operation, RateLimiter};
pub use memory_limit_store::MemoryLimitStore;
pub use store::{BucketRequest, LimitStore, TakeOutcome};
