//! A read-only console refuses every request that changes something.

use crate::client::RunningConsole;

const API: &str = include_str!("../../page/API.md");

/// Returns the paths of the rows of the API that begin with this method, and whether they are marked **W**.
fn rows(method: &str) -> Vec<(String, bool)> {
    let mut rows: Vec<(String, bool)> = Vec::new();
    for line in API.lines().filter(|line| line.starts_with("| `")) {
        let cell = line.split('|').nth(1).unwrap();
        for part in cell.split(", ") {
            let path = part.split('`').nth(1).unwrap();
            let (found, path) = path.split_once(' ').unwrap_or((rows_method(cell), path));
            let path = match path.strip_prefix('…') {
                Some(end) => format!("/api/servers/{{name}}{end}"),
                None => path.split('?').next().unwrap().to_owned(),
            };
            if found == method {
                rows.push((path, part.contains("**W**")));
            }
        }
    }
    rows
}

fn rows_method(cell: &str) -> &str {
    cell.trim().trim_start_matches('`').split(' ').next().unwrap()
}

fn filled(path: &str) -> String {
    ["name", "call", "question", "frame", "attempt"]
        .iter()
        .fold(path.to_owned(), |path, name| path.replace(&format!("{{{name}}}"), "1"))
}

#[tokio::test]
async fn a_read_only_console_refuses_every_change() {
    for is_gateway in [false, true] {
        let configure = |builder: switchboard_console::ConsoleBuilder| match is_gateway {
            // A gateway is read-only, whatever is asked for.
            true => builder.gateway().read_only(false).allow_config_edit(true),
            false => builder.read_only(true),
        };
        let console = RunningConsole::start(configure).await;
        let key = console.key_header().await;
        let posts = rows("POST");
        assert!(posts.iter().filter(|(_, is_write)| *is_write).count() >= 15, "{posts:?}");
        for (path, is_write) in posts {
            let reply = console.post(&filled(&path), &key, "{}").await;
            assert_eq!(reply.status == 403, is_write, "{path}: {reply:?}");
            if is_write {
                reply.assert_error(403, "read_only");
            }
        }
        console.stop().await;
    }
}

#[tokio::test]
async fn every_row_of_the_api_has_a_route() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    for (path, _) in rows("POST") {
        // Without a body: only a route says so.
        let reply = console.post_as("text/plain", &filled(&path), &key, "").await;
        reply.assert_error(415, "content_type");
    }
    for (path, is_write) in rows("GET") {
        assert!(!is_write, "{path}");
        let address = console.address;
        let request =
            format!("PUT {} HTTP/1.1\r\nHost: {address}\r\n{key}Connection: close\r\n\r\n", filled(&path));
        let reply = console.send(request).await;
        reply.assert_error(405, "method_not_allowed");
        assert!(reply.header("allow").unwrap().contains("GET"), "{path}");
    }
    console.stop().await;
}
