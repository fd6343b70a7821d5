//! Runs the scribe's plan of two steps against the service.
//!
//! Written once by `switchboard new --agent`; it is yours.

use __crate___agents::bootstrap::Runtime;
use __crate___agents::notes;
use __crate___agents::planner::{Plan, Planner, Scribe, run};
use switchboard::CallToolResult;

#[tokio::test]
async fn the_scribe_keeps_a_note_and_finds_it_again() {
    let runtime = Runtime::start().await.unwrap();
    let run = run(&runtime, &mut Scribe::default(), "Oslo is rainy").await.unwrap();
    assert_eq!(run.called, ["add_note", "find_notes"]);
    assert_eq!(run.answer, "Note 1 is kept, one of 1.");
    runtime.close().await;
}

#[tokio::test]
async fn a_call_that_fails_is_told_to_the_planner() {
    struct Clumsy;
    impl Planner for Clumsy {
        fn plan_start(&mut self, _: &str) -> Plan {
            Plan::Call(notes::add("", &[]))
        }
        fn plan_resume(&mut self, result: &CallToolResult) -> Result<Plan, Box<dyn std::error::Error>> {
            Ok(Plan::Done(notes::added(result).unwrap_err().to_string()))
        }
    }
    let runtime = Runtime::start().await.unwrap();
    let run = run(&runtime, &mut Clumsy, "").await.unwrap();
    assert!(run.answer.contains("text"), "{}", run.answer);
    runtime.close().await;
}
