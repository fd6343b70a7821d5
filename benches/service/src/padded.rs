//! A service with more tools than its trait has: a macro cannot be asked for a number of them.

use std::sync::Arc;

use bench_kit::fixture;
use switchboard::protocol::CallToolResult;
use switchboard::service::design::{ArgsDef, Design, ToolDef};
use switchboard::service::{Call, CallFuture, Changes, Contents, Cx, Dispatch, PromptMessages};

/// The same service, with tools that are only listed.
pub(crate) fn padded(service: Arc<dyn Dispatch>, tools: usize) -> Arc<dyn Dispatch> {
    let mut design = Design::clone(service.design());
    let more = fixture::tools(tools).into_iter().skip(design.tools.len());
    design.tools.extend(more.map(|definition| {
        let schema = serde_json::from_str(&definition.schema).expect("the schemas of the fixture are JSON");
        ToolDef::new(definition.name, definition.description)
            .with_args(ArgsDef::new(schema).expect("they are objects"))
    }));
    Arc::new(Padded { service, design: Arc::new(design) })
}

struct Padded {
    service: Arc<dyn Dispatch>,
    design: Arc<Design>,
}

impl Dispatch for Padded {
    fn design(&self) -> &Arc<Design> {
        &self.design
    }

    fn call_tool(&self, tool: usize, call: Call) -> CallFuture<CallToolResult> {
        self.service.call_tool(tool, call)
    }

    fn read_resource(&self, resource: usize, call: Call) -> CallFuture<Contents> {
        self.service.read_resource(resource, call)
    }

    fn get_prompt(&self, prompt: usize, call: Call) -> CallFuture<PromptMessages> {
        self.service.get_prompt(prompt, call)
    }

    fn watch(&self, watch: usize, cx: Cx, changes: Changes) -> CallFuture<()> {
        self.service.watch(watch, cx, changes)
    }

    fn complete(&self, completion: usize, call: Call) -> CallFuture<Vec<String>> {
        self.service.complete(completion, call)
    }
}
