//! Designs and forms at a terminal: what command lines of services and the `switchboard` command have in common.
//!
//! Not part of the public promise of this crate: it is here so that the command needs no server.

pub mod field;
pub mod listing;
pub mod sanitize;
pub mod web_host;
