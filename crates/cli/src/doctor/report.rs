//! What was found, step by step: shown as it is found, or all at once for programs.

use std::time::{Duration, Instant};

use serde::Serialize;
use switchboard::{CallError, Raw};

use crate::failure::{Failure, Status};
use crate::output::{Paper, indented, show_json};
use crate::sanitize::{one_line, sanitize};

/// The steps so far.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    server: String,
    ok: bool,
    steps: Vec<Step>,
    next: Option<String>,
    #[serde(skip)]
    status: Option<Status>,
    /// Where steps are shown as they come; nowhere, where a program reads them.
    #[serde(skip)]
    paper: Option<Paper>,
}

#[derive(Debug, Serialize)]
struct Step {
    step: &'static str,
    ok: bool,
    ms: u64,
    said: String,
    /// The last its program wrote to stderr.
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<String>,
}

/// A step has failed: the way ends here.
#[derive(Debug)]
pub(crate) struct Stop;

/// What is wrong, and what to do about it.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) said: String,
    pub(crate) next: String,
    pub(crate) status: Status,
    pub(crate) stderr: Option<String>,
}

impl Trouble {
    pub(crate) fn new(status: Status, said: impl Into<String>, next: impl Into<String>) -> Self {
        Self { said: said.into(), next: next.into(), status, stderr: None }
    }
}

impl Report {
    pub(crate) fn new(server: &str, paper: Option<Paper>) -> Self {
        Self { server: server.to_owned(), ok: true, steps: Vec::new(), next: None, status: None, paper }
    }

    /// A step that went well, and took this long.
    ///
    /// # Errors
    /// When nobody reads any more.
    pub(crate) fn passed(
        &mut self,
        step: &'static str,
        took: Duration,
        said: impl Into<String>,
    ) -> Result<(), Failure> {
        self.add(Step { step, ok: true, ms: millis(took), said: said.into(), stderr: None })
    }

    /// A step that failed, and is the last.
    pub(crate) fn failed(&mut self, step: &'static str, began: Instant, trouble: Trouble) -> Stop {
        let Trouble { said, next, status, stderr } = trouble;
        (self.ok, self.next, self.status) = (false, Some(next), Some(status));
        // A reader that is gone will be noticed at the end.
        _ = self.add(Step { step, ok: false, ms: millis(began.elapsed()), said, stderr });
        Stop
    }

    fn add(&mut self, step: Step) -> Result<(), Failure> {
        let shown = self.paper.as_ref().map_or(Ok(()), |paper| paper.print(&line(&step, paper)));
        self.steps.push(step);
        Ok(shown?)
    }

    /// What it all comes to, in the last line; and whether the server connects.
    ///
    /// # Errors
    /// The exit code of the step that failed.
    pub(crate) fn end(self) -> Result<(), Failure> {
        match &self.paper {
            Some(paper) => {
                let last = match &self.next {
                    Some(next) => format!("{} {}", paper.bold("next:"), one_line(next)),
                    None => format!("{} connects", one_line(&self.server)),
                };
                paper.print(&format!("\n{last}\n"))?;
            }
            None => {
                let paper = Paper::stdout();
                show_json(&paper, &Raw::encode(&self).map_err(CallError::from)?)?;
            }
        }
        match self.status {
            Some(status) => Err(Failure::Shown { status }),
            None => Ok(()),
        }
    }
}

/// `✓ program       /usr/bin/npx (1 ms)`.
fn line(step: &Step, paper: &Paper) -> String {
    const INDENT: &str = "                ";
    let mark = if step.ok { paper.green("✓") } else { paper.red("✗") };
    let took = if step.ms > 0 { format!(" ({} ms)", step.ms) } else { String::new() };
    let body = indented(&format!("{}{took}", sanitize(&step.said)), INDENT, paper.width);
    let mut text = format!("{mark} {:<14}{}", step.step, body.trim_start_matches(' '));
    for words in step.stderr.iter().flat_map(|words| words.trim_end().lines()) {
        text += &format!("{INDENT}{} {}\n", paper.dim("│"), sanitize(words));
    }
    text
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
