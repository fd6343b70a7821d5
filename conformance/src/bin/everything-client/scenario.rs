//! The steps of each scenario.

use std::error::Error;
use std::sync::Arc;

use switchboard::client::ClientSession;
use switchboard::protocol::{
    ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability, Settings,
};
use switchboard::{Client, Http, json};

use crate::authorization::authorizer;
use crate::handler::AcceptingHandler;
use crate::input::ScenarioInput;

type ScenarioResult = Result<(), Box<dyn Error>>;

/// Runs a scenario to its end.
pub(crate) async fn run(input: &ScenarioInput) -> ScenarioResult {
    match input.scenario.as_str() {
        "initialize" | "json-schema-ref-no-deref" | "request-metadata" => {
            let session = open(input).await?;
            session.list_tools().await?;
            close(session).await
        }
        "tools_call" => call(input, "add_numbers", json!({ "a": 5, "b": 3 })).await,
        "elicitation-sep1034-client-defaults" => {
            call(input, "test_client_elicitation_defaults", json!({})).await
        }
        "sse-retry" => call(input, "test_reconnection", json!({})).await,
        "json-schema-2020-12-preservation" => echo_schema(input).await,
        "http-standard-headers" => one_of_each(input).await,
        "http-custom-headers" => calls_of_the_context(input).await,
        "http-invalid-tool-headers" => every_tool(input, json!({ "region": "us-east1" })).await,
        "sep-2322-client-request-state" => every_tool(input, json!({})).await,
        "auth/scope-step-up" => call(input, "test-tool", json!({})).await,
        auth if auth.starts_with("auth/") => list_twice(input).await,
        other => Err(format!("the scenario {other:?} is not supported").into()),
    }
}

/// Opens a session with all capabilities declared, and negotiates the revision with the mock server.
async fn open(input: &ScenarioInput) -> Result<ClientSession, Box<dyn Error>> {
    let declares = ClientCapabilities::new()
        .with_roots(RootsCapability::new())
        .with_sampling(SamplingCapability::new())
        .with_elicitation(ElicitationCapability::new().with_form(Settings::new()));
    let client = Client::new()
        .with_name("everything-client", "1.0.0")
        .with_capabilities(declares)
        .with_answers(AcceptingHandler);
    let mut endpoint = Http::new(&input.url);
    if input.scenario.starts_with("auth/") {
        endpoint = endpoint.authorizer(Arc::new(authorizer(input)?));
    }
    let session = client.connect(endpoint).await?;
    let agreed = session.info()?.revision;
    match agreed.era() == input.revision.era() {
        true => Ok(session),
        false => Err(format!("{agreed} was negotiated, but the server uses {}", input.revision).into()),
    }
}

async fn close(session: ClientSession) -> ScenarioResult {
    session.close().await;
    Ok(())
}

/// Lists the tools and calls one of them.
async fn call(input: &ScenarioInput, tool: &str, arguments: serde_json::Value) -> ScenarioResult {
    let session = open(input).await?;
    session.list_tools().await?;
    succeed(&session, tool, &arguments).await?;
    close(session).await
}

async fn succeed(session: &ClientSession, tool: &str, arguments: &impl serde::Serialize) -> ScenarioResult {
    let result = session.call_tool(tool, arguments).await?;
    match result.is_error {
        true => Err(format!("{tool} failed: {}", result.text()).into()),
        false => Ok(()),
    }
}

/// Calls every listed tool; tools that must not be called are not listed.
async fn every_tool(input: &ScenarioInput, arguments: serde_json::Value) -> ScenarioResult {
    let session = open(input).await?;
    for tool in session.list_tools().await?.iter() {
        succeed(&session, &tool.name, &arguments).await?;
    }
    close(session).await
}

async fn calls_of_the_context(input: &ScenarioInput) -> ScenarioResult {
    let session = open(input).await?;
    session.list_tools().await?;
    for call in &input.context.tool_calls {
        succeed(&session, &call.name, &call.arguments).await?;
    }
    close(session).await
}

/// Lists the tools twice: some servers accept the first request with a token and reject the next.
async fn list_twice(input: &ScenarioInput) -> ScenarioResult {
    let session = open(input).await?;
    session.list_tools().await?;
    session.list_tools().await?;
    close(session).await
}

/// Sends a schema back unchanged.
async fn echo_schema(input: &ScenarioInput) -> ScenarioResult {
    let session = open(input).await?;
    let tools = session.list_tools().await?;
    let tool = tools.by_name("json_schema_2020_12_tool").ok_or("the tool with the schema is not listed")?;
    succeed(&session, "json_schema_echo", &json!({ "schema": &tool.input_schema })).await?;
    close(session).await
}

/// Sends one request of every kind that has its own headers.
async fn one_of_each(input: &ScenarioInput) -> ScenarioResult {
    let session = open(input).await?;
    for tool in session.list_tools().await?.iter() {
        succeed(&session, &tool.name, &json!({})).await?;
    }
    for resource in session.list_resources().await?.iter() {
        session.read_resource(resource.uri.as_str()).await?;
    }
    for prompt in session.list_prompts().await?.iter() {
        session.get_prompt(prompt.name.as_str(), [("", ""); 0]).await?;
    }
    close(session).await
}
