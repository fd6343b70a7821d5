//! The fault rows F079 to F142: HTTP that misbehaves, on either side.
//!
//! Each row is one or more named tests; [`index`] is the table. A [`scripted_server`] misbehaves for our client; raw connections ([`raw`]) for our server.

mod scripted_server;

mod client;
mod streams;

mod raw;

mod accept;
mod crowd;
mod proxy;
mod server;
mod sessions;

mod index;
