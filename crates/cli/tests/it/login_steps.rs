//! Steps of a login that several tests take.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use serde_json::Value;
use switchboard_testkit::RunningCommand;

use crate::home::Home;

/// Requests a URL and returns the head of the response, as a browser without cookies would.
pub(crate) fn get(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    // The script keeps its connections open.
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// Opens the login page of a running command and returns the address to which it redirects.
pub(crate) fn visit_login_page(login: &RunningCommand) -> String {
    let url = login.err.line_after("Open this page:\n\n  ");
    let head = get(&url);
    head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().to_owned()
}

/// Returns a command that finds no browser to open.
pub(crate) fn without_browser(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(args);
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "WSL_INTEROP", "VSCODE_IPC_HOOK_CLI"] {
        command.env_remove(name);
    }
    command
}

/// Lets all stored tokens expire: they were obtained two hours earlier than before.
pub(crate) fn expire_tokens(home: &Home) {
    fn age(value: &mut Value) {
        match value {
            Value::Array(all) => all.iter_mut().for_each(age),
            Value::Object(members) => {
                for (name, value) in members {
                    match name.as_str() {
                        "expires_at" | "obtained_at" => {
                            let seconds = value["secs_since_epoch"].as_u64().unwrap();
                            value["secs_since_epoch"] = (seconds - 7200).into();
                        }
                        _ => age(value),
                    }
                }
            }
            _ => {}
        }
    }
    let path = home.at("state/switchboard/auth/grants.json");
    let mut store: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let before = store.clone();
    age(&mut store);
    assert_ne!(store, before);
    std::fs::write(path, store.to_string()).unwrap();
}

/// Logs in with the callback on a loopback port.
pub(crate) fn log_in(home: &Home, server: &str) -> RunningCommand {
    let mut login = RunningCommand::start(without_browser(home, &["login", server]));
    let callback = visit_login_page(&login);
    assert!(get(&callback).starts_with("HTTP/1.1 200 OK"));
    assert_eq!(login.wait().code(), Some(0), "{}", login.err.all());
    login
}
