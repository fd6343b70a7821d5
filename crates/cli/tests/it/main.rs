//! The `switchboard` command through its real binary: against its own demo server, and against servers that misbehave.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod address;
mod asking;
mod concurrency;
mod configuration;
mod definitions;
mod doctor;
mod eras;
mod failures;
mod home;
mod hostile;
mod json;
mod people;
mod results;
mod routed;
mod scaffold;
mod serve;
mod services;
mod stage;
mod status;
mod stop;
mod targets;
#[cfg(feature = "otel")]
mod telemetry;
mod terminal;
