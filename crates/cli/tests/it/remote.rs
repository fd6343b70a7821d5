//! Servers at a URL: every command, sessions, headers and errors.

use std::net::TcpListener;

use switchboard_testkit::{ReservedPort, RunningCommand, run_command};

use crate::commands::{SWITCHBOARD, run, switchboard};
use crate::revisions::{REVISIONS, asks, works};
use crate::servers::{FakeHttpServer, HttpDemo};

#[test]
fn every_command_works_with_a_url_in_every_revision() {
    let web = HttpDemo::start(&[]);
    for revision in REVISIONS {
        works(revision, |args| web.run(args));
        asks(revision, |args| web.run(&[args, &["--transport", "http"]].concat()));
    }
    assert_eq!(web.stop(), Some(0));
}

#[test]
fn every_command_works_over_http_sse() {
    let web = HttpDemo::start(&["--sse"]);
    let sse = web.sse();
    for revision in REVISIONS {
        works(revision, |args| run(&[args, &["--transport", "sse", "--url", &sse]].concat()));
        asks(revision, |args| run(&[args, &["--transport", "sse", "--url", &sse]].concat()));
    }
    assert_eq!(run(&["call", "echo", "text=x", "--url", &sse]).out, "x\n");
    assert_eq!(web.stop(), Some(0));
}

#[test]
fn info_prints_the_handshake_result_unchanged() {
    let web = HttpDemo::start(&[]);
    let modern = web.run(&["info", "--json"]).json();
    assert!(modern["supportedVersions"].is_array(), "{modern}");
    let legacy = web.run(&["info", "--json", "--revision", "2025-06-18"]).json();
    assert_eq!(legacy["protocolVersion"], "2025-06-18", "{legacy}");
}

#[test]
fn changes_by_other_clients_are_received() {
    let web = HttpDemo::start(&["--sse"]);
    let sse = web.sse();
    for args in [
        &["--revision", "2026-07-28", "--url", &web.url][..],
        &["--revision", "2025-11-25", "--url", &web.url],
        &["--transport", "sse", "--url", &sse],
    ] {
        // The subscription is a request, and requests wait for the stream: it is open when listening is said.
        let listen = [&["listen", "--tools", "--resource", "demo://menu", "--count", "1"], args].concat();
        let mut listening = RunningCommand::start(switchboard(listen));
        listening.err.wait_for("listening for changes of tools", 0);
        assert_eq!(web.run(&["call", "toggle_surprise"]).code, 0);
        assert_eq!(listening.wait().code(), Some(0), "{args:?}");
        assert_eq!(listening.out.all(), "the list of tools has changed\n", "{args:?}");
    }
}

#[test]
fn ctrl_c_cancels_a_call_and_exits_with_130() {
    let web = HttpDemo::start(&["--sse"]);
    let sse = web.sse();
    for args in [
        &["--revision", "2026-07-28", "--url", &web.url][..],
        &["--revision", "2025-11-25", "--url", &web.url],
        &["--transport", "sse", "--url", &sse],
    ] {
        let call = [&["call", "countdown", "from=1000", "interval_ms=100", "--trace"], args].concat();
        let mut running = RunningCommand::start(switchboard(call));
        let at = running.err.wait_for("notifications/progress", 0);
        running.interrupt();
        running.err.wait_for("was cancelled)", at);
        assert_eq!(running.wait().code(), Some(130), "{args:?}");
    }
    // Nothing is left to wait for.
    assert_eq!(web.stop(), Some(0));
}

#[test]
fn listen_reopens_an_expired_session() {
    let web = HttpDemo::start(&[]);
    let (url, address) = (web.url.clone(), web.address());
    // The subscription is a request, and requests wait for the stream: it is open when this is said.
    let listen = ["listen", "--tools", "--resource", "demo://menu", "--count", "1", "--url", &url];
    let mut listening =
        RunningCommand::start(switchboard([&listen[..], &["--revision", "2025-11-25"]].concat()));
    listening.err.wait_for("listening for changes of tools", 0);
    drop(web);
    let _again = HttpDemo::start_at(&address, &[]);
    // Everything may have changed in the meantime.
    assert_eq!(listening.wait().code(), Some(0));
    assert_eq!(listening.out.all(), "the list of tools has changed\n");
}

#[test]
fn a_call_in_an_expired_session_exits_with_4_and_is_not_retried() {
    let web = HttpDemo::start(&[]);
    let (url, address) = (web.url.clone(), web.address());
    let call = [
        "call",
        "countdown",
        "from=1000",
        "interval_ms=100",
        "--trace",
        "--json",
        "--revision",
        "2025-11-25",
    ];
    let mut calling = RunningCommand::start(switchboard([&call[..], &["--url", &url]].concat()));
    calling.err.wait_for("notifications/progress", 0);
    drop(web);
    let _again = HttpDemo::start_at(&address, &[]);
    assert_eq!(calling.wait().code(), Some(4));
    let said = calling.err.all();
    assert!(said.contains("\"kind\":\"session_expired\""), "{said}");
    assert_eq!(said.matches("\"method\":\"tools/call\"").count(), 1, "{said}");
}

