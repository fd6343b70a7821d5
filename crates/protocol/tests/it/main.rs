//! Integration tests of the message types: round trips, the surface table, lowering, the official examples.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod examples;
mod formats;
mod lists;
mod lowering;
mod round_trip;
mod slices;
mod surface;
