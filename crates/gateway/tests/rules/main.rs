//! Tests of the rules about calls: policy, limits, audit.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in a helper")]

mod audit;
mod bypass;
mod decisions;
mod documents;
mod limits;
mod properties;
mod views;