#[test]
fn headers_are_sent_and_never_shown() {
    let fake = FakeHttpServer::start("401 Unauthorized", "");
    let mut command = switchboard(["tools", "--trace", "-v", "--url", &fake.url]);
    command.args(["--header", "X-One: hunter2-one", "--header", "X-Two: hunter2-two"]);
    command.args(["--bearer-env", "THE_TOKEN"]).env("THE_TOKEN", "hunter2-token\n");
    command.args(["--header-helper", r#"echo '{"X-Two": "hunter2-fresh", "X-Three": "hunter2-three"}'"#]);
    let mut running = RunningCommand::start(command);
    assert_eq!(running.wait().code(), Some(3));
    assert!(!running.err.all().contains("hunter2"), "{}", running.err.all());
    let asked = fake.requests().to_ascii_lowercase();
    for sent in [
        "x-one: hunter2-one",
        "x-two: hunter2-fresh",
        "x-three: hunter2-three",
        "authorization: bearer hunter2-token",
    ] {
        assert!(asked.contains(sent), "{sent} {asked}");
    }
    assert!(!asked.contains("hunter2-two"), "{asked}");
}

#[test]
fn c12_variables_are_expanded_in_urls_and_headers() {
    let fake = FakeHttpServer::start("401 Unauthorized", "");
    let host = fake.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let address = "http://${MCP_HOST}/${MCP_PATH:-mcp}?key=${MCP_KEY}";
    for command in
        [&["tools", "--trace", "-v", "--url", address][..], &["doctor", address], &["info", address]]
    {
        let mut command = switchboard(command);
        command.args([
            "-H",
            "X-Plain: ${MCP_PATH:-none} $HOME",
            "--header",
            "Authorization: Bearer ${MCP_TOKEN}",
        ]);
        command.env("MCP_HOST", &host).env("MCP_KEY", "hunter2-key").env("MCP_TOKEN", "hunter2-token");
        let mut running = RunningCommand::start(command);
        assert_eq!(running.wait().code(), Some(3), "{}", running.err.all());
        let said = running.out.all() + &running.err.all();
        assert!(!said.contains("hunter2"), "{said}");
    }
    let asked = fake.requests();
    let lower = asked.to_ascii_lowercase();
    for sent in
        ["POST /mcp?key=hunter2-key HTTP/1.1", "X-Plain: none $HOME", "Authorization: Bearer hunter2-token"]
    {
        assert!(lower.contains(&sent.to_ascii_lowercase()), "{sent} {asked}");
    }
}

#[test]
fn c12_expanded_values_are_masked_in_the_trace() {
    let web = HttpDemo::start(&[]);
    let trace = ["call", "echo", "text=hunter2", "--trace"];
    let (remote, local) = (switchboard(trace), switchboard(trace));
    for (mut command, options) in [
        (remote, &["--url", "${MCP_URL}", "-H", "X-Key: ${MCP_SECRET}"][..]),
        (local, &["--env", "KEY=${MCP_SECRET}", "--", SWITCHBOARD, "demo-server"]),
    ] {
        command.args(options).env("MCP_URL", &web.url).env("MCP_SECRET", "hunter2");
        let ran = run_command(command, "");
        assert_eq!((ran.code, ran.out.as_str()), (0, "hunter2\n"), "{}", ran.err);
        assert!(ran.err.contains("\"method\":\"tools/call\"") && ran.err.contains("•••"), "{}", ran.err);
        assert!(!ran.err.contains("hunter2"), "{}", ran.err);
    }
}

#[test]
fn c12_an_unset_variable_is_named_and_no_request_is_sent() {
    let fake = FakeHttpServer::start("200 OK", "");
    let url = |end: &str| format!("{}{end}", fake.url);
    for (args, message) in [
        (
            ["--url", &url("/${NOT_SET_ANYWHERE}"), "-H", "X: y"],
            "--url: the variable NOT_SET_ANYWHERE is not set",
        ),
        (
            ["--url", &url(""), "-H", "X-Key: ${NOT_SET_ANYWHERE}"],
            "--header X-Key: the variable NOT_SET_ANYWHERE is",
        ),
        (["--url", &url(""), "-H", "X-Key: ${hunter2 x}"], "is not a reference to a variable"),
        (["--url", &url(""), "-H", "${HOME}: y"], "not a valid header name"),
    ] {
        let ran = run(&[&["tools"], &args[..]].concat());
        assert!(ran.code == 2 && ran.err.contains(message), "{}", ran.err);
    }
    assert_eq!(fake.requests(), "");
    // An invalid expanded value may be secret, too.
    for wrong in ["${MCP_SECRET}", "http://${MCP_SECRET}", "${MCP_SECRET}://x", "http://x:${MCP_SECRET}/mcp"]
    {
        let mut command = switchboard(["tools", "--url", wrong, "-H", "X: ${MCP_SECRET}"]);
        command.env("MCP_SECRET", "hunter2 \"");
        let ran = run_command(command, "");
        assert!(ran.code == 2 && !ran.err.contains("hunter2"), "{}", ran.err);
    }
    let mut command = switchboard(["tools", "--url", &fake.url, "-H", "X: ${MCP_SECRET}"]);
    command.env("MCP_SECRET", "hunter2\nX-Other: y");
    let ran = run_command(command, "");
    assert!(ran.code == 2 && !ran.err.contains("hunter2"), "{}", ran.err);
}

#[test]
fn the_value_of_a_header_is_masked_in_the_trace() {
    let web = HttpDemo::start(&[]);
    let ran =
        web.run(&["call", "echo", "text=hunter2", "--trace", "--header", "Authorization: Bearer hunter2"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "hunter2\n"));
    assert!(ran.err.contains("\"method\":\"tools/call\"") && ran.err.contains("•••"), "{}", ran.err);
    assert!(!ran.err.contains("hunter2"), "{}", ran.err);
}

#[test]
fn a_failing_header_helper_is_reported_and_no_request_is_sent() {
    let fake = FakeHttpServer::start("401 Unauthorized", "");
    for (helper, message) in [
        ("echo no ticket >&2; echo hunter2; exit 3", "exit status: 3"),
        ("echo hunter2", "not a JSON object"),
        (r#"echo '{"X": 4711}'"#, "not a string"),
        (r#"echo '{"Host": "hunter2"}'"#, "host is set by the transport"),
        ("exec /nonexistent/helper", "exit status: 127"),
    ] {
        let ran = fake.run(&["tools", "--header-helper", helper]);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(
            ran.err.starts_with("error: the header helper failed: ") && ran.err.contains(message),
            "{}",
            ran.err
        );
        assert!(!ran.err.contains("hunter2") && !ran.err.contains("4711"), "{}", ran.err);
        let json = fake.run(&["tools", "--json", "--header-helper", helper]);
        assert_eq!(json.error()["kind"], "header_helper");
    }
    let ran = fake.run(&["tools", "--header-helper", "echo no ticket >&2; exit 1"]);
    assert!(ran.err.contains("│ no ticket\n"), "{}", ran.err);
    assert_eq!(fake.requests(), "");
}

#[test]
fn ctrl_c_kills_a_header_helper() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("started");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let helper = format!("sleep 600 & echo $! > {}; wait", fifo.display());
    let mut running = RunningCommand::start(switchboard([
        "tools",
        "--url",
        "http://127.0.0.1:1/",
        "--header-helper",
        &helper,
    ]));
    let child: i32 = std::fs::read_to_string(&fifo).unwrap().trim().parse().unwrap();
    running.interrupt();
    assert_eq!(running.wait().code(), Some(130));
    assert!(switchboard_testkit::exits_in_time(rustix::process::Pid::from_raw(child).unwrap()));
}

#[test]
fn required_authentication_exits_with_3() {
    let challenge = "401 Unauthorized\r\nwww-authenticate: Bearer error=\"invalid_token\", \
                     error_description=\"the token has expired\", scope=\"tools\", \
                     resource_metadata=\"https://login.example/meta\"";
    let fake = FakeHttpServer::start(challenge, "");
    for way in ["auto", "http", "sse"] {
        let ran = fake.run(&["tools", "--transport", way]);
        assert_eq!(ran.code, 3, "{way} {}", ran.err);
        assert!(ran.err.contains("wants a login (status 401): the token has expired\n"), "{way} {}", ran.err);
        assert!(ran.err.contains("or send credentials: --bearer-env"), "{}", ran.err);
        assert!(
            ran.err.contains("required scope: tools; how to get them: https://login.example/meta"),
            "{}",
            ran.err
        );
        let json = fake.run(&["tools", "--json", "--transport", way]).error();
        assert_eq!((&json["kind"], &json["status"]), (&"authentication".into(), &401.into()));
    }
    let ran = FakeHttpServer::start("403 Forbidden", "").run(&["tools"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("hint: the credentials are not sufficient"), "{}", ran.err);
}

#[test]
fn a_url_without_an_endpoint_exits_with_4_and_a_hint() {
    for (head, body, kind, hint) in [
        ("404 Not Found", "nothing here", "refused", "check the URL path: most servers use /mcp"),
        ("405 Method Not Allowed", "", "refused", "check the URL path"),
        ("200 OK\r\ncontent-type: text/html", "<html>", "refused", "check the URL path"),
        ("302 Found\r\nlocation: https://login.example/", "", "refused", "use the URL it redirects to"),
        (
            "429 Too Many Requests\r\nretry-after: 0",
            "",
            "rate_limited",
            "nothing was executed; try again later",
        ),
    ] {
        let fake = FakeHttpServer::start(head, body);
        let ran = fake.run(&["tools"]);
        assert_eq!(ran.code, 4, "{head} {}", ran.err);
        assert!(ran.err.contains(&format!("hint: {hint}")), "{head} {}", ran.err);
        let json = fake.run(&["tools", "--json"]);
        assert_eq!((json.code, &json.error()["kind"]), (4, &kind.into()), "{head}");
    }
    let web = HttpDemo::start(&[]);
    let ran = run(&["tools", "--url", &web.url.replace("/mcp", "/other")]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("hint: check the URL path"), "{}", ran.err);
}

#[test]
fn an_unreachable_server_exits_with_4() {
    let port = ReservedPort::new();
    let free = port.address();
    for way in ["auto", "http", "sse"] {
        let ran = run(&["tools", "--transport", way, "--url", &format!("http://{free}/mcp")]);
        assert_eq!(ran.code, 4, "{way} {}", ran.err);
        assert!(
            ran.err.contains("connection refused\nhint: start the server, or check the port"),
            "{way} {}",
            ran.err
        );
    }
    let json = run(&["tools", "--json", "--url", &format!("http://{free}/mcp")]);
    assert_eq!(json.error()["kind"], "unreachable");
    let plain = FakeHttpServer::start("200 OK", "");
    let ran = run(&["tools", "--url", &plain.url.replace("http://", "https://")]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("check that the server speaks https"), "{}", ran.err);
}

#[test]
fn an_unresponsive_http_server_exits_with_4_after_the_timeout() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let ran = run(&["tools", "--timeout", "0.5", "--url", &url]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("no answer within 500ms (while starting)"), "{}", ran.err);
}

#[test]
fn an_invalid_url_or_header_exits_with_2_and_shows_no_secret() {
    const URL: [&str; 2] = ["--url", "http://127.0.0.1:1/mcp"];
    let with = |args: &[&'static str]| [&["tools"], &URL[..], args].concat();
    let cases: Vec<Vec<&str>> = vec![
        vec!["tools", "--url", "example.com/mcp"],
        vec!["tools", "--url", "ftp://example.com/mcp"],
        vec!["tools", "--url", "http://"],
        vec!["tools", "--url", "https://me:hunter2@example.com/"],
        vec!["tools", "--url", "https://example.com/#part"],
        vec!["tools", "--url", "http://127.0.0.1:99999/"],
        vec!["tools", "--header", "A: hunter2", "--", "/nonexistent"],
        vec!["tools", "--bearer-env", "HOME", "--", "/nonexistent"],
        vec!["tools", "--transport", "sse", "--", "/nonexistent"],
        with(&["--", "/nonexistent"]),
        with(&["--env", "A=1"]),
        with(&["--cwd", "/"]),
        with(&["--transport", "pigeon"]),
        with(&["--header", "hunter2"]),
        with(&["--header", "A B: hunter2"]),
        with(&["--header", "Host: hunter2"]),
        with(&["--header", "Mcp-Session-Id: hunter2"]),
        with(&["--bearer-env", "NO_SUCH_VARIABLE"]),
        with(&["--bearer-env", "PATH", "--header", "Authorization: hunter2"]),
    ];
    for args in cases {
        let ran = run(&args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?} {}", ran.err);
        assert!(!ran.err.contains("hunter2"), "{args:?} {}", ran.err);
        let json = run(&[&args[..1], &["--json"], &args[1..]].concat());
        assert_eq!((json.code, &json.error()["kind"]), (2, &"usage".into()), "{args:?}");
    }
}

#[test]
fn plain_http_to_other_machines_must_be_allowed() {
    let ran = run(&["tools", "--url", "http://mcp.example/mcp"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("would send everything in the open"), "{}", ran.err);
    assert!(ran.err.contains("hint: use https, or pass --allow-http"), "{}", ran.err);
    // A local address that is not loopback; whether anything listens there does not matter.
    let free = TcpListener::bind("0.0.0.0:0").unwrap().local_addr().unwrap();
    let ran = run(&["tools", "--allow-http", "--url", &format!("http://{free}/mcp"), "--timeout", "1"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
}
