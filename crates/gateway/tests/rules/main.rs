//! Tests of the rules about calls: policy, limits, audit.

mod audit;
mod bypass;
mod decisions;
mod documents;
mod limits;
mod properties;
