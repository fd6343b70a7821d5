//! Lowering as tables: one line per revision, oldest first.

use serde::Serialize;
use serde::de::DeserializeOwned;
use switchboard_protocol::*;

fn read<T: DeserializeOwned>(text: &str) -> T {
    Raw::parse(text.to_owned()).unwrap().decode().unwrap()
}

/// Lowers `written` to each revision and compares with the lines; `=` means "same as the line above".
fn table<T: DeserializeOwned + Serialize>(written: &str, lower: impl Fn(&mut T, Revision), lines: [&str; 5]) {
    let mut above = "";
    for (revision, line) in Revision::ALL.into_iter().zip(lines) {
        let line = if line == "=" { above } else { line };
        let mut value: T = read(written);
        lower(&mut value, revision);
        assert_eq!(serde_json::to_string(&value).unwrap(), line, "{revision}");
        above = line;
    }
}

/// As `table`, for server results.
fn results<T: DeserializeOwned + Serialize>(written: &str, lines: [&str; 5])
where
    ServerResult: From<T>,
{
    let mut above = "";
    for (revision, line) in Revision::ALL.into_iter().zip(lines) {
        let line = if line == "=" { above } else { line };
        let mut result = ServerResult::from(read::<T>(written));
        result.lower(revision);
        assert_eq!(serde_json::to_string(&result).unwrap(), line, "{revision}");
        above = line;
    }
}

