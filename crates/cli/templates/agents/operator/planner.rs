//! The planner of the operator: the first step, the step after each result, and the loop that runs them.
//!
//! Written once by `switchboard new --agent`; it is yours. A planner that asks a model puts the goal and the
//! catalog into its first prompt, and each result into the next.

use std::error::Error;

use switchboard::protocol::CallToolResult;

use crate::bootstrap::Runtime;
use crate::operator::toolsets::__imports__;

/// Maximum number of steps of a run.
const MOST_STEPS: usize = 20;

/// The next step of a planner.
#[derive(Debug)]
pub enum Plan {
    /// Call a tool, and continue with its result.
    Call(Step),
    /// The goal is reached.
    Done(String),
}

/// Decides the steps of a run, and keeps state between them.
pub trait Planner {
    /// Returns the first step towards a goal.
    fn plan_start(&mut self, goal: &str) -> Plan;

    /// Returns the step after a result. A failed call is a result, too: it has the reason.
    ///
    /// # Errors
    /// Returns an error if the result cannot be used.
    fn plan_resume(&mut self, result: &CallToolResult) -> Result<Plan, Box<dyn Error>>;
}

/// Outcome of a run.
#[derive(Debug)]
pub struct Run {
    /// The answer of the planner.
    pub answer: String,
    /// The tools that were called, in order.
    pub called: Vec<String>,
}

/// Runs a planner over the host until it is done.
///
/// # Errors
/// Returns an error if the planner gives up, or needs too many steps.
pub async fn run(
    runtime: &Runtime,
    planner: &mut impl Planner,
    goal: &str,
) -> Result<Run, Box<dyn Error>> {
    let mut called = Vec::new();
    let mut plan = planner.plan_start(goal);
    while called.len() < MOST_STEPS {
        let step = match plan {
            Plan::Done(answer) => return Ok(Run { answer, called }),
            Plan::Call(step) => step,
        };
        let call = runtime
            .host()
            .call_tool(step.server, step.tool, &step.arguments);
        // For a model: a failure is a result that says what to do next.
        let result = call.execute().await;
        called.push(step.tool.to_owned());
        plan = planner.plan_resume(&result)?;
    }
    Err(format!("not done after {MOST_STEPS} steps").into())
}

/// __operator__ Replace it by a planner of your own.
#[derive(Debug)]
pub struct Operator;

impl Planner for Operator {
    fn plan_start(&mut self, goal: &str) -> Plan {
        __start__
    }

    fn plan_resume(&mut self, result: &CallToolResult) -> Result<Plan, Box<dyn Error>> {
        Ok(Plan::Done(result.text()))
    }
}
