//! Many servers at once: a desired set of servers goes in, one live catalogue of what they offer comes out.
//!
//! The way of a server: what a person wrote (`config::Entry`) becomes what will be run ([`config::Plan`]), which a
//! slot keeps running; what the slot's server lists goes into the catalogue; a call is resolved there, permitted, and
//! sent through the slot.

pub mod config;
pub mod permission;
pub mod registry;
