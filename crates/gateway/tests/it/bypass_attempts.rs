//! Attempts to get past the policy of a running gateway, by class.
//!
//! To add a class, add a function that returns its attempts and name it in `CLASSES`. Without a policy each class must get
//! something through, or its attempts could not fail.

use switchboard::json;

use crate::attack_client::Loot;
use crate::cells::Side;

/// One request: the method, and the members of its parameters.
pub(crate) struct Attempt {
    pub(crate) name: String,
    pub(crate) method: &'static str,
    pub(crate) members: String,
    /// Whether it is about what another principal got: it never gets through.
    pub(crate) is_of_another: bool,
}

impl Attempt {
    fn of_another(mut self, is_of_another: bool) -> Self {
        self.is_of_another = is_of_another;
        self
    }
}

/// Returns the attempts of a class; some use what a client got before the policy was set.
type AttemptsOfClass = fn(&Loot) -> Vec<Attempt>;

pub(crate) const CLASSES: [(&str, AttemptsOfClass); 9] = [
    ("name", |_| names()),
    ("case", |_| cases()),
    ("unicode", |_| unicode()),
    ("duplicate keys", |_| duplicate_keys()),
    ("task", tasks),
    ("subscription", subscriptions),
    ("completion", |_| completions()),
    ("handle", handles),
    ("answer", answers),
];

/// The classes of names that no server has: without a policy they reach nothing either.
pub(crate) const LOOKALIKES: [&str; 1] = ["case"];

fn attempt(name: impl Into<String>, method: &'static str, members: impl Into<String>) -> Attempt {
    Attempt { name: name.into(), method, members: members.into(), is_of_another: false }
}

