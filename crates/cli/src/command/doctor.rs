//! `switchboard doctor`: why a server does not connect.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use switchboard::host::Transport;
use switchboard::host::config::DEFAULT_STARTUP_TIMEOUT;
use switchboard::{ClientSession, Http, Stdio, Tap};

use crate::args::DoctorArgs;
use crate::configured::Files;
use crate::connect::{CLOSING, note_junk};
use crate::doctor::{Moments, Report, Stop, Trouble, Way, find_program, meet, reach_address, read_entry};
use crate::expand::Expander;
use crate::failure::{Failure, Status};
use crate::output::Paper;
use crate::remote;
use crate::signals::Signals;

/// How long a name may take to be looked up, and a connection to be made.
const REACHING: Duration = Duration::from_secs(10);

pub(crate) async fn run(mut args: DoctorArgs) -> Result<(), Failure> {
    let mut signals = Signals::catch()?;
    if args.name.as_ref().is_some_and(|name| name.contains("://")) {
        args.remote.url = args.name.take();
    }
    let program = args.command.first().map(|program| program.to_string_lossy().into_owned());
    let url = args.remote.url.as_ref().map(|url| url.split('?').next().unwrap_or(url).to_owned());
    let name = args.name.clone().or(program).or(url).unwrap_or_default();
    let mut report = Report::new(&name, (!args.json).then(Paper::stdout));
    tokio::select! {
        // A step that failed is in the report.
        failed = examine(&mut report, &args) => failed?,
        signal = signals.next() => return Err(Failure::Interrupted { signal }),
    }
    report.end()
}

async fn examine(report: &mut Report, args: &DoctorArgs) -> Result<(), Failure> {
    let patience = args.timeout.unwrap_or(DEFAULT_STARTUP_TIMEOUT);
    let session = match (&args.name, &args.remote.url, args.command.split_first()) {
        (Some(name), ..) => {
            let files = Files::read()?;
            configured(report, &files, name, args.timeout).await
        }
        (None, Some(url), _) => {
            let endpoint = remote::endpoint(&args.remote, url, None).await?;
            at_address(report, endpoint.http, patience).await
        }
        (None, None, Some((program, rest))) => {
            let expander = Expander::default();
            let mut command = expander.command(program, rest)?;
            for (name, value) in expander.env(&args.env)? {
                command = command.env(name, value);
            }
            for name in &args.inherit_env {
                command = command.inherit_env(name);
            }
            if let Some(cwd) = &args.cwd {
                command = command.cwd(expander.expand_os("--cwd", cwd.as_os_str())?);
            }
            by_program(report, command, patience).await
        }
        (None, None, None) => return Err(Failure::usage("no server given")),
    };
    if let Ok(session) = session {
        // Whether it ends in order does not matter here.
        _ = session.close_within(CLOSING).await;
    }
    Ok(())
}

/// A server of the files.
async fn configured(
    report: &mut Report,
    files: &Files,
    name: &str,
    timeout: Option<Duration>,
) -> Result<ClientSession, Stop> {
    let spec = read_entry(report, files, name)?;
    let patience = timeout.unwrap_or(spec.startup_timeout);
    match spec.transport {
        Transport::Stdio(stdio) => by_program(report, *stdio, patience).await,
        Transport::Http(http) => at_address(report, *http, patience).await,
        _ => {
            let said = "only the application it belongs to can reach it";
            let trouble = Trouble::new(Status::Other, said, "look at it from that application");
            Err(report.failed("reach", Instant::now(), trouble))
        }
    }
}

async fn by_program(report: &mut Report, command: Stdio, patience: Duration) -> Result<ClientSession, Stop> {
    find_program(report, &command)?;
    let (moments, junk) = (Moments::default(), Arc::<OnceLock<String>>::default());
    let (seen, kept) = (moments.clone(), Arc::clone(&junk));
    let tap = Tap::new(move |way, frame| match way {
        switchboard::Direction::Out => seen.see(),
        switchboard::Direction::In => note_junk(frame, &kept),
    });
    meet(report, Arc::new(command.tap(tap)), &Way::Program { moments, junk }, patience).await
}

async fn at_address(report: &mut Report, http: Http, patience: Duration) -> Result<ClientSession, Stop> {
    reach_address(report, &http, patience.min(REACHING)).await?;
    meet(report, Arc::new(http), &Way::Http, patience).await
}
