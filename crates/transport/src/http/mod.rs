//! What the HTTP bindings share: for now the headers that repeat what a request's body says.

pub mod header;
