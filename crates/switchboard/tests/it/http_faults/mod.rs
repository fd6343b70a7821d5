//! The fault rows F079 to F142: HTTP that misbehaves, on either side.
//!
//! Each row is one or more named tests; [`index`] is the table. A server in the test's own hands ([`stage`]) plays the
//! far side for our client; raw connections ([`raw`]) play it for our server.

mod stage;

mod client;
mod streams;

mod raw;

mod accept;
mod crowd;
mod proxy;
mod server;
mod sessions;

mod index;
