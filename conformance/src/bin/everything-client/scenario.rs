//! What is done in each scenario.

use std::error::Error;

use switchboard::protocol::{
    ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability, Settings,
};
use switchboard::{Client, ClientSession, Dial, Http, json};

use crate::answers::Agreeable;
use crate::told::Told;

type Played = Result<(), Box<dyn Error>>;

/// Plays the scenario to its end.
pub(crate) async fn play(told: &Told) -> Played {
    match told.scenario.as_str() {
        "initialize" | "json-schema-ref-no-deref" | "request-metadata" => {
            let session = open(told).await?;
            session.list_tools().await?;
            leave(session).await
        }
        "tools_call" => call(told, "add_numbers", json!({ "a": 5, "b": 3 })).await,
        "elicitation-sep1034-client-defaults" => {
            call(told, "test_client_elicitation_defaults", json!({})).await
        }
        "sse-retry" => call(told, "test_reconnection", json!({})).await,
        "json-schema-2020-12-preservation" => echo_schema(told).await,
        "http-standard-headers" => one_of_each(told).await,
        "http-custom-headers" => calls_of_the_context(told).await,
        "http-invalid-tool-headers" => every_tool(told, json!({ "region": "us-east1" })).await,
        "sep-2322-client-request-state" => every_tool(told, json!({})).await,
        other => Err(format!("there is nothing to play for {other:?} yet").into()),
    }
}

/// How the mock server is reached.
fn dial(url: &str) -> Result<impl Dial, Box<dyn Error>> {
    Ok(Http::new(url))
}

/// Opens a session and declares all that can be declared. What the mock server speaks is found out, as with any other.
async fn open(told: &Told) -> Result<ClientSession, Box<dyn Error>> {
    let declares = ClientCapabilities::new()
        .with_roots(RootsCapability::new())
        .with_sampling(SamplingCapability::new())
        .with_elicitation(ElicitationCapability::new().with_form(Settings::new()));
    let client = Client::new()
        .with_name("everything-client", "1.0.0")
        .with_capabilities(declares)
        .with_answers(Agreeable);
    let session = client.connect(dial(&told.url)?).await?;
    let agreed = session.info()?.revision;
    match agreed.era() == told.revision.era() {
        true => Ok(session),
        false => Err(format!("{agreed} was agreed on, where the server speaks {}", told.revision).into()),
    }
}

async fn leave(session: ClientSession) -> Played {
    session.close().await;
    Ok(())
}

/// Lists the tools and calls one of them.
async fn call(told: &Told, tool: &str, arguments: serde_json::Value) -> Played {
    let session = open(told).await?;
    session.list_tools().await?;
    succeed(&session, tool, &arguments).await?;
    leave(session).await
}

async fn succeed(session: &ClientSession, tool: &str, arguments: &impl serde::Serialize) -> Played {
    let result = session.call_tool(tool, arguments).await?;
    match result.is_error {
        true => Err(format!("{tool} failed: {}", result.text()).into()),
        false => Ok(()),
    }
}

/// Calls every tool that the list holds: those that must not be called are not in it.
async fn every_tool(told: &Told, arguments: serde_json::Value) -> Played {
    let session = open(told).await?;
    for tool in session.list_tools().await?.iter() {
        succeed(&session, &tool.name, &arguments).await?;
    }
    leave(session).await
}

async fn calls_of_the_context(told: &Told) -> Played {
    let session = open(told).await?;
    session.list_tools().await?;
    for call in &told.context.tool_calls {
        succeed(&session, &call.name, &call.arguments).await?;
    }
    leave(session).await
}

/// Sends a schema back as it came.
async fn echo_schema(told: &Told) -> Played {
    let session = open(told).await?;
    let tools = session.list_tools().await?;
    let tool = tools.by_name("json_schema_2020_12_tool").ok_or("the tool with the schema is not listed")?;
    succeed(&session, "json_schema_echo", &json!({ "schema": &tool.input_schema })).await?;
    leave(session).await
}

/// One request of every kind that has headers of its own.
async fn one_of_each(told: &Told) -> Played {
    let session = open(told).await?;
    for tool in session.list_tools().await?.iter() {
        succeed(&session, &tool.name, &json!({})).await?;
    }
    for resource in session.list_resources().await?.iter() {
        session.read_resource(resource.uri.as_str()).await?;
    }
    for prompt in session.list_prompts().await?.iter() {
        session.get_prompt(prompt.name.as_str(), [("", ""); 0]).await?;
    }
    leave(session).await
}
