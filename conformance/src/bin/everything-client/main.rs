//! The client that the official conformance suite judges, built on the public API alone.

fn main() {}
