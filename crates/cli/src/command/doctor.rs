//! `switchboard doctor`: why a server does not connect.

use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard::Tap;
use switchboard::host::Transport;

use crate::args::DoctorArgs;
use crate::configured::Files;
use crate::connect::CLOSING;
use crate::doctor::{Moments, Report, Stop, Trouble, Way, find_program, meet, reach_address, read_entry};
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
    let spec = read_entry(report, files, &args.name)?;
    let patience = args.timeout.unwrap_or(spec.startup_timeout);
    let session = match &spec.transport {
        Transport::Stdio(stdio) => {
            find_program(report, stdio)?;
            let child = stdio.as_ref().clone();
            let moments = Moments::default();
            let seen = moments.clone();
            let tap = Tap::new(move |way, _| {
                if way == switchboard::Way::Out {
                    seen.see();
                }
            });
            meet(report, Arc::new(child.tap(tap)), &Way::Program(moments), patience).await?
        }
        Transport::Http(http) => {
            let address = reach_address(report, http, patience.min(REACHING)).await?;
            let way = if address.is_secure() { Way::Secure } else { Way::Plain };
            meet(report, Arc::new(http.as_ref().clone()), &way, patience).await?
        }
        _ => {
            let said = "only the application it belongs to can reach it";
            let trouble = Trouble::new(Status::Other, said, "look at it from that application");
            return Err(report.failed("reach", Instant::now(), trouble));
        }
    };
    // Whether it ends in order is no matter of connecting.
    _ = session.close_within(CLOSING).await;
    Ok(())
}
