//! Processes that share a store: this test program, started again with a role in its environment.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use switchboard_http::{Address, PlainHttp};
use switchboard_testkit::STEP_TIMEOUT;
use tokio::sync::mpsc;

use crate::authorization_server::AuthorizationServer;
use crate::client::{TestClient, needs_login, open};

const SERVER: &str = "SWITCHBOARD_TEST_SERVER";
const DIRECTORY: &str = "SWITCHBOARD_TEST_DIRECTORY";
/// The answer to a request without a usable token.
pub(crate) const NEEDS_LOGIN: &str = "a login is needed";
/// Precedes each answer; the test harness writes to the same stream.
const ANSWER: &str = "worker: ";

/// A process that sends a request for each line that it reads. Dropping it kills the process.
pub(crate) struct Worker {
    child: Child,
    input: ChildStdin,
    answers: mpsc::UnboundedReceiver<String>,
}

impl Worker {
    pub(crate) fn start(server: &AuthorizationServer, directory: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "worker::runs_as_a_worker_if_its_environment_says_so", "--nocapture"])
            .env(SERVER, server.mcp_url())
            .env(DIRECTORY, directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, answers) = mpsc::unbounded_channel();
        // The thread ends with the process.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(answer) = line.strip_prefix(ANSWER)
                    && sender.send(answer.to_owned()).is_err()
                {
                    return;
                }
            }
        });
        Self { child, input, answers }
    }

    /// Tells the process to send a request.
    pub(crate) fn begin_request(&mut self) {
        self.input.write_all(b"request\n").unwrap();
    }

    /// Returns the outcome of the next request: a status or an error.
    pub(crate) async fn answer(&mut self) -> String {
        let answer = tokio::time::timeout(STEP_TIMEOUT, self.answers.recv()).await;
        answer.expect("the worker answers").expect("the worker runs")
    }

    pub(crate) async fn request(&mut self) -> String {
        self.begin_request();
        self.answer().await
    }

    /// Kills the process with SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
fn runs_as_a_worker_if_its_environment_says_so() {
    let Some(server) = std::env::var_os(SERVER) else { return };
    let server = Address::parse(server.to_str().unwrap(), PlainHttp::LoopbackOnly).unwrap();
    let store = open(Path::new(&std::env::var_os(DIRECTORY).unwrap()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let client = {
        let _entered = runtime.enter();
        TestClient::new(server, store)
    };
    for _ in std::io::stdin().lock().lines().map_while(Result::ok) {
        let outcome = runtime.block_on(client.request());
        let answer = match outcome {
            outcome if needs_login(&outcome) => NEEDS_LOGIN.to_owned(),
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        // The harness leaves its line open.
        println!("\n{ANSWER}{}", answer.replace('\n', " "));
    }
}
