//! The façade as its users see it: services from traits, both eras over HTTP, and HTTP that misbehaves.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub, reason = "tests")]

mod derives;
mod door;
mod http;
mod http_faults;
mod limits;
mod nested_arguments;
mod own_server;
mod service;
mod service_rpc;
mod service_running;
mod service_shapes;
