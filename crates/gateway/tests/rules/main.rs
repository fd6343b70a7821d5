//! Tests of the rules about calls: policy, limits, audit.

mod bypass;
mod decisions;
mod documents;
mod properties;