#[test]
fn tools() {
    results::<ListToolsResult>(
        r#"{"tools":[{"name":"t","title":"T","inputSchema":{},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"optional"},"icons":[{"src":"data:,"}],"_meta":{"k":1}}],"ttlMs":5,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"S","version":"1"}}}"#,
        [
            r#"{"tools":[{"name":"t","inputSchema":{}}]}"#,
            r#"{"tools":[{"name":"t","inputSchema":{},"annotations":{"title":"T","readOnlyHint":true}}]}"#,
            r#"{"tools":[{"name":"t","title":"T","inputSchema":{},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"_meta":{"k":1}}]}"#,
            r#"{"tools":[{"name":"t","title":"T","inputSchema":{},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"optional"},"icons":[{"src":"data:,"}],"_meta":{"k":1}}]}"#,
            r#"{"tools":[{"name":"t","title":"T","inputSchema":{},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"icons":[{"src":"data:,"}],"_meta":{"k":1}}],"ttlMs":5,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"S","version":"1"}}}"#,
        ],
    );
    let bare = r#"{"name":"t","inputSchema":{}}"#;
    table::<Tool>(
        r#"{"name":"t","inputSchema":{},"outputSchema":{"type":"array"}}"#,
        Tool::lower,
        [bare, bare, bare, bare, r#"{"name":"t","inputSchema":{},"outputSchema":{"type":"array"}}"#],
    );
}

#[test]
fn tool_results() {
    let text = r#"{"content":[{"type":"text","text":"x"}]}"#;
    let data = r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}"#;
    results::<CallToolResult>(data, [text, "=", data, "=", "="]);
    let list = r#"{"content":[{"type":"text","text":"x"}],"structuredContent":[1]}"#;
    results::<CallToolResult>(list, [text, "=", "=", "=", list]);
    let mute = r#"{"content":[],"structuredContent":[1]}"#;
    results::<CallToolResult>(mute, [r#"{"content":[{"type":"text","text":"[1]"}]}"#, "=", "=", "=", mute]);
}

#[test]
fn content() {
    let audio = r#"{"type":"audio","data":"aGk=","mimeType":"audio/wav"}"#;
    let embedded =
        r#"{"type":"resource","resource":{"uri":"embedded:audio","mimeType":"audio/wav","blob":"aGk="}}"#;
    table::<Content>(audio, Content::lower, [embedded, audio, "=", "=", "="]);
    let link = r#"{"type":"resource_link","uri":"file:///a","name":"a","title":"A","description":"d","icons":[{"src":"data:,"}]}"#;
    let text = r#"{"type":"text","text":"A: file:///a\nd"}"#;
    let plain = r#"{"type":"resource_link","uri":"file:///a","name":"a","title":"A","description":"d"}"#;
    table::<Content>(link, Content::lower, [text, "=", plain, link, "="]);
    let noted =
        r#"{"type":"text","text":"x","annotations":{"priority":1,"lastModified":"2025"},"_meta":{"k":1}}"#;
    let older = r#"{"type":"text","text":"x","annotations":{"priority":1}}"#;
    table::<Content>(noted, Content::lower, [older, "=", noted, "=", "="]);
    let unknown = r#"{"type":"hologram","x":1}"#;
    table::<Content>(unknown, Content::lower, [unknown, "=", "=", "=", "="]);
}

#[test]
fn resources_and_prompts() {
    let resource = r#"{"resources":[{"uri":"u:a","name":"a","title":"A","size":1,"icons":[{"src":"data:,"}],"_meta":{"k":1}}],"nextCursor":"n"}"#;
    let titled =
        r#"{"resources":[{"uri":"u:a","name":"a","title":"A","size":1,"_meta":{"k":1}}],"nextCursor":"n"}"#;
    let bare = r#"{"resources":[{"uri":"u:a","name":"a","size":1}],"nextCursor":"n"}"#;
    results::<ListResourcesResult>(resource, [bare, "=", titled, resource, "="]);
    let template = r#"{"resourceTemplates":[{"uriTemplate":"u:{a}","name":"a","title":"A"}]}"#;
    let bare = r#"{"resourceTemplates":[{"uriTemplate":"u:{a}","name":"a"}]}"#;
    results::<ListResourceTemplatesResult>(template, [bare, "=", template, "=", "="]);
    let contents =
        r#"{"contents":[{"uri":"u:a","text":"x","_meta":{"k":1}}],"ttlMs":1,"cacheScope":"private"}"#;
    let fresh = r#"{"contents":[{"uri":"u:a","text":"x","_meta":{"k":1}}]}"#;
    results::<ReadResourceResult>(
        contents,
        [r#"{"contents":[{"uri":"u:a","text":"x"}]}"#, "=", fresh, "=", contents],
    );
    let prompt = r#"{"prompts":[{"name":"p","title":"P","arguments":[{"name":"a","title":"A"}]}]}"#;
    let bare = r#"{"prompts":[{"name":"p","arguments":[{"name":"a"}]}]}"#;
    results::<ListPromptsResult>(prompt, [bare, "=", prompt, "=", "="]);
    let message =
        r#"{"messages":[{"role":"user","content":{"type":"resource_link","uri":"u:a","name":"a"}}]}"#;
    let text = r#"{"messages":[{"role":"user","content":{"type":"text","text":"a: u:a"}}]}"#;
    results::<GetPromptResult>(message, [text, "=", message, "=", "="]);
}

#[test]
fn handshakes() {
    let full = r#"{"name":"S","title":"T","version":"1","description":"d","websiteUrl":"https://s","icons":[{"src":"data:,"}]}"#;
    let bare = r#"{"name":"S","version":"1"}"#;
    table::<Implementation>(
        full,
        Implementation::lower,
        [bare, "=", r#"{"name":"S","title":"T","version":"1"}"#, full, "="],
    );
    table::<ClientCapabilities>(
        r#"{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{},"a.b/c":{}},"x":1}"#,
        ClientCapabilities::lower,
        [
            r#"{"roots":{"listChanged":true},"sampling":{},"extensions":{"a.b/c":{}},"x":1}"#,
            "=",
            r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{},"extensions":{"a.b/c":{}},"x":1}"#,
            r#"{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"tasks":{"list":{}},"extensions":{"a.b/c":{}},"x":1}"#,
            r#"{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{},"a.b/c":{}},"x":1}"#,
        ],
    );
    let url_only = r#"{"elicitation":{"url":{}}}"#;
    table::<ClientCapabilities>(url_only, ClientCapabilities::lower, ["{}", "=", "=", url_only, "="]);
    let extension = r#"{"completions":{},"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    let older = r#"{"completions":{},"tools":{}}"#;
    table::<ServerCapabilities>(
        extension,
        ServerCapabilities::lower,
        [r#"{"tools":{}}"#, older, "=", "=", extension],
    );
}

#[test]
fn parameters_and_notifications() {
    let call = r#"{"name":"t","task":{"ttl":1},"inputResponses":{},"requestState":"s","_meta":{"io.modelcontextprotocol/logLevel":"info","progressToken":1}}"#;
    let bare = r#"{"name":"t","_meta":{"progressToken":1}}"#;
    let task = r#"{"name":"t","task":{"ttl":1},"_meta":{"progressToken":1}}"#;
    let modern = r#"{"name":"t","inputResponses":{},"requestState":"s","_meta":{"io.modelcontextprotocol/logLevel":"info","progressToken":1}}"#;
    table::<CallToolParams>(call, CallToolParams::lower, [bare, "=", "=", task, modern]);
    let progress = r#"{"progressToken":1,"progress":2,"message":"m"}"#;
    let silent = r#"{"progressToken":1,"progress":2}"#;
    table::<ProgressParams>(progress, ProgressParams::lower, [silent, progress, "=", "=", "="]);
    let complete = r#"{"ref":{"type":"ref/prompt","name":"p","title":"P"},"argument":{"name":"a","value":""},"context":{"arguments":{}}}"#;
    let bare = r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}"#;
    table::<CompleteParams>(complete, CompleteParams::lower, [bare, "=", complete, "=", "="]);
    let roots = r#"{"roots":[{"uri":"file:///","_meta":{}}],"_meta":{"k":1}}"#;
    let bare = r#"{"roots":[{"uri":"file:///"}],"_meta":{"k":1}}"#;
    let modern = r#"{"roots":[{"uri":"file:///","_meta":{}}]}"#;
    table::<ListRootsResult>(roots, ListRootsResult::lower, [bare, "=", roots, "=", modern]);
}

/// Lowers a request to the client; `-` if it is unavailable.
fn lowered_request(written: &str, to: Revision) -> String {
    let mut request: InputRequest = read(written);
    match request.lower(to) {
        Ok(()) => serde_json::to_string(&request).unwrap(),
        Err(error) => {
            assert_eq!(error.revision, to);
            "-".into()
        }
    }
}

fn input_requests(written: &str, lines: [&str; 5]) {
    let mut above = "";
    for (revision, line) in Revision::ALL.into_iter().zip(lines) {
        above = if line == "=" { above } else { line };
        assert_eq!(lowered_request(written, revision), above, "{revision}");
    }
}

#[test]
fn elicitation_requests() {
    let form = r#"{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"s":{"type":"string","default":"x"},"b":{"type":"boolean","default":true},"c":{"type":"string","oneOf":[{"const":"a","title":"A"}]},"m":{"type":"array","items":{"type":"string","enum":["a"]}}},"required":["s"]},"task":{}}}"#;
    let first = r#"{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"s":{"type":"string"},"b":{"type":"boolean","default":true},"c":{"type":"string","enum":["a"],"enumNames":["A"]}},"required":["s"]}}}"#;
    input_requests(form, ["-", "-", first, form, &form.replace(r#","task":{}"#, "")]);
    input_requests(
        &form.replace(r#"["s"]"#, r#"["m"]"#).replace(r#","task":{}"#, ""),
        ["-", "-", "-", &form.replace(r#"["s"]"#, r#"["m"]"#).replace(r#","task":{}"#, ""), "="],
    );
    let url = r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x","elicitationId":"e"}}"#;
    input_requests(url, ["-", "-", "-", url, &url.replace(r#","elicitationId":"e""#, "")]);
}

#[test]
fn sampling_requests() {
    let several = r#"{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"audio","data":"","mimeType":"audio/wav"}]}],"maxTokens":1}}"#;
    let split = r#"{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"audio","data":"","mimeType":"audio/wav"}}],"maxTokens":1}}"#;
    let mute = r#"{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"text","text":"[audio, audio/wav]"}}],"maxTokens":1}}"#;
    input_requests(several, [mute, split, "=", several, "="]);
    let tools = r#"{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[{"name":"t","inputSchema":{}}]}}"#;
    input_requests(tools, ["-", "-", "-", tools, "="]);
    let answer = r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"model":"m"}"#;
    let joined = r#"{"role":"assistant","content":{"type":"text","text":"a\nb"},"model":"m"}"#;
    table::<CreateMessageResult>(answer, CreateMessageResult::lower, [joined, "=", "=", answer, "="]);
}

#[test]
fn tasks() {
    let created = r#"{"resultType":"task","taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"c","ttlMs":9,"pollIntervalMs":5}"#;
    let nested = r#"{"task":{"taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"c","ttl":9,"pollInterval":5}}"#;
    results::<CreateTaskResult>(created, [nested, "=", "=", "=", created]);
    results::<LegacyCreateTaskResult>(nested, [nested, "=", "=", "=", created]);
    let done = r#"{"taskId":"t","status":"completed","createdAt":"c","lastUpdatedAt":"c","ttlMs":null,"result":{"content":[],"isError":true}}"#;
    let failed = r#"{"taskId":"t","status":"failed","createdAt":"c","lastUpdatedAt":"c","ttl":null}"#;
    results::<DetailedTask>(done, [failed, "=", "=", "=", done]);
}

#[test]
fn error_codes() {
    let named = Raw::parse(r#"{"uri":"file:///a"}"#).unwrap();
    for (code, data, lowered) in [
        (-32002, None, [-32002, -32002, -32002, -32002, -32602]),
        (-32602, Some(named), [-32002, -32002, -32002, -32002, -32602]),
        (-32602, None, [-32602; 5]),
        (-32042, None, [-32603, -32603, -32603, -32042, -32603]),
        (-32020, None, [-32600, -32600, -32600, -32600, -32020]),
        (-32021, None, [-32602, -32602, -32602, -32602, -32021]),
        (-32022, None, [-32602, -32602, -32602, -32602, -32022]),
        (-32601, None, [-32601; 5]),
        (42, None, [42; 5]),
    ] {
        for (revision, expected) in Revision::ALL.into_iter().zip(lowered) {
            let mut error = RpcError::new(ErrorCode(code), "m");
            error.data.clone_from(&data);
            lower_error(&mut error, revision);
            assert_eq!(error.code, ErrorCode(expected), "{code} in {revision}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn lowering_is_idempotent(
        revision in proptest::sample::select(Revision::ALL.to_vec()),
        title in proptest::option::of("[a-z]{0,4}"),
        hint in proptest::option::of(proptest::bool::ANY),
        kind in proptest::sample::select(vec!["object", "array", "null"]),
    ) {
        let mut tool = Tool::new("t", Raw::empty_object()).with_output_schema(serde_json::json!({"type": kind}));
        tool.title = title;
        tool.annotations = hint.map(|hint| ToolAnnotations::new().with_read_only_hint(hint));
        tool.lower(revision);
        let once = tool.clone();
        tool.lower(revision);
        proptest::prop_assert_eq!(once, tool);
    }
}