/// Calls a tool by a name, which is written as JSON.
fn call(name: &str) -> Attempt {
    let written = serde_json::to_string(name).unwrap();
    attempt(
        format!("call {name:?}"),
        "tools/call",
        format!(r#""name":{written},"arguments":{{"leak":"PASSED","mode":"raw"}}"#),
    )
}

fn read(uri: &str) -> Attempt {
    let written = serde_json::to_string(uri).unwrap();
    attempt(format!("read {uri:?}"), "resources/read", format!(r#""uri":{written}"#))
}

fn prompt(name: &str) -> Attempt {
    let written = serde_json::to_string(name).unwrap();
    attempt(
        format!("prompt {name:?}"),
        "prompts/get",
        format!(r#""name":{written},"arguments":{{"name":"PASSED"}}"#),
    )
}

fn names() -> Vec<Attempt> {
    let tools = [
        "up__echo",
        "echo",
        "up__up__echo",
        "mcp__up__echo",
        "up/echo",
        "up.echo",
        "up:echo",
        "up_echo",
        "up___echo",
        " up__echo",
        "up__echo ",
        "up__echo\n",
        "\tup__echo",
        "up__echo\u{0}",
        "up__echo\u{0}x",
        "./up__echo",
        "../up__echo",
        "up__./echo",
        "up__../up__echo",
        "up__echo/",
        "up__echo#",
        "up__echo?",
        "up__echo;",
        "up__ech%6f",
        "up__ech\\u006f",
        "up__*",
        "*",
        "up__ech?",
        "up__[e]cho",
        "",
        "up__",
        "__echo",
        "gateway://up/echo",
        "tool:up__echo",
        "up__echo,up__meta",
        "up__meta up__echo",
        "up__echo\r\nup__meta",
        "\"up__echo\"",
        "up__ask",
        "up__meta",
    ];
    let uris = [
        "note://one",
        "note://one/",
        "note://one?x=1",
        "note://one#x",
        "note:///one",
        "note:one",
        "//one",
        "note://one%20",
        "note://%6fne",
        "note://o%6Ee",
        "NOTE://one",
        "note://user@one",
        "note://one:80",
        "note://./one",
        "note://x/../one",
        "note://one/.",
        "note://one/x/..",
        " note://one",
        "note://one ",
        "gateway://up/note://one",
        "gateway://up/note:one",
        "gateway://up/note%3A%2F%2Fone",
        "gateway:///note://one",
        "gateway://UP/note://one",
        "page://secret",
        "page://secret/7",
        "page://secret/",
        "page://secret/a/b",
        "page://%73ecret/7",
        "page://secret/../secret/7",
        "page://./secret/7",
        "page://x/../secret/7",
        "page://secret%2f7",
        "page://secret?id=7",
        "page://secret#7",
        "PAGE://secret/7",
        "gateway://up/page://secret/7",
        "page://user:pw@secret/7",
        "page://secret:0/7",
    ];
    let prompts =
        ["up__greet", "greet", "up/greet", " up__greet", "up__greet ", "up__greet\u{0}", "mcp__up__greet"];
    let prompts = prompts.into_iter().map(prompt);
    tools.into_iter().map(call).chain(uris.into_iter().map(read)).chain(prompts).collect()
}

/// Names in other cases. The case of a URI behind its scheme matters: those are other resources.
fn cases() -> Vec<Attempt> {
    let tools = ["UP__ECHO", "Up__echo", "up__Echo", "up__ECHO", "uP__eCHO", "up__echO"].map(call);
    let prompts = ["UP__GREET", "up__Greet", "Up__greet"].map(prompt);
    let uris =
        ["note://ONE", "Note://One", "pAGE://secret/7", "Page://secret/x", "Page://sEcret/x"].map(read);
    tools.into_iter().chain(prompts).chain(uris).collect()
}

fn unicode() -> Vec<Attempt> {
    let invisible = [
        '\u{200b}',
        '\u{200d}',
        '\u{2060}',
        '\u{feff}',
        '\u{ad}',
        '\u{202e}',
        '\u{2066}',
        '\u{e0065}',
        '\u{fe0f}',
    ];
    let mut attempts = Vec::new();
    for (at, character) in invisible.into_iter().enumerate() {
        for position in [0, 2, 4, 6, 8] {
            let mut name = "up__echo".to_owned();
            name.insert(position, character);
            attempts.push(call(&name));
        }
        let mut uri = "note://one".to_owned();
        uri.insert(7 + at % 3, character);
        attempts.push(read(&uri));
    }
    // Look-alikes, other forms of the same letters, and escapes of the exact name.
    let names = [
        "up__\u{435}cho",
        "up__e\u{441}ho",
        "up__ech\u{43e}",
        "\u{ff55}p__echo",
        "up__\u{ff45}cho",
        "up\u{ff3f}\u{ff3f}echo",
        "up__e\u{301}cho",
        "up__\u{e9}cho",
        "up__ec\u{ff48}o",
        "up__\u{1d41e}cho",
        "up__ech\u{2134}",
        "up__ech\u{ba}",
    ];
    attempts.extend(names.map(call));
    for (at, escaped) in [r"\u0075p__echo", r"up__\u0065cho", r"up\u005f\u005fecho", r"\u0075\u0070__echo"]
        .into_iter()
        .enumerate()
    {
        attempts.push(attempt(
            format!("escape {at}"),
            "tools/call",
            format!(r#""name":"{escaped}","arguments":{{"leak":"PASSED"}}"#),
        ));
    }
    attempts
}

fn duplicate_keys() -> Vec<Attempt> {
    let arguments = [
        r#"{"mode":"plain","mode":"raw"}"#,
        r#"{"mode":"raw","mode":"plain"}"#,
        r#"{"mode":"plain","m\u006fde":"raw"}"#,
        r#"{"m\u006fde":"raw","mode":"plain"}"#,
        r#"{"mode":"plain","Mode":"raw"}"#,
        r#"{"MODE":"raw","mode":"plain"}"#,
        r#"{"mode":"r\u0061w"}"#,
        r#"{"mode":["raw"]}"#,
        r#"{"mode":{"mode":"raw"}}"#,
        r#"{"mode":"raw","x":{"x":1,"x":2}}"#,
        r#"["raw"]"#,
        r#""raw""#,
        r#"[{"mode":"raw"}]"#,
        r#"{"Mode":"raw"}"#,
        r#"{"mode":"raw"}"#,
        r#"{"mode":"plain","mode":"plain","mode":"raw"}"#,
        r#"{"mode":null,"mode":"raw"}"#,
        r#"{"mo\u0064e":"raw"}"#,
    ];
    let of_arguments = arguments.into_iter().map(|text| {
        attempt(format!("meta {text}"), "tools/call", format!(r#""name":"up__meta","arguments":{text}"#))
    });
    let members = [
        r#""name":"up__counts","name":"up__echo","arguments":{"leak":"PASSED"}"#,
        r#""name":"up__echo","name":"up__counts","arguments":{"leak":"PASSED"}"#,
        r#""name":"up__counts","n\u0061me":"up__echo","arguments":{"leak":"PASSED"}"#,
        r#""name":"up__counts","Name":"up__echo","arguments":{"leak":"PASSED"}"#,
        r#""name":["up__echo"],"arguments":{"leak":"PASSED"}"#,
        r#""name":{"name":"up__echo"},"arguments":{"leak":"PASSED"}"#,
        r#""name":"up__meta","arguments":{"mode":"plain"},"arguments":{"mode":"raw"}"#,
        r#""name":"up__meta","arguments":{"mode":"raw"},"arguments":{"mode":"plain"}"#,
        r#""name":"up__meta","Arguments":{"mode":"raw"},"arguments":{"mode":"raw"}"#,
    ];
    let of_members = members.into_iter().map(|text| attempt(text, "tools/call", text));
    of_arguments.chain(of_members).collect()
}

fn tasks(loot: &Loot) -> Vec<Attempt> {
    let calls = [
        r#""task":{}"#,
        r#""task":{"ttl":60000}"#,
        r#""task":true"#,
        r#""task":{"ttl":-1}"#,
        r#""_task":{}"#,
    ];
    let as_task = calls.into_iter().flat_map(|task| {
        ["up__echo", "up__ask", "up__job"].map(|tool| {
            let members = format!(r#""name":"{tool}","arguments":{{"leak":"PASSED"}},{task}"#);
            attempt(format!("{tool} {task}"), "tools/call", members)
        })
    });
    let variants = |id: &String| {
        let (first, last) = id.split_at(id.len() - 1);
        let other = if last == "A" { "B" } else { "A" };
        [id.clone(), format!("{first}{other}"), format!("{id} "), format!("up__{id}"), id.to_lowercase()]
    };
    let own = loot.tasks.iter().flat_map(variants).map(|id| (id, false));
    let of_others = loot.tasks_of_others.iter().flat_map(variants).map(|id| (id, true));
    let ids: Vec<(String, bool)> = own.chain(of_others).collect();
    // Last those that end a task.
    let by_id =
        ["tasks/get", "tasks/result", "tasks/update", "tasks/cancel"].into_iter().flat_map(|method| {
            ids.iter().enumerate().map(move |(at, (id, is_of_another))| {
                let members = format!(r#""taskId":{},"inputResponses":{{}}"#, json!(id));
                attempt(format!("{method} {at}"), method, members).of_another(*is_of_another)
            })
        });
    let lists =
        ["", r#""cursor":"0""#].map(|members| attempt(format!("list {members}"), "tasks/list", members));
    as_task.chain(lists).chain(by_id).collect()
}

/// Calls that a question interrupted before the policy was set, with the answer.
fn answers(loot: &Loot) -> Vec<Attempt> {
    let states = [&loot.question, &loot.question_of_another].into_iter().flatten().enumerate();
    let retries = states.flat_map(|(whose, (key, state))| {
        let members = |name: &str, more: &str| {
            let responses = json!({ key.as_str(): { "action": "accept", "content": { "color": "PASSED" } } });
            format!(r#""name":"{name}","inputResponses":{responses},"requestState":{}{more}"#, json!(state))
        };
        let retries = [
            members("up__ask", ""),
            members("up__ask", r#","arguments":{}"#),
            members("up__ask", r#","arguments":{"leak":1}"#),
            members("up__echo", ""),
            members("up__counts", ""),
        ];
        retries.into_iter().enumerate().map(move |(at, members)| {
            attempt(format!("question {whose} retry {at}"), "tools/call", members).of_another(whose > 0)
        })
    });
    retries.collect()
}

fn subscriptions(loot: &Loot) -> Vec<Attempt> {
    let uris = [
        "note://one",
        "NOTE://one",
        "note://%6fne",
        "note://one#x",
        "note://one?x",
        "page://secret/7",
        "page://%73ecret/7",
        "page://secret",
        "page://x/../secret/7",
        "PAGE://secret/7",
        "gateway://up/note://one",
        "gateway://up/page://secret/7",
    ];
    if loot.era == Side::Legacy {
        let subscribe = |uri: &str| {
            attempt(format!("subscribe {uri}"), "resources/subscribe", format!(r#""uri":"{uri}""#))
        };
        return uris.map(subscribe).into();
    }
    let alone = uris.map(|uri| {
        attempt(
            format!("listen {uri}"),
            "subscriptions/listen",
            format!(r#""notifications":{{"resourceSubscriptions":["{uri}"]}}"#),
        )
    });
    // Beside one that is allowed.
    let beside = uris.map(|uri| {
        attempt(
            format!("listen note://ask and {uri}"),
            "subscriptions/listen",
            format!(r#""notifications":{{"resourceSubscriptions":["note://ask","{uri}"]}}"#),
        )
    });
    // The own ones last: the gateway asks for the state of a task that is followed, a little later.
    let others = loot.tasks_of_others.len();
    let followed = loot.tasks_of_others.iter().chain(&loot.tasks).enumerate().map(|(at, id)| {
        let members = format!(r#""notifications":{{"taskIds":[{}]}}"#, json!(id));
        attempt(format!("listen task {at}"), "subscriptions/listen", members).of_another(at < others)
    });
    alone.into_iter().chain(beside).chain(followed).collect()
}

fn completions() -> Vec<Attempt> {
    let argument = r#""argument":{"name":"id","value":"PASSED"}"#;
    let prompts = ["up__greet", "greet", "UP__GREET", "up__greet ", "up__gr\u{200b}eet", "up/greet"];
    let prompts = prompts.into_iter().map(|name| {
        let members = format!(r#""ref":{{"type":"ref/prompt","name":{}}},{argument}"#, json!(name));
        attempt(format!("complete {name:?}"), "completion/complete", members)
    });
    let uris = [
        "page://{+id}",
        "page://secret/{id}",
        "page://secret/7",
        "page://{id}",
        "note://one",
        "PAGE://{id}",
        "gateway://up/page://{id}",
        "page://{id}{?x}",
    ];
    let uris = uris.into_iter().map(|uri| {
        let members = format!(r#""ref":{{"type":"ref/resource","uri":{}}},{argument}"#, json!(uri));
        attempt(format!("complete {uri:?}"), "completion/complete", members)
    });
    prompts.chain(uris).collect()
}

fn handles(loot: &Loot) -> Vec<Attempt> {
    let kept = loot.handles.iter().chain(&loot.handles_of_others).enumerate();
    let reads = kept.flat_map(|(whose, handle)| {
        let variants = [
            handle.clone(),
            handle.to_uppercase(),
            format!("{handle} "),
            format!("0{handle}"),
            format!("up/large/{handle}"),
            handle[..handle.len() - 1].to_owned(),
        ];
        variants.into_iter().enumerate().flat_map(move |(at, handle)| {
            let handle = json!(handle);
            let arguments = [
                format!(r#"{{"handle":{handle}}}"#),
                format!(r#"{{"handle":{handle},"search":"PASSED"}}"#),
                format!(r#"{{"handle":{handle},"offset":10,"length":50}}"#),
                format!(r#"{{"handle":"other","handle":{handle}}}"#),
                format!(r#"{{"handle":{handle},"handle":"other"}}"#),
            ];
            arguments.into_iter().enumerate().map(move |(how, arguments)| {
                let members = format!(r#""name":"read_result","arguments":{arguments}"#);
                attempt(format!("handle {whose} variant {at} read {how}"), "tools/call", members)
                    .of_another(whose > 0)
            })
        })
    });
    let names = ["up__read_result", "READ_RESULT", "read_result "];
    let by_name = loot.handles.iter().enumerate().flat_map(|(whose, handle)| {
        names.map(|name| {
            let members = format!(r#""name":"{name}","arguments":{{"handle":"{handle}"}}"#);
            attempt(format!("handle {whose} by {name:?}"), "tools/call", members)
        })
    });
    let schemes = ["result://", "gateway://result/", "handle://", "page://"];
    let by_uri = loot
        .handles
        .iter()
        .flat_map(|handle| schemes.map(|scheme| read(&format!("{scheme}secret/{handle}"))));
    reads.chain(by_name).chain(by_uri).collect()
}
