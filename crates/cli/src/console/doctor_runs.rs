//! Diagnosis of servers for the console.

use std::sync::Arc;

use switchboard_console::contract::{DoctorOutcome, DoctorStep, TriedUrl};
use switchboard_console::providers::{BoxFuture, DoctorProvider, StepSink};

use super::known_servers::KnownServers;
use crate::configured_servers::ConfigFiles;
use crate::doctor::{DoctorReport, ReportOutput, Step, examine_server, examine_spec};
use crate::sanitize::one_line;

/// Examines servers as `switchboard doctor` does.
#[derive(Debug)]
pub(super) struct DoctorRuns {
    servers: Arc<KnownServers>,
}

impl DoctorRuns {
    pub(super) fn new(servers: Arc<KnownServers>) -> Self {
        Self { servers }
    }

    async fn run(&self, server: &str, steps: StepSink<DoctorStep>) -> DoctorOutcome {
        let mut report =
            DoctorReport::new(server, ReportOutput::Steps(Box::new(move |step| steps.send(step_of(step)))));
        let extra = self.servers.extra().into_iter().find(|extra| extra.name == server);
        // A failed step is in the report.
        _ = match (extra, ConfigFiles::read()) {
            (Some(extra), _) => examine_spec(&mut report, server, extra.spec).await,
            (None, Ok(files)) => examine_server(&mut report, &files, server).await,
            (None, Err(_)) => {
                let next_step = Some("set HOME to your home directory".to_owned());
                return DoctorOutcome { ok: false, next_step };
            }
        };
        DoctorOutcome { ok: report.is_ok(), next_step: report.next_step().map(one_line) }
    }
}

impl DoctorProvider for DoctorRuns {
    fn examine<'a>(&'a self, server: &'a str, steps: StepSink<DoctorStep>) -> BoxFuture<'a, DoctorOutcome> {
        Box::pin(self.run(server, steps))
    }
}

fn step_of(step: &Step) -> DoctorStep {
    let tried = step.tried.iter().map(|tried| TriedUrl {
        document: tried.document.to_owned(),
        url: one_line(&tried.url),
        outcome: one_line(&tried.outcome),
    });
    DoctorStep {
        step: step.step.to_owned(),
        ok: step.ok,
        ms: step.ms,
        message: step.message.clone(),
        stderr: step.stderr.clone(),
        tried: tried.collect(),
    }
}
