//! Round trips: decoded values encode to the same JSON, and values kept as text to the same bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;
use switchboard_protocol::*;

/// Decodes `text` both by `FromRaw` and by `Deserialize`.
fn read<T: Serialize + DeserializeOwned + FromRaw>(text: &str) -> Result<T, DecodeError> {
    let raw = Raw::parse(text.to_owned()).unwrap();
    let (sliced, deserialised) = (T::from_raw(&raw), raw.decode::<T>());
    let written = |value: &T| Raw::encode(value).unwrap();
    assert_eq!(sliced.as_ref().ok().map(written), deserialised.as_ref().ok().map(written), "{text}");
    sliced
}

/// Decodes and encodes `text` and compares; keys in `text` must be in encoding order.
fn same<T: Serialize + DeserializeOwned + FromRaw>(text: &str) -> T {
    becomes(text, text)
}

/// Decodes and encodes `text` and compares with `written`.
fn becomes<T: Serialize + DeserializeOwned + FromRaw>(text: &str, written: &str) -> T {
    let value: T = read(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(Raw::encode(&value).unwrap().as_str(), written);
    value
}

fn fails<T: Serialize + DeserializeOwned + FromRaw>(text: &str) -> DecodeError {
    match read::<T>(text) {
        Ok(_) => panic!("should not be readable: {text}"),
        Err(error) => error,
    }
}

#[test]
fn handshakes() {
    let params: InitializeParams = same(
        r#"{"protocolVersion":"2099-01-01","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"X","version":"1.0.0"}}"#,
    );
    assert_eq!(params.protocol_version, "2099-01-01");
    same::<InitializeResult>(
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"S","title":"Ess","version":"1","description":"d","websiteUrl":"https://s","icons":[{"src":"data:,","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}]},"instructions":"…"}"#,
    );
    let discovered: DiscoverResult = same(
        r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"extensions":{"io.modelcontextprotocol/tasks":{}}},"instructions":"…","ttlMs":3600000,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"S","version":"1.0.0"}}}"#,
    );
    assert_eq!(discovered.server_info().unwrap().name, "S");
    assert!(discovered.capabilities.has_extension("io.modelcontextprotocol/tasks"));
    same::<EmptyResult>("{}");
    same::<EmptyParams>(r#"{"_meta":{"a":1}}"#);
}

#[test]
fn server_info_in_the_body_is_decoded() {
    let text = r#"{"supportedVersions":[],"capabilities":{},"serverInfo":{"name":"B","version":"1"}}"#;
    let result: DiscoverResult = Raw::parse(text).unwrap().decode().unwrap();
    assert_eq!(result.server_info().unwrap().name, "B");
}

