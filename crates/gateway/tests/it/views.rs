//! Views: what their clients see and reach, in both eras.

use switchboard::client::{CallError, Change};
use switchboard::gateway::policy::Policy;
use switchboard::gateway::view::View;
use switchboard::gateway::{GatewayOptions, WithheldReason};
use switchboard::json;
use switchboard::protocol::{ListenFilter, RpcError};
use switchboard_session::ClientSession;
use switchboard_testkit::{trial_leaving_tasks, trials};

use crate::cells::Side;
use crate::raw_client::RawClient;
use crate::shop::{ShopBench, tool_names};

trials! {
    trial_leaving_tasks:
        a_view_shows_its_own_part_under_its_own_names,
        a_view_resolves_only_what_it_shows,
        fixed_and_hidden_arguments_are_out_of_reach_of_clients,
        a_tool_that_cannot_be_shown_as_wanted_is_withheld_with_the_reason,
        rules_see_the_view_the_annotations_and_the_arguments_that_are_sent,
        instructions_are_those_of_servers_that_the_caller_may_use,
        capabilities_follow_from_the_definition,
        views_are_replaced_while_clients_are_connected,
        a_removed_view_lets_calls_finish_and_refuses_others,
        a_changed_list_is_announced_in_the_views_of_its_server,
}

const SIDES: [Side; 2] = [Side::Legacy, Side::Modern];

const SUPPORT: &str = r#"
[views.support]
servers = "one"
prefix = "never"
tools.exclude = ["delete_*", "combined", "wait"]
prompts.include = "greet"
resources = { exclude = "secret://**" }

[views.support.server.one.tool.search]
name = "find_issue"
title = "Find an issue"
description = "Searches the issues of the shop."
annotations = { read_only = true }
arguments.repo = { fixed = "acme/shop" }
arguments.token = { hidden = true }
arguments.query = { description = "Words that the issue contains." }

[views.all]
servers = ["o*", "tw?"]
"#;

async fn a_view_shows_its_own_part_under_its_own_names() {
    for side in SIDES {
        let bench = ShopBench::open(SUPPORT, GatewayOptions::default()).await;
        let session = bench.client(side, "support", "ada").await;
        assert_eq!(tool_names(&session).await, ["find_issue", "large", "marked", "report"], "{side:?}");
        let tools = session.list_tools().await.unwrap();
        let tool = tools.by_name("find_issue").unwrap();
        assert_eq!(tool.title.as_deref(), Some("Find an issue"));
        assert_eq!(tool.description.as_deref(), Some("Searches the issues of the shop."));
        assert!(tool.effects().is_read_only(), "{side:?}");
        let schema: serde_json::Value = tool.input_schema.decode().unwrap();
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "Words that the issue contains." },
                    "limit": { "$ref": "#/$defs/limit" },
                },
                "required": ["query"],
                "additionalProperties": false,
                "$defs": { "limit": { "type": "integer" } },
            })
        );
        let prompts = session.list_prompts().await.unwrap();
        assert_eq!(prompts.iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), ["greet"]);
        let resources = session.list_resources().await.unwrap();
        assert_eq!(resources.iter().map(|one| one.uri.as_str()).collect::<Vec<_>>(), ["note://one"]);
        let templates = session.list_resource_templates().await.unwrap();
        assert_eq!(
            templates.iter().map(|one| one.uri_template.as_str()).collect::<Vec<_>>(),
            ["page://{id}"]
        );

        let answer = session.call_tool("find_issue", json!({ "limit": 3, "query": "a" })).await.unwrap();
        assert_eq!(answer.text(), r#"{"limit":3,"query":"a","repo":"acme/shop"}"#, "{side:?}");
        // The other view, and the one without a name, have everything, prefixed.
        let all = bench.client(side, "all", "ada").await;
        assert_eq!(tool_names(&all).await.len(), 14);
        assert!(all.call_tool("two__search", json!({ "query": "a", "repo": "b" })).await.is_ok());
        let both = all.list_resources().await.unwrap();
        assert!(both.iter().any(|one| one.uri == "gateway://two/note://one"), "a clash in this view only");
        bench.host.close().await;
    }
}

