//! The protocol's words, tested from outside: round trips, the table of methods, lowering, the official examples.

mod examples;
mod lists;
mod lowering;
mod round_trip;
mod surface;
