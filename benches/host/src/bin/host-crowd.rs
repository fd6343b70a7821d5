//! Fifty servers at once, five of them broken: how long until every healthy one is connected, beside how long the
//! slowest of them takes alone.

use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use bench_host::{Figures, http, run, stdio};
use bench_kit::Fail;
use switchboard::Host;
use switchboard::host::ServerSpec;
use switchboard::host::StatusKind;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

const STDIO: usize = 25;
const HTTP: usize = 20;
/// How long the one that hangs may take.
const DEADLINE: Duration = Duration::from_secs(4);

fn main() -> ExitCode {
    switchboard::run_supervisor_if_requested();
    run(|| async {
        let program = std::env::args().nth(1).ok_or("the program of a server must be given")?;
        let (mut web, url) = serve(&program).await?;
        let here = |name: &str| (name.to_owned(), stdio(&program, &["--stdio".to_owned()]));
        let there = |name: &str| (name.to_owned(), http(&url));
        let mut alone = Duration::ZERO;
        for server in [here("alone"), there("alone")] {
            let start = Instant::now();
            let host = Host::builder().build();
            let set = host.set_servers([server]).await;
            alone = alone.max(start.elapsed());
            host.close().await;
            if !set.errors.is_empty() {
                return Err(format!("{:?}", set.errors).into());
            }
        }
        let mut crowd: Vec<(String, ServerSpec)> = Vec::new();
        crowd.extend(broken(refuse().await?));
        crowd.extend((0..STDIO).map(|index| here(&format!("here-{index}"))));
        crowd.extend((0..HTTP).map(|index| there(&format!("there-{index}"))));
        let host = Host::builder().build();
        let start = Instant::now();
        let setting = tokio::spawn({
            let host = host.clone();
            async move { host.set_servers(crowd).await }
        });
        let mut events = host.events();
        while connected(&host) < STDIO + HTTP {
            if start.elapsed() > DEADLINE {
                return Err("not every healthy server is connected in time".into());
            }
            let _ = tokio::time::timeout(Duration::from_millis(50), events.next()).await;
        }
        let all = start.elapsed();
        let named = setting.await?.errors;
        if named.len() != 5 {
            return Err(format!("five are broken, and these are named: {named:?}").into());
        }
        host.close().await;
        drop(web.stdin.take());
        web.wait().await?;
        let mut figures = Figures::default();
        figures.add("alone_ms", alone.as_secs_f64() * 1e3);
        figures.add("crowd_ms", all.as_secs_f64() * 1e3);
        figures.add("over_ms", all.saturating_sub(alone).as_secs_f64() * 1e3);
        Ok(figures)
    })
}

fn connected(host: &Host) -> usize {
    host.status().iter().filter(|server| server.status == StatusKind::Connected).count()
}

/// One for each way to be broken.
fn broken(url: String) -> [(String, ServerSpec); 5] {
    let script = |text: &str| stdio("sh", &["-c".to_owned(), text.to_owned()]);
    let within = |spec: ServerSpec| spec.startup_timeout(DEADLINE);
    [
        ("missing".to_owned(), stdio("no-such-program-anywhere", &[])),
        ("exits".to_owned(), script("exit 3")),
        ("junk".to_owned(), within(script("while read line; do echo junk; done"))),
        ("hangs".to_owned(), within(script("exec sleep 30"))),
        ("refuses".to_owned(), http(&url)),
    ]
}

/// A server over HTTP, and its address. It ends with its standard input.
async fn serve(program: &str) -> Result<(Child, String), Fail> {
    let mut child = Command::new(program)
        .arg("--http")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdout = child.stdout.take().ok_or("its output is not there")?;
    let line = BufReader::new(stdout).lines().next_line().await?.unwrap_or_default();
    let url = line.strip_prefix("listening ").ok_or_else(|| format!("it said {line:?}"))?.to_owned();
    Ok((child, url))
}

/// An address where nobody is let in.
async fn refuse() -> Result<String, Fail> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            // Whoever hangs up first is not told.
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    Ok(url)
}
