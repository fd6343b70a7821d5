//! Logins: our client and our resource server with authorization servers that others wrote, and clients that others wrote
//! with our resource server.
//!
//! | file | contents |
//! |---|---|
//! | `authorization_server` | oidc-provider and oauth2-mock-server, started for one test |
//! | `notes_service` | a service of ours with scoped tools, protected by a resource server |
//! | `document_host` | the host of a client's metadata document |
//! | `user` | a user of the command line with a home directory of their own, and their browser |
//! | `scripted_login` | a login of the library whose browser is a program |
//! | `command_line` | `switchboard login`, `call` and `logout` with oidc-provider |
//! | `library` | step-up and bound tokens with oidc-provider |
//! | `falsified` | answers that oauth2-mock-server gets wrong |
//! | `sdk_clients` | clients written with the SDKs of others log in to our service |

mod authorization_server;
mod command_line;
mod document_host;
mod falsified;
mod library;
mod notes_service;
mod scripted_login;
mod sdk_clients;
mod user;

pub(crate) use user::User;

use crate::interop::Test;

/// Returns the tests of every file.
pub(crate) fn tests() -> Vec<Test> {
    [command_line::TESTS, library::TESTS, falsified::TESTS, sdk_clients::TESTS].concat()
}
