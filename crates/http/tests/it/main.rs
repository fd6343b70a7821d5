//! Real sockets on this machine: one file for each thing that can go wrong.

mod authorize;
mod body;
mod connect;
mod h2;
mod pool;
mod proxy;
mod redirect;
mod stage;
mod tls;
