//! Calls as the page copies them: the compiler checks them here, and the test of the page compares its text with this file.

use std::error::Error;

use switchboard::Host;

#[test]
fn what_the_page_copies_compiles() {
    // Nothing is connected: the calls are not made.
    let _ = copied;
}

#[rustfmt::skip]
async fn copied(host: &Host) -> Result<(), Box<dyn Error>> {
    let result = host
        .call_tool("files", "read", switchboard::protocol::Raw::parse("{\"path\":\"it's\",\"n\":9007199254740993}")?)
        .await?;
    drop(result);
    let result = host
        .call_tool("files", "odd.name", serde_json::json!({
            "deep": [
                1,
                -2.5,
                null,
                "a\nb\u{202e}"
            ],
            "on": true
        }))
        .await?;
    drop(result);
    let result = host
        .call_tool("files", "read", serde_json::json!({}))
        .await?;
    drop(result);
    let result = host.read_resource("s", "x://\"a\"").await?;
    drop(result);
    let prompt = host
        .get_prompt("s", "p", [("", ""); 0])
        .await?;
    drop(prompt);
    let prompt = host
        .get_prompt("s", "p", [("text", "a b"), ("more", "{}")])
        .await?;
    drop(prompt);
    Ok(())
}
