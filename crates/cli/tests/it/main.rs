//! The `switchboard` command through its real binary: with its own demo server and with misbehaving servers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accounts;
mod commands;
mod concurrency;
mod configuration;
mod configured_logins;
mod console;
mod console_add;
mod console_client;
mod console_gateway;
mod console_logins;
mod definitions;
mod device_login;
mod doctor;
mod elicitation;
mod errors;
mod gateway;
mod gateway_access;
mod gateway_callers;
mod gateway_config;
mod gateway_example;
mod gateway_listeners;
mod gateway_program;
mod gateway_shutdown;
mod gateway_views;
mod home;
mod json;
mod keys;
mod login;
mod login_canary;
mod login_diagnosis;
mod login_steps;
mod plan;
mod policy;
mod recordings;
mod remote;
mod results;
mod revisions;
mod route;
mod scaffold;
mod serve;
mod servers;
mod services;
mod shutdown;
mod status;
mod targets;
#[cfg(feature = "otel")]
mod telemetry;
mod terminal;
mod text_output;
mod untrusted_text;