#[test]
fn capabilities_preserve_unknown_keys() {
    let client: ClientCapabilities = same(
        r#"{"experimental":{"x":{"a": 1}},"roots":{"listChanged":true,"deep":1},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}},"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}},"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}},"future":{"y": [ ]}}"#,
    );
    assert!(
        client.declares("elicitation.url") && client.declares("future.y") && !client.declares("roots.other")
    );
    let server: ServerCapabilities = same(
        r#"{"experimental":{},"logging":{},"completions":{},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":false},"tools":{"listChanged":true},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}},"extensions":{},"later":true}"#,
    );
    assert!(server.declares("resources.subscribe") && !server.declares("resources.listChanged"));
    let sloppy: ServerCapabilities =
        becomes(r#"{"tools":true,"logging":null,"prompts":false}"#, r#"{"tools":{}}"#);
    assert!(sloppy.declares("tools"));
    assert!(fails::<ServerCapabilities>(r#"{"tools":5}"#).to_string().contains("tools"));
    let bare: ElicitationCapability = same("{}");
    assert!(bare.allows_form() && !bare.allows_url());
}

#[test]
fn content_of_every_kind() {
    for text in [
        r#"{"type":"text","text":"hi","annotations":{"audience":["user","assistant"],"priority":1,"lastModified":"2025-01-12T15:00:58Z"},"_meta":{"k":1}}"#,
        r#"{"type":"image","data":"aGk=","mimeType":"image/png"}"#,
        r#"{"type":"audio","data":"aGk=","mimeType":"audio/wav","annotations":{"priority":0.5}}"#,
        r#"{"type":"resource_link","uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"text/plain","size":3}"#,
        r#"{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"x"},"annotations":{"priority":0.2}}"#,
        r#"{"type":"resource","resource":{"uri":"file:///a","blob":"aGk=","_meta":{}}}"#,
        r#"{"type":"tool_use","id":"1","name":"t","input":{"a": 1.0}}"#,
        r#"{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"x"}],"structuredContent":{"n": 1},"isError":true}"#,
        r#"{"type":"hologram","depth": 1e999,"text":7}"#,
    ] {
        let block: Content = same(text);
        assert_eq!(matches!(block, Content::Unknown(_)), text.contains("hologram"), "{text}");
    }
}

#[test]
fn content_whose_type_is_not_the_first_member() {
    let block: Content = becomes(r#"{"text":"hi","type":"text"}"#, r#"{"type":"text","text":"hi"}"#);
    assert_eq!(block.as_text(), Some("hi"));
    same::<Content>(r#"{"a":[1,  2],"type":"hologram"}"#);
    let list: Vec<Content> = becomes(
        r#"[{"isError":false,"toolUseId":"1","content":[{"text":"x","type":"text"}],"type":"tool_result"}]"#,
        r#"[{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"x"}]}]"#,
    );
    assert!(matches!(list[0], Content::ToolResult(_)));
}

#[test]
fn invalid_content_is_rejected() {
    for text in [
        r#"{"type":"text"}"#,
        r#"{"text":"x"}"#,
        "{}",
        "\"x\"",
        r#"{"type":null}"#,
        r#"{"type":"text","text":5}"#,
    ] {
        fails::<Content>(text);
    }
    let error =
        fails::<CallToolResult>(r#"{"content":[{"type":"text","text":"a"},{"type":"image","data":"x"}]}"#);
    assert_eq!(error.path(), "content[1]");
}

#[test]
fn annotations_inside_an_embedded_resource_are_decoded() {
    becomes::<Content>(
        r#"{"type":"resource","resource":{"uri":"file:///a","text":"x","annotations":{"priority":0.2}}}"#,
        r#"{"type":"resource","resource":{"uri":"file:///a","text":"x"},"annotations":{"priority":0.2}}"#,
    );
    fails::<ResourceContents>(r#"{"uri":"file:///a"}"#);
}

#[test]
fn tools() {
    let tool: Tool = same(
        r#"{"name":"t","title":"T","description":"d","inputSchema":{ "type" : "object", "properties":{"n":{"type":"integer"}}, "x-mcp-header":1},"outputSchema":{"anyOf":[ ]},"annotations":{"title":"A","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},"execution":{"taskSupport":"optional"},"icons":[{"src":"https://x"}],"_meta":{"ui":{"resourceUri":"ui://x"}}}"#,
    );
    assert_eq!(tool.display_name(), "T");
    assert_eq!(tool.input().unwrap().properties[0].types, "integer");
    let silent = Tool::new("t", Raw::empty_object()).effects();
    assert!(
        !silent.is_read_only()
            && silent.is_destructive()
            && !silent.is_idempotent()
            && silent.is_open_world()
    );
    same::<ListToolsResult>(r#"{"tools":[],"nextCursor":"","ttlMs":0,"cacheScope":"private","_meta":{}}"#);
    becomes::<ListToolsResult>(
        r#"{"tools":[],"nextCursor":null,"ttlMs":-5,"cacheScope":"x"}"#,
        r#"{"tools":[]}"#,
    );
}

#[test]
fn tool_calls() {
    let params: CallToolParams = same(
        r#"{"name":"t","arguments":{"a" : 1e999},"task":{"ttl":60000},"inputResponses":{"k":{"action":"accept","content":{"x":1}}},"requestState":"s","_meta":{"progressToken":"p7","traceparent":"00"}}"#,
    );
    assert_eq!(params.meta.unwrap().progress_token(), Some(RequestId::from("p7")));
    let answer: ElicitResult = params.input_responses.unwrap().decode("k").unwrap().unwrap();
    assert_eq!(answer.action, ElicitAction::Accept);
    let result: CallToolResult = same(
        r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"structuredContent":[1, 2.50],"isError":true}"#,
    );
    assert_eq!(result.text(), "a\nb");
    assert_eq!(result.structured::<Vec<f64>>().unwrap(), Some(vec![1.0, 2.5]));
    becomes::<CallToolResult>(
        r#"{"structuredContent":{},"isError":null}"#,
        r#"{"content":[],"structuredContent":{}}"#,
    );
}

#[test]
fn resources_prompts_and_completion() {
    same::<Resource>(
        r#"{"uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"m","annotations":{"audience":["user"]},"size":9,"icons":[{"src":"data:,"}],"_meta":{}}"#,
    );
    same::<ListResourcesResult>(r#"{"resources":[],"nextCursor":"n"}"#);
    same::<ListResourceTemplatesResult>(
        r#"{"resourceTemplates":[{"uriTemplate":"file:///{p}","name":"f","title":"F","mimeType":"m"}]}"#,
    );
    same::<ReadResourceParams>(r#"{"uri":"file:///a","requestState":"s"}"#);
    same::<ReadResourceResult>(
        r#"{"contents":[{"uri":"file:///a","text":""},{"uri":"file:///b","mimeType":"m","blob":"aGk="}],"ttlMs":1,"cacheScope":"public"}"#,
    );
    same::<ListPromptsResult>(
        r#"{"prompts":[{"name":"p","title":"P","description":"d","arguments":[{"name":"a","title":"A","description":"d","required":true}],"icons":[{"src":"data:,"}]}]}"#,
    );
    same::<GetPromptParams>(r#"{"name":"p","arguments":{"z":"1","a":"2"}}"#);
    same::<GetPromptResult>(
        r#"{"description":"d","messages":[{"role":"user","content":{"type":"resource_link","uri":"file:///a","name":"a"}}]}"#,
    );
    same::<CompleteParams>(
        r#"{"ref":{"type":"ref/prompt","name":"p","title":"P"},"argument":{"name":"a","value":"v"},"context":{"arguments":{"b":"c"}}}"#,
    );
    same::<CompleteParams>(
        r#"{"ref":{"type":"ref/resource","uri":"file:///{p}"},"argument":{"name":"p","value":""}}"#,
    );
    fails::<Reference>(r#"{"type":"ref/tool","name":"x"}"#);
    same::<CompleteResult>(r#"{"completion":{"values":["a"],"total":10,"hasMore":true}}"#);
    let many = Completion::new((0..150).map(|n| n.to_string()).collect::<Vec<_>>());
    assert_eq!((many.values.len(), many.total, many.has_more), (100, Some(150), Some(true)));
}

#[test]
fn forms_of_every_kind() {
    let params: ElicitParams = same(
        r#"{"mode":"form","message":"m","requestedSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"s":{"type":"string","title":"S","description":"d","minLength":1,"maxLength":5,"format":"email","default":"x"},"n":{"type":"number","minimum":0.5,"maximum":9,"default":1.5},"i":{"type":"integer","minimum":1,"default":3},"b":{"type":"boolean","default":false},"e":{"type":"string","enum":["a","b"],"default":"a"},"l":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},"t":{"type":"string","oneOf":[{"const":"a","title":"A"}]},"m":{"type":"array","items":{"type":"string","enum":["a"]},"minItems":1,"maxItems":2,"default":["a"]},"mt":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}},"u":{"type":"date","x":1}},"required":["s"]}}"#,
    );
    let ElicitParams::Form(form) = &params else { panic!("{params:?}") };
    let fields = &form.requested_schema.properties;
    assert!(matches!(fields.get("u"), Some(FormField::Unknown(_))));
    assert!(
        matches!(fields.get("l"), Some(FormField::Choice(field)) if field.style == ChoiceStyle::EnumNames)
    );
    let built = FormSchema::new()
        .with_required("s", FormField::Text(TextField::new().with_format("uri")))
        .with_optional("c", FormField::Choice(ChoiceField::new([ChoiceOption::new("a").with_title("A")])));
    assert_eq!(
        serde_json::to_string(&built).unwrap(),
        r#"{"type":"object","properties":{"s":{"type":"string","format":"uri"},"c":{"type":"string","oneOf":[{"const":"a","title":"A"}]}},"required":["s"]}"#
    );
}

#[test]
fn elicitation() {
    same::<ElicitParams>(r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#);
    same::<ElicitParams>(r#"{"mode":"url","message":"m","url":"https://x","elicitationId":"e"}"#);
    fails::<ElicitParams>(r#"{"mode":"dance","message":"m"}"#);
    fails::<ElicitParams>(r#"{"message":"m"}"#);
    let result: ElicitResult = same(r#"{"action":"accept","content":{"s":"x","m":["a"],"n":1.0}}"#);
    assert!(result.decode::<serde_json::Value>().unwrap().is_some());
    same::<ElicitResult>(r#"{"action":"decline"}"#);
    same::<ElicitationComplete>(r#"{"elicitationId":"e"}"#);
}

#[test]
fn sampling_and_roots() {
    let params: CreateMessageParams = same(
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{}},{"type":"text","text":"b"}]}],"modelPreferences":{"hints":[{"name":"small"}],"costPriority":0.1,"speedPriority":1,"intelligencePriority":0},"systemPrompt":"s","includeContext":"thisServer","temperature":0.7,"maxTokens":100,"stopSequences":["x"],"metadata":{"k": 1},"tools":[{"name":"t","inputSchema":{}}],"toolChoice":{"mode":"required"},"task":{}}"#,
    );
    assert_eq!(params.messages[1].content.len(), 2);
    becomes::<SamplingMessage>(
        r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#,
        r#"{"role":"user","content":{"type":"text","text":"a"}}"#,
    );
    same::<CreateMessageResult>(
        r#"{"role":"assistant","content":{"type":"text","text":"a"},"model":"m","stopReason":"endTurn"}"#,
    );
    same::<ListRootsResult>(r#"{"roots":[{"uri":"file:///a","name":"a","_meta":{}}]}"#);
}

#[test]
fn input_requests() {
    let required: InputRequired = same(
        r#"{"resultType":"input_required","inputRequests":{"b":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x"}},"a":{"method":"roots/list"},"c":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}},"d":{"method":"x/y","params":[1]}},"requestState":"s"}"#,
    );
    let requests = required.input_requests.unwrap();
    assert_eq!(requests.keys().collect::<Vec<_>>(), ["b", "a", "c", "d"]);
    assert!(matches!(requests.get("d"), Some(InputRequest::Unknown { .. })));
    same::<InputRequired>(r#"{"resultType":"input_required","requestState":"s"}"#);
    fails::<InputRequired>(r#"{"resultType":"complete"}"#);
}

#[test]
fn notifications() {
    same::<ProgressParams>(r#"{"progressToken":7,"progress":1,"total":4.5,"message":"m"}"#);
    same::<CancelledParams>(r#"{"requestId":"r","reason":"why"}"#);
    same::<CancelledParams>("{}");
    same::<LogMessage>(r#"{"level":"warning","logger":"l","data":{"a" : 1}}"#);
    same::<SetLevelParams>(r#"{"level":"emergency"}"#);
    same::<SubscribeParams>(r#"{"uri":"file:///a"}"#);
    same::<ResourceUpdated>(r#"{"uri":"file:///a"}"#);
    same::<ListenParams>(
        r#"{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:///a"],"taskIds":["t"]}}"#,
    );
    let acknowledged: Acknowledged = same(
        r#"{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":"l1"}}"#,
    );
    assert_eq!(acknowledged.meta.unwrap().subscription_id(), Some(RequestId::from("l1")));
}

#[test]
fn tasks_of_both_kinds() {
    let flat = r#""taskId":"t","status":"working","statusMessage":"m","createdAt":"c","lastUpdatedAt":"l","ttlMs":null,"pollIntervalMs":5"#;
    let created: CreateTaskResult = same(&format!(r#"{{"resultType":"task",{flat}}}"#));
    assert!(!created.task.status.is_terminal());
    same::<DetailedTask>(&format!(r#"{{{flat},"inputRequests":{{"a":{{"method":"roots/list"}}}}}}"#));
    same::<DetailedTask>(&format!(r#"{{{flat},"result":{{"content": [ ]}},"_meta":{{"x":1}}}}"#));
    same::<DetailedTask>(&format!(r#"{{{flat},"error":{{"code":-32603,"message":"m"}}}}"#));
    same::<UpdateTaskParams>(r#"{"taskId":"t","inputResponses":{"a":{"roots":[]}}}"#);
    same::<TaskIdParams>(r#"{"taskId":"t"}"#);
    let old = r#"{"taskId":"t","status":"input_required","createdAt":"c","lastUpdatedAt":"l","ttl":60000,"pollInterval":5}"#;
    same::<LegacyCreateTaskResult>(&format!(r#"{{"task":{old}}}"#));
    same::<LegacyTaskState>(old);
    same::<ListTasksResult>(&format!(r#"{{"tasks":[{old}],"nextCursor":"n"}}"#));
}

#[test]
fn a_server_result_is_encoded_without_a_tag() {
    let result = ServerResult::from(CallToolResult::error("no"));
    assert_eq!(
        serde_json::to_string(&result).unwrap(),
        r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#
    );
    let raw = ServerResult::from(Raw::parse(r#"{ "kept" : 1.0 }"#).unwrap());
    assert_eq!(serde_json::to_string(&raw).unwrap(), r#"{ "kept" : 1.0 }"#);
}
