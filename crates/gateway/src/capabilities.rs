//! The capabilities of a client as a server sees them: what the client of this call declared, as far as the gateway relays it.

use switchboard_protocol::surface::TASKS_EXTENSION;
use switchboard_protocol::{
    ClientCapabilities, ElicitationCapability, Raw, RootsCapability, SamplingCapability, ServerCapabilities,
    Settings, TaskRequests, TasksCapability,
};

/// Whether the caller of a tool can take a task instead of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskOffer {
    /// It can: the extension is declared to the server for this call.
    Accepted,
    /// It cannot.
    None,
}

/// Returns the capabilities that a server sees. Keys that no revision defines stay behind: they describe one hop.
pub(crate) fn relayed_capabilities(declared: &ClientCapabilities, tasks: TaskOffer) -> ClientCapabilities {
    let mut relayed = ClientCapabilities::new();
    relayed.elicitation = declared.elicitation.as_ref().map(|elicitation| {
        let mut modes = ElicitationCapability::new();
        modes.form = elicitation.form.as_ref().map(|_| Settings::new());
        modes.url = elicitation.url.as_ref().map(|_| Settings::new());
        modes
    });
    relayed.sampling = declared.sampling.as_ref().map(|sampling| {
        let mut kinds = SamplingCapability::new();
        kinds.context = sampling.context.as_ref().map(|_| Settings::new());
        kinds.tools = sampling.tools.as_ref().map(|_| Settings::new());
        kinds
    });
    relayed.roots = declared.roots.as_ref().map(|_| RootsCapability::new());
    if tasks == TaskOffer::Accepted {
        relayed.extensions.get_or_insert_default().insert(TASKS_EXTENSION, Raw::empty_object());
    }
    relayed
}

/// Declares tasks to the clients of the gateway, in both protocols.
pub(crate) fn declare_tasks(capabilities: &mut ServerCapabilities) {
    let call = Settings::from_iter([("call".to_owned(), Raw::empty_object())]);
    let tasks = TasksCapability::new()
        .with_list(Settings::new())
        .with_cancel(Settings::new())
        .with_requests(TaskRequests::new().with_tools(call));
    capabilities.tasks = Some(tasks);
    capabilities.extensions.get_or_insert_default().insert(TASKS_EXTENSION, Raw::empty_object());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_gateway_cannot_relay_is_not_declared() {
        let text = r#"{"elicitation":{"form":{"x":1},"url":{}},"sampling":{"tools":{}},"roots":{"listChanged":true},
            "tasks":{"list":{}},"experimental":{"a":{}},"x-own":{},"extensions":{"com.example/a":{}}}"#;
        let declared: ClientCapabilities = Raw::parse(text.to_owned()).unwrap().decode().unwrap();
        let relayed =
            |tasks| Raw::encode(&relayed_capabilities(&declared, tasks)).unwrap().as_str().to_owned();
        let kept = r#""roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}"#;
        assert_eq!(relayed(TaskOffer::None), format!("{{{kept}}}"));
        let tasks = r#""extensions":{"io.modelcontextprotocol/tasks":{}}"#;
        assert_eq!(relayed(TaskOffer::Accepted), format!("{{{kept},{tasks}}}"));
        assert_eq!(
            relayed_capabilities(&ClientCapabilities::new(), TaskOffer::None),
            ClientCapabilities::new()
        );
    }
}
