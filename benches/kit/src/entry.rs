//! The `main` of every program: arguments in, one line or one sentence out, and an end that is sure to come.

use std::process::ExitCode;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::args::{ClientArgs, GatewayArgs, InsideArgs, ServerArgs, Threads};
use crate::drive::{Calls, Session, drive, spread};
use crate::meter::{Mark, Usage};
use crate::report::Report;
use crate::{Fail, Work};

/// A client that hangs is ended after this time.
const MOST: Duration = Duration::from_secs(120);

/// Runs a client and prints what it measured.
pub fn client<S: Session>(forms: &[&str]) -> ExitCode {
    finish(ClientArgs::read(forms).and_then(|args| {
        guard();
        println!("{}", runtime(args.threads)?.block_on(drive::<S>(args))?);
        Ok(())
    }))
}

/// Runs a server until its standard input ends.
pub fn server<F: Future<Output = Result<(), Fail>>>(
    forms: &[&str],
    serve: impl FnOnce(ServerArgs) -> F,
) -> ExitCode {
    finish(ServerArgs::read(forms).and_then(|args| runtime(args.threads)?.block_on(serve(args))))
}

/// Runs a gateway until its standard input ends.
pub fn gateway<F: Future<Output = Result<(), Fail>>>(
    forms: &[&str],
    serve: impl FnOnce(GatewayArgs) -> F,
) -> ExitCode {
    finish(GatewayArgs::read(forms).and_then(|args| runtime(args.threads)?.block_on(serve(args))))
}

/// Runs both sides in one process and prints what it measured.
pub fn inside<S: Session, F: Future<Output = Result<S, Fail>>>(
    forms: &[&str],
    open: impl FnOnce(InsideArgs) -> F,
) -> ExitCode {
    finish(InsideArgs::read(forms).and_then(|args| {
        guard();
        println!("{}", runtime(Threads::One)?.block_on(drive_inside(args, open))?);
        Ok(())
    }))
}

async fn drive_inside<S: Session, F: Future<Output = Result<S, Fail>>>(
    args: InsideArgs,
    open: impl FnOnce(InsideArgs) -> F,
) -> Result<String, Fail> {
    let calls = |count| Calls { work: Work::Echo, count, in_flight: 1, tools: None };
    let (count, warm) = (args.calls, args.warm);
    let sessions = std::sync::Arc::new(vec![open(args).await?]);
    spread(&sessions, calls(warm)).await?;
    let start = Mark::now();
    let times = spread(&sessions, calls(count)).await?;
    let (wall_us, cpu_us) = start.spent();
    let own = Usage { cpu_us, ..Usage::now() };
    Ok(Report { times, wall_us, own, server: Usage::default() }.line())
}

fn runtime(threads: Threads) -> std::io::Result<Runtime> {
    match threads {
        Threads::One => Builder::new_current_thread().enable_all().build(),
        Threads::Many => Builder::new_multi_thread().enable_all().build(),
    }
}

/// Ends the process when it takes too long, whatever its runtime is doing.
fn guard() {
    std::thread::spawn(|| {
        std::thread::sleep(MOST);
        eprintln!("the run was given up after {} s", MOST.as_secs());
        std::process::exit(1);
    });
}

fn finish(outcome: Result<(), Fail>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
