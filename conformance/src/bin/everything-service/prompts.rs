//! The prompts of the fixture. One asks the user before it can be filled in.

use serde::Deserialize;
use switchboard::protocol::Content;
use switchboard::protocol::ResourceContents;
use switchboard::service::prelude::*;

use crate::media;

/// Texts to start from.
#[switchboard::service]
pub(crate) trait Prompts {
    /// A prompt without arguments.
    #[prompt]
    async fn test_simple_prompt(&self) -> Result<PromptMessages>;

    /// A prompt with two arguments.
    #[prompt]
    async fn test_prompt_with_arguments(
        &self,
        /// The first.
        arg1: String,
        /// The second.
        arg2: String,
    ) -> Result<PromptMessages>;

    /// A prompt with an embedded resource.
    #[prompt]
    async fn test_prompt_with_embedded_resource(
        &self,
        /// The URI of the resource.
        #[serde(rename = "resourceUri")]
        resource_uri: String,
    ) -> Result<PromptMessages>;

    /// A prompt with a picture.
    #[prompt]
    async fn test_prompt_with_image(&self) -> Result<PromptMessages>;

    /// A prompt that asks the user for its context.
    #[prompt]
    async fn test_input_required_result_prompt(&self, cx: &Cx) -> Result<PromptMessages>;

    /// Values that begin with what was typed.
    #[completion(prompt = "test_prompt_with_arguments", argument = "arg1")]
    async fn complete_first(&self, value: String) -> Result<Vec<String>>;
}

/// What a prompt is about.
#[derive(Debug, Deserialize, Form)]
struct Context {
    context: String,
}

pub(crate) struct Fixture;

impl Prompts for Fixture {
    async fn test_simple_prompt(&self) -> Result<PromptMessages> {
        Ok(PromptMessages::user("This is a simple prompt for testing."))
    }

    async fn test_prompt_with_arguments(&self, arg1: String, arg2: String) -> Result<PromptMessages> {
        Ok(PromptMessages::user(format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")))
    }

    async fn test_prompt_with_embedded_resource(&self, resource_uri: String) -> Result<PromptMessages> {
        let text = "Embedded resource content for testing.";
        let embedded = ResourceContents::text(resource_uri, text).with_mime_type("text/plain");
        Ok(PromptMessages::user(Content::resource(embedded))
            .and_user("Please process the embedded resource above."))
    }

    async fn test_prompt_with_image(&self) -> Result<PromptMessages> {
        Ok(PromptMessages::user(media::picture()).and_user("Please analyze the image above."))
    }

    async fn test_input_required_result_prompt(&self, cx: &Cx) -> Result<PromptMessages> {
        let answer = cx.elicit::<Context>("user_context", "What context should the prompt use?").await?;
        let context = answer.into_result().map_or_else(|_| "nothing".into(), |answer| answer.context);
        Ok(PromptMessages::user(format!("Use this context: {context}")))
    }

    async fn complete_first(&self, value: String) -> Result<Vec<String>> {
        let values = ["paris", "park", "party", "test"].into_iter().map(str::to_owned);
        Ok(values.filter(|known| known.starts_with(&value)).collect())
    }
}
