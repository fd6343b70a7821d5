//! Report of a diagnosis: prints each step as it finishes, passes it on, or prints all of them as JSON.

use std::time::{Duration, Instant};

use serde::Serialize;
use switchboard::CallError;
use switchboard::auth::DiscoveryAttempt;
use switchboard::protocol::Raw;

use crate::error::{CommandError, ExitKind};
use crate::output::{OutputStream, indented, print_json};
use crate::sanitize::{one_line, sanitize};

/// The steps so far, and the result.
#[derive(Debug, Serialize)]
pub(crate) struct DoctorReport {
    server: String,
    ok: bool,
    steps: Vec<Step>,
    next: Option<String>,
    #[serde(skip)]
    status: Option<ExitKind>,
    #[serde(skip)]
    output: ReportOutput,
}

/// Where the steps of a diagnosis go.
pub(crate) enum ReportOutput {
    /// To the terminal, as they finish.
    Text(OutputStream),
    /// To stdout, all of them at the end.
    Json,
    /// To this function, as they finish.
    Steps(Box<dyn Fn(&Step) + Send + Sync>),
}

impl std::fmt::Debug for ReportOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text",
            Self::Json => "Json",
            Self::Steps(_) => "Steps",
        })
    }
}

/// A step of a diagnosis.
#[derive(Debug, Serialize)]
pub(crate) struct Step {
    pub(crate) step: &'static str,
    pub(crate) ok: bool,
    pub(crate) ms: u64,
    #[serde(rename = "said")]
    pub(crate) message: String,
    /// The last lines its program wrote to stderr.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr: Option<String>,
    /// The URLs that were tried, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tried: Vec<TriedUrl>,
}

/// A URL that was tried during discovery, and what came of it.
#[derive(Debug, Serialize)]
pub(crate) struct TriedUrl {
    pub(crate) document: &'static str,
    pub(crate) url: String,
    pub(crate) outcome: String,
}

impl From<&DiscoveryAttempt> for TriedUrl {
    fn from(attempt: &DiscoveryAttempt) -> Self {
        let outcome = attempt.failure.as_deref().unwrap_or("found");
        Self { document: attempt.document.as_str(), url: attempt.url.clone(), outcome: outcome.to_owned() }
    }
}

/// Marker: a step has failed and is in the report.
#[derive(Debug)]
pub(crate) struct StepFailed;

/// Error of a step: the message, and what to do.
#[derive(Debug)]
pub(crate) struct StepError {
    pub(crate) message: String,
    pub(crate) next: String,
    pub(crate) status: ExitKind,
    pub(crate) stderr: Option<String>,
    pub(crate) tried: Vec<TriedUrl>,
}

impl StepError {
    pub(crate) fn new(status: ExitKind, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self { message: message.into(), next: next.into(), status, stderr: None, tried: Vec::new() }
    }
}

impl DoctorReport {
    pub(crate) fn new(server: &str, output: ReportOutput) -> Self {
        Self { server: server.to_owned(), ok: true, steps: Vec::new(), next: None, status: None, output }
    }

    /// Returns what to do if a step has failed.
    pub(crate) fn next_step(&self) -> Option<&str> {
        self.next.as_deref()
    }

    /// Returns whether no step has failed.
    pub(crate) fn is_ok(&self) -> bool {
        self.ok
    }

    /// Adds a step that succeeded.
    pub(crate) fn passed(&mut self, step: &'static str, took: Duration, message: impl Into<String>) {
        self.passed_after(step, took, message, &[]);
    }

    /// Adds a step that succeeded after these URLs were tried.
    pub(crate) fn passed_after(
        &mut self,
        step: &'static str,
        took: Duration,
        message: impl Into<String>,
        tried: &[DiscoveryAttempt],
    ) {
        let tried = tried.iter().map(TriedUrl::from).collect();
        self.add(Step { step, ok: true, ms: millis(took), message: message.into(), stderr: None, tried });
    }

    /// Adds the step that failed, which is the last one.
    pub(crate) fn failed(&mut self, step: &'static str, began: Instant, error: StepError) -> StepFailed {
        let StepError { message, next, status, stderr, tried } = error;
        (self.ok, self.next, self.status) = (false, Some(next), Some(status));
        self.add(Step { step, ok: false, ms: millis(began.elapsed()), message, stderr, tried });
        StepFailed
    }

    fn add(&mut self, step: Step) {
        match &self.output {
            // A closed output is reported by `finish`.
            ReportOutput::Text(out) => _ = out.print(&render_step(&step, out)),
            ReportOutput::Steps(receive) => receive(&step),
            ReportOutput::Json => {}
        }
        self.steps.push(step);
    }

    /// Prints the summary, or the JSON report.
    ///
    /// # Errors
    /// Returns the exit code of the failed step.
    pub(crate) fn finish(self) -> Result<(), CommandError> {
        match &self.output {
            ReportOutput::Text(out) => {
                let last = match &self.next {
                    Some(next) => format!("{} {}", out.bold("next:"), one_line(next)),
                    None => format!("{} connects", one_line(&self.server)),
                };
                out.print(&format!("\n{last}\n"))?;
            }
            ReportOutput::Json => {
                let out = OutputStream::stdout();
                print_json(&out, &Raw::encode(&self).map_err(CallError::from)?)?;
            }
            ReportOutput::Steps(_) => {}
        }
        match self.status {
            Some(exit) => Err(CommandError::AlreadyReported { exit }),
            None => Ok(()),
        }
    }
}

/// Renders a step: `✓ program       /usr/bin/npx (1 ms)`.
fn render_step(step: &Step, out: &OutputStream) -> String {
    const INDENT: &str = "                ";
    let mark = if step.ok { out.green("✓") } else { out.red("✗") };
    let took = if step.ms > 0 { format!(" ({} ms)", step.ms) } else { String::new() };
    let body = indented(&format!("{}{took}", sanitize(&step.message)), INDENT, out.width);
    let mut text = format!("{mark} {:<14}{}", step.step, body.trim_start_matches(' '));
    for TriedUrl { document, url, outcome } in &step.tried {
        let line = format!("{document}: {} ({})", one_line(url), one_line(outcome));
        text += &indented(&line, INDENT, out.width);
    }
    for line in step.stderr.iter().flat_map(|stderr| stderr.trim_end().lines()) {
        text += &format!("{INDENT}{} {}\n", out.dim("│"), sanitize(line));
    }
    text
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
