//! One file per command: sends requests to the session or host, and prints the results.

mod accounts;
mod add;
mod added_login;
mod approve;
mod call;
mod catalog;
mod complete;
mod completions;
mod demo;
mod demo_session;
mod design;
mod doctor;
mod forget;
mod import;
mod info;
mod key;
mod list;
mod list_pages;
mod listen;
mod login;
mod login_target;
mod new;
mod prompt;
mod prompts;
mod ps;
mod quickstart;
mod read;
mod resources;
mod route;
mod run;
mod status;
mod status_logins;
mod status_watch;
mod tools;
mod why;

pub(crate) use run::run;
