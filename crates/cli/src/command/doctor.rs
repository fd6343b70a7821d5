//! `switchboard doctor`: diagnoses why a server does not connect.

use switchboard::host::config::DEFAULT_STARTUP_TIMEOUT;

use crate::args::{DoctorArgs, SessionOptions};
use crate::configured_servers::ConfigFiles;
use crate::connect::{CLOSE_TIMEOUT, apply_options};
use crate::doctor::{
    ConfiguredSubject, DoctorReport, RemoteSubject, ReportOutput, examine_configured, examine_program,
    examine_remote, login_subject,
};
use crate::error::CommandError;
use crate::expand::Expander;
use crate::output::OutputStream;
use crate::remote;
use crate::signals::Signals;

pub(crate) async fn run(mut args: DoctorArgs) -> Result<(), CommandError> {
    let mut signals = Signals::catch()?;
    if args.name.as_ref().is_some_and(|name| name.contains("://")) {
        args.remote.url = args.name.take();
    }
    let program = args.command.first().map(|program| program.to_string_lossy().into_owned());
    let url = args.remote.url.as_ref().map(|url| url.split('?').next().unwrap_or(url).to_owned());
    let name = args.name.clone().or(program).or(url).unwrap_or_default();
    let output = match args.json {
        true => ReportOutput::Json,
        false => ReportOutput::Text(OutputStream::stdout()),
    };
    let mut report = DoctorReport::new(&name, output);
    tokio::select! {
        // A failed step is in the report.
        failed = examine(&mut report, &args) => failed?,
        signal = signals.next() => return Err(CommandError::Interrupted { signal }),
    }
    report.finish()
}

async fn examine(report: &mut DoctorReport, args: &DoctorArgs) -> Result<(), CommandError> {
    let timeout = args.timeout.unwrap_or(DEFAULT_STARTUP_TIMEOUT);
    let session = match (&args.name, &args.remote.url, args.command.split_first()) {
        (Some(name), ..) => {
            let files = ConfigFiles::read()?;
            let subject = ConfiguredSubject { name, timeout: args.timeout, account: args.account.as_deref() };
            examine_configured(report, &files, subject).await
        }
        (None, Some(url), _) => {
            let endpoint = remote::resolve_endpoint(&args.remote, url, &SessionOptions::default()).await?;
            let login = match endpoint.uses_login {
                true => Some(login_subject(args.account.as_deref(), url, endpoint.address, None)?),
                false => None,
            };
            let subject = RemoteSubject { http: endpoint.http, helper: None, login };
            examine_remote(report, subject, timeout).await
        }
        (None, None, Some((program, rest))) => {
            let expander = Expander::default();
            let command = expander.command(program, rest)?;
            let options = SessionOptions {
                env: args.env.clone(),
                inherit_env: args.inherit_env.clone(),
                cwd: args.cwd.clone(),
                ..SessionOptions::default()
            };
            let command = apply_options(&expander.options(&options)?, command);
            examine_program(report, command, timeout).await
        }
        (None, None, None) => return Err(CommandError::usage("no server given")),
    };
    if let Ok(session) = session {
        // Errors while closing do not matter here.
        _ = session.close_within(CLOSE_TIMEOUT).await;
    }
    Ok(())
}
