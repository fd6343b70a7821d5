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

/// Reads the capabilities that a server says a call needs; `None` unless the client lacks one of them that would be relayed.
pub(crate) fn required_capabilities(data: &Raw, declared: &ClientCapabilities) -> Option<ClientCapabilities> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Requirement {
        required_capabilities: Raw,
    }
    let Requirement { required_capabilities } = data.decode().ok()?;
    let all: ClientCapabilities = required_capabilities.decode().ok()?;
    let offer = |capabilities: &ClientCapabilities| match has_tasks(capabilities) {
        true => TaskOffer::Accepted,
        false => TaskOffer::None,
    };
    let required = relayed_capabilities(&all, offer(&all));
    let modes = |of: &ClientCapabilities| {
        let (elicitation, sampling) = (of.elicitation.as_ref(), of.sampling.as_ref());
        [
            of.elicitation.is_some(),
            elicitation.is_some_and(|modes| modes.form.is_some()),
            elicitation.is_some_and(|modes| modes.url.is_some()),
            of.sampling.is_some(),
            sampling.is_some_and(|kinds| kinds.context.is_some()),
            sampling.is_some_and(|kinds| kinds.tools.is_some()),
            of.roots.is_some(),
            has_tasks(of),
        ]
    };
    let lacks_any = modes(&required).into_iter().zip(modes(declared)).any(|(needs, has)| needs && !has);
    lacks_any.then_some(required)
}

fn has_tasks(capabilities: &ClientCapabilities) -> bool {
    capabilities.extensions.as_ref().is_some_and(|extensions| extensions.get(TASKS_EXTENSION).is_some())
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
    fn a_required_capability_is_believed_only_if_the_client_lacks_it_and_it_would_be_relayed() {
        let declared: ClientCapabilities =
            Raw::parse(r#"{"elicitation":{"form":{}},"extensions":{"com.example/a":{}}}"#.to_owned())
                .unwrap()
                .decode()
                .unwrap();
        for (required, passed) in [
            (r#"{"sampling":{}}"#, r#"{"sampling":{}}"#),
            (r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation":{"url":{}}}"#),
            (
                r#"{"extensions":{"io.modelcontextprotocol/tasks":{},"com.example/b":{}}}"#,
                r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#,
            ),
            (r#"{"elicitation":{"form":{}}}"#, ""),
            (r#"{"extensions":{"com.example/b":{}}}"#, ""),
            ("{}", ""),
            ("1", ""),
        ] {
            let data = Raw::parse(format!(r#"{{"requiredCapabilities":{required}}}"#)).unwrap();
            let passes = required_capabilities(&data, &declared);
            let passes = passes.map(|required| Raw::encode(&required).unwrap().as_str().to_owned());
            assert_eq!(passes.unwrap_or_default(), passed, "{required}");
        }
        assert!(required_capabilities(&Raw::empty_object(), &declared).is_none());
    }

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
