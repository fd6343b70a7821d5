//! `switchboard doctor`: why a server does not connect.

use std::ffi::OsString;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use switchboard::host::config::{Reach, STARTUP};
use switchboard::http::Secret;
use switchboard::{ClientSession, Http, Tap};

use crate::args::DoctorArgs;
use crate::configured::Files;
use crate::connect::{CLOSING, note_junk};
use crate::doctor::{
    Moments, Place, Program, Report, Stop, Trouble, Way, find_program, meet, reach_address, read_entry,
};
use crate::failure::{Failure, Status};
use crate::output::Paper;
use crate::remote;
use crate::sanitize::one_line;
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
    let patience = args.timeout.unwrap_or(STARTUP);
    let session = match (&args.name, &args.remote.url, args.command.split_first()) {
        (Some(name), ..) => {
            let files = Files::read()?;
            configured(report, &files, name, args.timeout).await
        }
        (None, Some(url), _) => {
            let endpoint = remote::endpoint(&args.remote, url, None).await?;
            at_address(report, endpoint.http, &endpoint.names, patience).await
        }
        (None, None, Some((program, rest))) => {
            let text = |word: &OsString| {
                word.to_str()
                    .map(str::to_owned)
                    .ok_or_else(|| Failure::usage("the command is not UTF-8 text"))
            };
            let (command, rest) = (text(program)?, rest.iter().map(text).collect::<Result<Vec<_>, _>>()?);
            let env =
                args.env.iter().map(|(name, value)| (name.clone(), Secret::new(value.as_str()))).collect();
            let program = Program {
                command: &command,
                args: &rest,
                env: &env,
                inherit_env: &args.inherit_env,
                cwd: args.cwd.as_ref(),
            };
            by_program(report, &program, patience).await
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
    let plan = read_entry(report, files, name)?;
    let patience = timeout.unwrap_or(plan.startup);
    match &plan.reach {
        Reach::Stdio { command, args, env, inherit_env, cwd } => {
            let program = Program { command, args, env, inherit_env, cwd: cwd.as_ref() };
            by_program(report, &program, patience).await
        }
        Reach::Http { url, headers, sse, allow_plain } => {
            let place = Place { url, headers, sse: *sse, allow_plain: *allow_plain };
            let http = place.http(report)?;
            let names: Vec<String> = headers.keys().map(|name| one_line(name)).collect();
            at_address(report, http, &names, patience).await
        }
        _ => {
            let said = "only the application it belongs to can reach it";
            let trouble = Trouble::new(Status::Other, said, "look at it from that application");
            Err(report.failed("reach", Instant::now(), trouble))
        }
    }
}

async fn by_program(
    report: &mut Report,
    program: &Program<'_>,
    patience: Duration,
) -> Result<ClientSession, Stop> {
    let child = find_program(report, program)?;
    let (moments, junk) = (Moments::default(), Arc::<OnceLock<String>>::default());
    let (seen, kept) = (moments.clone(), Arc::clone(&junk));
    let tap = Tap::new(move |way, frame| match way {
        switchboard::Way::Out => seen.see(),
        switchboard::Way::In => note_junk(frame, &kept),
    });
    meet(report, Arc::new(child.tap(tap)), &Way::Program { moments, junk }, patience).await
}

async fn at_address(
    report: &mut Report,
    http: Http,
    headers: &[String],
    patience: Duration,
) -> Result<ClientSession, Stop> {
    reach_address(report, &http, headers, patience.min(REACHING)).await?;
    meet(report, Arc::new(http), &Way::Http, patience).await
}
