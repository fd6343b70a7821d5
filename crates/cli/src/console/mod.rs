//! The console of the command: a host that keeps running, what the console is given, and the way to the browser.
//!
//! ```text
//!   files, command line ─▶ console_host ─▶ host ◀── switchboard_console ◀── page in the browser
//!                              ▲                        │
//!                              └── providers ◀──────────┘   logins, doctor, config_editor, call_rules; gateway_*
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `console_host` | the host: selection of servers, changed files, pins |
//! | `known_servers` | the servers as they are applied, and which identity reaches each |
//! | `gateway_state`, `gateway_rules`, `gateway_entries`, `audit_search` | the read-only console of a gateway |
//! | `demo_servers` | the servers that a first run offers |
//! | `login_attempt`, `stored_login_rows` | logins |
//! | `page_opener`, `redirect_file` | the way to the page without a token in an argument list |

mod audit_search;
mod call_rules;
mod config_editor;
mod console_host;
mod console_logins;
mod console_server;
mod demo_servers;
mod doctor_runs;
mod gateway_console;
mod gateway_entries;
mod gateway_rules;
mod gateway_state;
mod identity;
mod known_servers;
mod login_attempt;
mod page_opener;
mod redirect_file;
mod run;
mod stored_login_rows;
mod traffic_fan_out;

pub(crate) use gateway_console::{GatewayConsole, ShownGateway};
pub(crate) use known_servers::KnownServers;
pub(crate) use run::run;