fn remote(error: CallError) -> RpcError {
    match error {
        CallError::Remote(error) => error,
        other => panic!("{other}"),
    }
}

/// Returns the error of a call, with the name in it replaced.
async fn unknown(session: &ClientSession, name: &str) -> (i64, String) {
    let error = remote(session.call_tool(name, json!({})).await.unwrap_err());
    (error.code.0.into(), error.message.replace(name, "NAME"))
}

async fn a_view_resolves_only_what_it_shows() {
    for side in SIDES {
        let bench = ShopBench::open(SUPPORT, GatewayOptions::default()).await;
        let session = bench.client(side, "support", "ada").await;
        let expected = unknown(&session, "nothing").await;
        for name in [
            // Of another server, excluded, the server's own name, the name in another view.
            "two__search",
            "delete_all",
            "search",
            "one__search",
            "one__delete_all",
            "combined",
            // Variants of shown names.
            "Find_Issue",
            "FIND_ISSUE",
            "find_issue ",
            " find_issue",
            "find\u{200b}_issue",
            "ﬁnd_issue",
            "find_i\u{17f}sue",
            "find_issue\0",
            "find%5Fissue",
            "lar\u{261}e",
            "read_result",
        ] {
            assert_eq!(unknown(&session, name).await, expected, "{side:?} {name:?}");
        }
        for uri in [
            "secret://one",
            "secret://7",
            "gateway://one/secret://one",
            "gateway://two/note://one",
            "SECRET://one",
        ] {
            let error = remote(session.read_resource(uri).await.unwrap_err());
            assert!(error.message.starts_with("Resource not found"), "{side:?} {uri} {}", error.message);
        }
        assert!(session.read_resource("page://7").await.is_ok(), "{side:?}");
        for prompt in ["secret", "one__greet", "Greet"] {
            let error = remote(session.get_prompt(prompt, [("a", "b")]).await.unwrap_err());
            assert!(error.message.starts_with("Unknown prompt"), "{side:?} {prompt} {}", error.message);
        }
        assert!(session.get_prompt("greet", [("a", "b")]).await.is_ok());
        assert!(session.subscribe("secret://one").await.is_err(), "{side:?}");
        let raw = RawClient::connect(&bench.gateway.view("support").unwrap(), Some("ada")).await;
        for members in [
            r#""ref":{"type":"ref/prompt","name":"secret"},"argument":{"name":"a","value":"x"}"#,
            r#""ref":{"type":"ref/resource","uri":"secret://{id}"},"argument":{"name":"id","value":"x"}"#,
        ] {
            assert!(raw.request("completion/complete", members).await.is_err(), "{members}");
        }
        assert_eq!(bench.calls(), [], "{side:?}: nothing was sent");
        bench.host.close().await;
    }
}

