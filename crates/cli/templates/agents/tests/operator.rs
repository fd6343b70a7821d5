//! Runs the operator against the service, and compares the adapters with what the service offers.
//!
//! Written once by `switchboard new --agent`; it is yours.

use __crate___agents::bootstrap::Runtime;
use __crate___agents::operator::planner::{Operator, run};
use __crate___agents::operator::toolsets::__module__;

#[tokio::test]
async fn every_adapter_has_its_tool() {
    let runtime = Runtime::start().await.unwrap();
    let tools = runtime.host().all_tools();
    for name in __module__::TOOLS {
        let is_offered = tools
            .iter()
            .any(|listed| listed.server() == __module__::SERVER && listed.tool().name == name);
        assert!(is_offered, "the service offers no {name}");
    }
    runtime.close().await;
}

#[tokio::test]
async fn the_operator_comes_to_an_end() {
    let runtime = Runtime::start().await.unwrap();
    let run = run(&runtime, &mut Operator, "try it").await.unwrap();
    __called__
    runtime.close().await;
}
