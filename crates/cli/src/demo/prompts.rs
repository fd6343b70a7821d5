//! Prompts of the demo server, and argument completion.

use switchboard::protocol::{
    CompleteParams, CompleteResult, Completion, GetPromptParams, GetPromptResult, ListPromptsResult,
    OrderedMap, Prompt, PromptArgument, PromptMessage, Reference, Role, RpcError,
};
use switchboard::server::Reply;

use crate::demo::resources::{CITIES, TEMPLATE};

const LANGUAGES: [&str; 7] = ["finnish", "french", "frisian", "german", "greek", "italian", "japanese"];
const STYLES: [&str; 3] = ["formal", "friendly", "poetic"];

pub(crate) fn list() -> ListPromptsResult {
    let argument = |name: &str, about: &str| PromptArgument::new(name).with_description(about);
    let translate = Prompt::new("translate").with_description("Asks for a translation.").with_arguments([
        argument("language", "Into which language").with_required(true),
        argument("text", "What to translate").with_required(true),
        argument("style", "In which tone"),
    ]);
    let introduce = Prompt::new("introduce").with_description("Asks the model who it is.");
    ListPromptsResult::new([translate, introduce])
}

pub(crate) fn get(params: GetPromptParams) -> Reply {
    let arguments: OrderedMap<String> = params.arguments.unwrap_or_default();
    let needed = |name: &str| {
        let missing = || RpcError::invalid_params(format!("The prompt needs the argument {name:?}"));
        arguments.get(name).cloned().ok_or_else(missing)
    };
    let text = match params.name.as_str() {
        "translate" => {
            let style =
                arguments.get("style").map(|style| format!(", in a {style} tone")).unwrap_or_default();
            format!("Translate this into {}{style}:\n\n{}", needed("language")?, needed("text")?)
        }
        "introduce" => "Who are you, and what can you do?".to_owned(),
        other => return Err(RpcError::invalid_params(format!("Unknown prompt: {other}"))),
    };
    Ok(GetPromptResult::new([PromptMessage::new(Role::User, text)]).into())
}

pub(crate) fn complete(params: &CompleteParams) -> Reply {
    let argument = &params.argument;
    let filled = params.context.as_ref().and_then(|context| context.arguments.as_ref());
    let values: &[&str] = match (&params.reference, argument.name.as_str()) {
        (Reference::Prompt { name, .. }, "language") if name == "translate" => &LANGUAGES,
        // The choices depend on an argument that is already filled in.
        (Reference::Prompt { name, .. }, "style") if name == "translate" => {
            let is_german =
                filled.and_then(|filled| filled.get("language")).is_some_and(|known| known == "german");
            if is_german { &STYLES[..2] } else { &STYLES }
        }
        (Reference::Resource { uri }, "name") if uri == TEMPLATE => &CITIES,
        _ => &[],
    };
    let typed = argument.value.to_lowercase();
    let fitting: Vec<String> =
        values.iter().filter(|value| value.starts_with(&typed)).map(|value| (*value).to_owned()).collect();
    Ok(CompleteResult::new(Completion::new(fitting)).into())
}
