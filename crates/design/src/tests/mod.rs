//! Tests of the crate as a whole, and the designs that other tests use.

mod random;
pub(crate) mod sample;
