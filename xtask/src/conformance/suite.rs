//! The conformance suite: installed from npm under `<target>/conformance`, and run locally.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Role;
use super::checks::ScenarioChecks;
use super::leg::SuiteRun;
use super::listing::{Listing, SETS};
use crate::command::{self, TaskError};
use crate::interop;
use crate::project::Project;

/// The oldest Node that can load the suite.
const OLDEST_NODE: u32 = 22;
/// Timeout of one run. The longest takes 15 seconds on an idle machine.
const LONGEST: Duration = Duration::from_secs(300);
/// Timeout of one scenario in milliseconds. A client gives up earlier.
const SCENARIO_MS: &str = "40000";
/// Local requests must not use a proxy.
const PROXIES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// The installed suite.
#[derive(Debug)]
pub(super) struct Suite {
    node: PathBuf,
    script: PathBuf,
    /// Directory of our own files of the suite.
    parts: PathBuf,
    results: PathBuf,
}

impl Suite {
    /// Installs the suite if it is missing or out of date.
    pub(super) fn install(project: &Project) -> Result<Self, TaskError> {
        let directory = project.target.join("conformance");
        let not_run = |failure: TaskError| {
            TaskError::new(format!(
                "not run: the conformance suite could not be installed (is the registry reachable?): {failure}"
            ))
        };
        let io =
            |error: std::io::Error| TaskError::new(format!("cannot make {}: {error}", directory.display()));
        fs::create_dir_all(&directory).map_err(io)?;
        let parts = project.path("conformance/node");
        let installed = interop::ci(&parts, directory.join("suite")).map_err(not_run)?;
        let script = installed.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
        let node = if interop::machine_major().map_err(not_run)? >= OLDEST_NODE {
            PathBuf::from("node")
        } else {
            let from = project.path("conformance/runtime");
            node_in(&interop::ci(&from, directory.join("runtime")).map_err(not_run)?)?
        };
        Ok(Self { node, script, parts, results: directory.join("results") })
    }

    /// Returns its scenarios and sets of requirements.
    pub(super) fn listing(&self) -> Result<Listing, TaskError> {
        let all = command::output(self.command().arg("list"))?;
        SETS.iter().try_fold(Listing::new(&all), |listing, revision| {
            let set = command::output(self.command().args(["list", "--requirements", revision]))?;
            Ok(listing.with_set(revision, &set))
        })
    }

    /// Runs the suite with a server's URL or a client's path.
    pub(super) fn run(&self, leg: &SuiteRun<'_>, target: &str) -> Result<ScenarioChecks, TaskError> {
        let folder = self.results.join(leg.folder());
        let io = |error: std::io::Error| TaskError::new(format!("cannot use {}: {error}", folder.display()));
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(io)?;
        }
        fs::create_dir_all(&folder).map_err(io)?;
        let (checks, exits, log) = (folder.join("checks"), folder.join("exits"), folder.join("log"));
        fs::write(&exits, "").map_err(io)?;

        let mut suite = self.command();
        suite.arg(leg.role.to_string()).args(leg.arguments()).args(["--timeout", SCENARIO_MS]);
        suite.arg("--output-dir").arg(&checks);
        match leg.role {
            Role::Server => suite.args(["--url", target]),
            // The suite takes the command apart at its spaces, and a shell puts it together again.
            Role::Client => suite
                .args(["--command", r#"sh "$SWITCHBOARD_RECORD" "$SWITCHBOARD_CLIENT""#])
                .env("SWITCHBOARD_RECORD", self.parts.join("record.sh"))
                .env("SWITCHBOARD_CLIENT", target)
                .env("SWITCHBOARD_EXITS", &exits),
        };
        println!("{} at {} …", leg.role, leg.revision);
        wait(&mut suite, &log)?;

        let mut reader = Command::new(&self.node);
        reader.arg(self.parts.join("checks.cjs")).arg(&checks);
        if leg.role == Role::Server {
            reader.arg("server-");
        }
        let checks = command::output(&mut reader)?;
        Ok(ScenarioChecks::parse(&checks, &fs::read_to_string(&exits).map_err(io)?))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.node);
        command.arg("--require").arg(self.parts.join("loopback.cjs")).arg(&self.script);
        for proxy in PROXIES {
            command.env_remove(proxy);
        }
        command
    }
}

/// Returns the installed Node, from whichever package.
fn node_in(runtime: &Path) -> Result<PathBuf, TaskError> {
    interop::packaged(runtime).ok_or_else(|| {
        TaskError::new(format!(
            "not run: Node {OLDEST_NODE} or newer is needed, and npm has none for this machine"
        ))
    })
}

/// Runs a program with its output in a file. The exit status is ignored: the result is read from the records.
fn wait(command: &mut Command, log: &Path) -> Result<(), TaskError> {
    let failed =
        |what: String| TaskError::new(format!("the conformance suite {what}; see {}", log.display()));
    let io = |error: std::io::Error| failed(format!("cannot be run: {error}"));
    let out = File::create(log).map_err(io)?;
    let errors = out.try_clone().map_err(io)?;
    let mut process = command.stdin(Stdio::null()).stdout(out).stderr(errors).spawn().map_err(io)?;
    let start = Instant::now();
    loop {
        if process.try_wait().map_err(io)?.is_some() {
            return Ok(());
        }
        if start.elapsed() >= LONGEST {
            let _ = process.kill();
            let _ = process.wait();
            return Err(failed(format!("was ended after {} s", LONGEST.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
