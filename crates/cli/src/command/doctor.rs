//! `switchboard doctor`: why a server does not connect.

use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard::Tap;
use switchboard::host::config::Reach;

use crate::args::DoctorArgs;
use crate::configured::Files;
use crate::connect::CLOSING;
use crate::doctor::{
    Moments, Place, Program, Report, Stop, Trouble, Way, find_program, meet, reach_address, read_entry,
};
use crate::failure::{Failure, Status};
use crate::output::Paper;
use crate::signals::Signals;

/// How long a name may take to be looked up, and a connection to be made.
const REACHING: Duration = Duration::from_secs(10);

pub(crate) async fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let mut signals = Signals::catch()?;
    let files = Files::read()?;
    let mut report = Report::new(&args.name, (!args.json).then(Paper::stdout));
    tokio::select! {
        // A step that failed is in the report.
        _ = examine(&mut report, &files, args) => {}
        signal = signals.next() => return Err(Failure::Interrupted { signal }),
    }
    report.end()
}

async fn examine(report: &mut Report, files: &Files, args: &DoctorArgs) -> Result<(), Stop> {
    let plan = read_entry(report, files, &args.name)?;
    let patience = args.timeout.unwrap_or(plan.startup);
    let session = match &plan.reach {
        Reach::Stdio { command, args, env, inherit_env, cwd } => {
            let program = Program { command, args, env, inherit_env, cwd: cwd.as_ref() };
            let child = find_program(report, &program)?;
            let moments = Moments::default();
            let seen = moments.clone();
            let tap = Tap::new(move |way, _| {
                if way == switchboard::Way::Out {
                    seen.see();
                }
            });
            meet(report, Arc::new(child.tap(tap)), &Way::Program(moments), patience).await?
        }
        Reach::Http { url, headers, sse, allow_plain } => {
            let place = Place { url, headers, sse: *sse, allow_plain: *allow_plain };
            let http = reach_address(report, &place, patience.min(REACHING)).await?;
            let way = if http.address().is_secure() { Way::Secure } else { Way::Plain };
            meet(report, Arc::new(http), &way, patience).await?
        }
        Reach::InProcess { .. } | Reach::Proxy { .. } => {
            let said = "only the application it belongs to can reach it";
            let trouble = Trouble::new(Status::Other, said, "look at it from that application");
            return Err(report.failed("reach", Instant::now(), trouble));
        }
    };
    // Whether it ends in order is no matter of connecting.
    _ = session.close_within(CLOSING).await;
    Ok(())
}