async fn fixed_and_hidden_arguments_are_out_of_reach_of_clients() {
    let bench = ShopBench::open(SUPPORT, GatewayOptions::default()).await;
    let client = RawClient::connect(&bench.gateway.view("support").unwrap(), Some("ada")).await;
    let call = |arguments: &str| format!(r#""name":"find_issue","arguments":{arguments}"#);
    for (arguments, reason) in [
        (r#"{"query":"a","repo":"evil/repo"}"#, "unknown_argument"),
        (r#"{"query":"a","repo":"acme/shop"}"#, "unknown_argument"),
        (r#"{"query":"a","Repo":"evil/repo"}"#, "unknown_argument"),
        (r#"{"query":"a","REPO":"evil/repo"}"#, "unknown_argument"),
        (r#"{"query":"a","re\u0070o":"evil/repo"}"#, "unknown_argument"),
        (r#"{"query":"a","token":"x"}"#, "unknown_argument"),
        (r#"{"query":"a","toKen":"x"}"#, "unknown_argument"),
        (r#"{"query":"a","__proto__":{"token":"x"}}"#, "unknown_argument"),
        (r#"{"query":"a","repo":"x","repo":"evil/repo"}"#, "duplicate_key"),
        (r#"{"query":"a","query":"b"}"#, "duplicate_key"),
        (r#"{"query":{"repo":1,"repo":2}}"#, "duplicate_key"),
        (r#"[{"repo":"evil/repo"}]"#, "arguments_not_an_object"),
    ] {
        let error = client.request("tools/call", &call(arguments)).await.unwrap_err();
        assert_eq!(error.code.0, -32602, "{arguments}");
        let Some(data) = &error.data else {
            // The protocol refuses arguments that are no object before the gateway does.
            assert_eq!(reason, "arguments_not_an_object", "{arguments} {error:?}");
            continue;
        };
        let data: serde_json::Value = data.decode().unwrap();
        assert_eq!(data["reason"], reason, "{arguments}");
    }
    assert_eq!(bench.calls(), [], "nothing was sent");
    // Other names and nested values are the client's own.
    for arguments in [r#"{"query":{"repo":"nested"}}"#, r#"{"query":"a","repo.name":"b"}"#] {
        client.request("tools/call", &call(arguments)).await.unwrap();
    }
    client.request("tools/call", r#""name":"find_issue""#).await.unwrap();
    let sent: Vec<String> = bench.calls().into_iter().map(|(.., arguments)| arguments).collect();
    assert_eq!(
        sent,
        [
            r#"{"query":{"repo":"nested"},"repo":"acme/shop"}"#,
            r#"{"query":"a","repo.name":"b","repo":"acme/shop"}"#,
            r#"{"repo":"acme/shop"}"#,
        ]
    );
    bench.host.close().await;
}

async fn a_tool_that_cannot_be_shown_as_wanted_is_withheld_with_the_reason() {
    let views = r#"
        [views.v]
        servers = "*"
        prefix = "never"
        tools.include = ["combined", "search", "large", "report"]
        prompts.include = []
        [views.v.server.one.tool.combined]
        arguments.repo = { fixed = "acme" }
        [views.v.server.two.tool.combined]
        name = "other"
        [views.v.server.one.tool.search]
        name = "find"
        arguments.repo = { hidden = true }
        [views.v.server.two.tool.large]
        name = "report"
        [views.v.server.two.tool.missing]
        arguments.x = { description = "X." }
        [views.v.server.two.tool.search]
        arguments.nothing = { description = "X." }
        [views.v.server.two.tool.delete_all]
        title = "Not included"
    "#;
    let bench = ShopBench::open(views, GatewayOptions::default()).await;
    let session = bench.client(Side::Modern, "v", "ada").await;
    assert_eq!(tool_names(&session).await, ["large", "other", "report", "search"]);
    // The name that the view gives wins over the one that a server chose.
    assert!(session.call_tool("report", json!({})).await.unwrap().text().starts_with("row 0"));
    assert_eq!(bench.calls()[0].0, "two");
    let status = &bench.gateway.status().views[0];
    let withheld: Vec<(&str, &str)> =
        status.withheld.iter().map(|item| (item.name.as_str(), &*item.claims[0].0)).collect();
    assert_eq!(withheld, [("report", "one"), ("report", "two"), ("combined", "one"), ("find", "one")]);
    let reason = |name: &str| {
        let item = status.withheld.iter().find(|item| item.name == name).unwrap();
        match &item.reason {
            WithheldReason::InputSchema(why) => why.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert!(
        reason("combined").contains("no argument `repo` in its own `properties`"),
        "{}",
        reason("combined")
    );
    assert!(reason("find").contains("required, and hidden without a value"), "{}", reason("find"));
    let warnings: Vec<String> = status.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "views.v.server.two.tool.delete_all: the view does not include this tool; add it to `tools`",
            "views.v.server.two.tool.missing: the server lists no tool with this name now",
            "views.v.server.two.tool.search.arguments.nothing: the tool has no argument with this name",
        ]
    );
    bench.host.close().await;
}

async fn rules_see_the_view_the_annotations_and_the_arguments_that_are_sent() {
    // Nothing that the server says about `delete_all` is trusted, and the view calls `search` read-only.
    let policy = r#"
        default = "deny"
        [[rule]]
        effect = "allow"
        view = "support"
        annotations = { read_only = true }
        arguments = { repo = { equals = "acme/shop" } }
        [[rule]]
        effect = "allow"
        view = "all"
        server = "two"
        tool = "search"
    "#;
    for side in SIDES {
        let options = GatewayOptions::default().with_policy(Policy::parse(policy).unwrap());
        let bench = ShopBench::open(SUPPORT, options).await;
        let session = bench.client(side, "support", "ada").await;
        assert_eq!(tool_names(&session).await, ["find_issue"], "{side:?}");
        assert!(session.call_tool("find_issue", json!({ "query": "a" })).await.is_ok(), "{side:?}");
        assert!(session.call_tool("large", json!({ "repo": "acme/shop" })).await.is_err(), "{side:?}");
        let all = bench.client(side, "all", "ada").await;
        assert_eq!(tool_names(&all).await, ["two__search"], "{side:?}");
        let denied = unknown(&all, "one__search").await;
        assert_eq!(denied, unknown(&all, "nothing").await, "{side:?}");
        // A denied tool answers as unknown also where its arguments would be refused.
        bench.gateway.set_policy(Policy::parse("default = \"deny\"").unwrap());
        let error = session.call_tool("find_issue", json!({ "repo": "evil" })).await.unwrap_err();
        assert!(remote(error).message.starts_with("Unknown tool"), "{side:?}");
        assert_eq!(bench.calls().len(), 1, "{side:?}");
        bench.host.close().await;
    }
}

async fn instructions_are_those_of_servers_that_the_caller_may_use() {
    let views = r#"
        [views.one]
        servers = "one"
        [views.added]
        servers = "*"
        instructions = { add = "First." }
        [views.replaced]
        servers = "*"
        instructions = { replace = "Only this." }
    "#;
    let policy = r#"
        default = "allow"
        [[rule]]
        effect = "deny"
        principal = "bob"
        server = "two"
    "#;
    let options =
        GatewayOptions::default().with_policy(Policy::parse(policy).unwrap()).with_instructions("Gateway.");
    let bench = ShopBench::open(views, options).await;
    for side in SIDES {
        for (view, principal, expected) in [
            ("one", "ada", "Gateway.\n\n# one\n\nAsk one."),
            ("added", "ada", "First.\n\n# one\n\nAsk one.\n\n# two\n\nAsk two."),
            ("added", "bob", "First.\n\n# one\n\nAsk one."),
            ("replaced", "bob", "Only this."),
        ] {
            let session = bench.client(side, view, principal).await;
            let info = session.info().unwrap();
            assert_eq!(info.instructions.as_deref(), Some(expected), "{side:?} {view} {principal}");
        }
    }
    bench.host.close().await;
}

async fn capabilities_follow_from_the_definition() {
    let views = r#"
        [views.tools]
        servers = "*"
        prompts.include = []
        resources.include = []
        [views.nothing-now]
        servers = "not-started"
    "#;
    let bench = ShopBench::open(views, GatewayOptions::default()).await;
    for side in SIDES {
        let session = bench.client(side, "tools", "ada").await;
        let offered = &session.info().unwrap().capabilities;
        assert!(offered.tools.is_some() && offered.prompts.is_none(), "{side:?}");
        assert!(offered.resources.is_none() && offered.completions.is_none(), "{side:?}");
        let session = bench.client(side, "nothing-now", "ada").await;
        let offered = &session.info().unwrap().capabilities;
        assert!(offered.tools.is_some() && offered.prompts.is_some() && offered.resources.is_some());
        assert!(tool_names(&session).await.is_empty());
    }
    bench.host.close().await;
}

async fn views_are_replaced_while_clients_are_connected() {
    for side in SIDES {
        let bench = ShopBench::open(SUPPORT, GatewayOptions::default()).await;
        assert_eq!(bench.gateway.views().iter().map(|name| &**name).collect::<Vec<_>>(), ["all", "support"]);
        let session = bench.client(side, "support", "ada").await;
        let mut changes = session.listen(ListenFilter::new().with_tools_list_changed(true)).await.unwrap();
        let narrowed = r#"
            [views.support]
            servers = "two"
            tools.include = "search"
            [views.new]
            servers = "one"
        "#;
        bench.gateway.set_views(View::parse_all(narrowed).unwrap());
        while !matches!(changes.next().await.unwrap(), Change::Tools) {}
        assert_eq!(tool_names(&session).await, ["two__search"], "{side:?}: the session goes on");
        assert!(session.call_tool("find_issue", json!({})).await.is_err(), "{side:?}");
        assert!(bench.gateway.view("all").is_none() && bench.gateway.view("new").is_some());
        bench.host.close().await;
    }
}

async fn a_removed_view_lets_calls_finish_and_refuses_others() {
    for side in SIDES {
        let bench = ShopBench::open("[views.v]\nservers = \"one\"", GatewayOptions::default()).await;
        let session = bench.client(side, "v", "ada").await;
        let mut changes = session.listen(ListenFilter::new().with_tools_list_changed(true)).await.unwrap();
        let waiting = tokio::spawn({
            let session = session.clone();
            async move { session.call_tool("one__wait", json!({})).await }
        });
        switchboard_testkit::wait_until("the call", || bench.ledger.lock().len() == 1).await;
        bench.gateway.set_views([]);
        let error = remote(session.call_tool("one__search", json!({})).await.unwrap_err());
        assert!(error.data.unwrap().as_str().contains("view_removed"), "{side:?}");
        bench.release.notify_one();
        assert_eq!(waiting.await.unwrap().unwrap().text(), "released", "{side:?}: the call under way ends");
        assert_eq!(bench.ledger.lock().len(), 1, "{side:?}: nothing else was sent");
        if side == Side::Modern {
            // The stream of changes has ended.
            while changes.next().await.is_some_and(|change| !matches!(change, Change::Ended)) {}
        }
        assert!(bench.gateway.view("v").is_none());
        bench.host.close().await;
    }
}

async fn a_changed_list_is_announced_in_the_views_of_its_server() {
    let views = "[views.one]\nservers = \"one\"\n[views.two]\nservers = \"two\"";
    let bench = ShopBench::open(views, GatewayOptions::default()).await;
    let mut listening = Vec::new();
    for view in ["one", "two"] {
        let session = bench.client(Side::Modern, view, "ada").await;
        let changes = session.listen(ListenFilter::new().with_tools_list_changed(true)).await.unwrap();
        listening.push((session, changes));
    }
    bench.host.disconnect("two").await.unwrap();
    while !matches!(listening[1].1.next().await.unwrap(), Change::Tools) {}
    assert!(tool_names(&listening[1].0).await.is_empty());
    // An announcement to the other view would be here before the one that follows.
    bench.host.disconnect("one").await.unwrap();
    let mut announced = 0;
    while announced == 0 {
        if matches!(listening[0].1.next().await.unwrap(), Change::Tools) {
            announced += 1;
            assert!(
                tool_names(&listening[0].0).await.is_empty(),
                "the first announcement is that of its own server"
            );
        }
    }
    bench.host.close().await;
}
