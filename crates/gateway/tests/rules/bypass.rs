//! Attempts to get a denied call past the policy. Each is named; none may be allowed.
//!
//! Targets are resolved as a gateway does it: by the exact pair of server and name. A name that the catalog does not have is
//! unknown, so a look-alike of a denied tool reaches nothing.

use std::collections::BTreeSet;

use switchboard_gateway::policy::{Policy, Subject, Target, TargetKind};
use switchboard_protocol::Raw;

/// Everything is denied but reading below `/srv`.
const ALLOW_LIST: &str = r#"
default = "deny"
issuer = "https://login.example.org"
[[rule]]
effect = "allow"
server = "files"
tool = "read_file"
arguments = { path = { matches = "/srv/[a-z/]+\\.txt" } }
[[rule]]
effect = "allow"
server = "files"
uri = ["file:///srv/**", "https://api.example.com/v1/**"]
[[rule]]
effect = "allow"
server = "db"
tool = "query"
arguments = { limit = { equals = 10 }, mode = { in = ["ro", "explain"] }, "/options/force" = { equals = false } }
[[rule]]
effect = "allow"
server = "db"
prompt = "report"
arguments = { region = { in = ["eu"] } }
[[rule]]
effect = "allow"
principal = "ada"
server = "admin"
view = "ops"
"#;

/// Everything is allowed but these.
const DENY_LIST: &str = r#"
default = "allow"
[[rule]]
effect = "deny"
server = "files"
tool = "delete_file"
[[rule]]
effect = "deny"
uri = ["file:///etc/**", "https://api.example.com/admin/**"]
[[rule]]
effect = "deny"
prompt = "secret"
[[rule]]
effect = "deny"
server = "db"
tool = "query"
arguments = { limit = { equals = 9007199254740992 } }
[[rule]]
effect = "deny"
server = "db"
tool = "query"
arguments = { force = { equals = true } }
[[rule]]
effect = "deny"
server = "db"
tool = "query"
arguments = { level = { equals = 5 } }
[[rule]]
effect = "deny"
server = "db"
tool = "query"
arguments = { table = { equals = "users" } }
[[rule]]
effect = "deny"
server = "db"
tool = "query"
arguments = { "/options/force" = { equals = true } }
[[rule]]
effect = "deny"
server = "db"
tool = "query"
arguments = { "/tables/*" = { equals = "users" } }
[[rule]]
effect = "deny"
server = "db"
tool = "query"
arguments = { sql = { matches = "(?i).*drop.*" } }
[[rule]]
effect = "deny"
server = "db"
tool = "fetch"
arguments = { path = { not_matches = "/srv/[a-z]+" } }
[[rule]]
effect = "deny"
annotations = { destructive = true }
server = "shell"
"#;

/// What the servers offer, by kind.
const CATALOG: [(&str, TargetKind, &str); 12] = [
    ("files", TargetKind::Tool, "read_file"),
    ("files", TargetKind::Tool, "delete_file"),
    ("db", TargetKind::Tool, "query"),
    ("db", TargetKind::Tool, "fetch"),
    ("db", TargetKind::Prompt, "report"),
    ("db", TargetKind::Prompt, "secret"),
    ("admin", TargetKind::Tool, "reset"),
    ("shell", TargetKind::Tool, "run"),
    ("files", TargetKind::Template, "file:///{+path}"),
    ("files", TargetKind::Template, "file:///etc/{name}"),
    ("files", TargetKind::Template, "{+uri}"),
    ("files", TargetKind::Template, "file:///etc{/name*}"),
];

/// Collects attempts and those that got through.
#[derive(Default)]
struct Attempts {
    names: BTreeSet<String>,
    through: Vec<String>,
}

impl Attempts {
    fn record(&mut self, name: String, is_allowed: bool) {
        if is_allowed {
            self.through.push(name.clone());
        }
        assert!(self.names.insert(name.clone()), "two attempts are named {name}");
    }

    fn call(
        &mut self,
        policy: &Policy,
        (group, name): (&str, &str),
        target: &Target<'_>,
        arguments: Option<&str>,
    ) {
        let arguments = arguments
            .map(|text| Raw::parse(text.to_owned()).unwrap_or_else(|error| panic!("{name}: {error}")));
        let decision = policy.decide(&Subject::new("mallory"), target, arguments.as_ref());
        let is_known = target.kind.base() == TargetKind::Resource
            || CATALOG.contains(&(target.server, target.kind.base(), target.name));
        self.record(format!("{group}: {name}"), is_known && decision.is_allowed());
    }
}

fn policies() -> (Policy, Policy) {
    (Policy::parse(ALLOW_LIST).unwrap(), Policy::parse(DENY_LIST).unwrap())
}

#[test]
fn no_attempt_gets_through() {
    let mut attempts = Attempts::default();
    names(&mut attempts);
    uris(&mut attempts);
    duplicate_keys(&mut attempts);
    numbers(&mut attempts);
    types_and_missing_values(&mut attempts);
    texts(&mut attempts);
    derived_targets(&mut attempts);
    identities(&mut attempts);
    assert!(attempts.names.len() >= 200, "{} attempts", attempts.names.len());
    assert_eq!(attempts.through, [""; 0], "of {}", attempts.names.len());
}

/// The same policies allow what they should, so that the table above cannot pass by denying everything.
#[test]
fn ordinary_calls_pass() {
    let (allow_list, deny_list) = policies();
    let allowed = |policy: &Policy, target: Target<'_>, arguments: Option<&str>| {
        let arguments = arguments.map(|text| Raw::parse(text.to_owned()).unwrap());
        policy.decide(&Subject::new("ada"), &target, arguments.as_ref()).is_allowed()
    };
    let query = Target::tool("db", "query");
    assert!(allowed(&allow_list, Target::tool("files", "read_file"), Some(r#"{"path":"/srv/a/b.txt"}"#)));
    assert!(allowed(&allow_list, Target::resource("files", "file:///srv/a%20b"), None));
    assert!(allowed(&allow_list, Target::resource("files", "https://api.example.com/v1/x?limit=3"), None));
    let arguments = r#"{"limit":1e1,"mode":"ro","options":{"force":false}}"#;
    assert!(allowed(&allow_list, query, Some(arguments)));
    assert!(allowed(&allow_list, Target::prompt("db", "report"), Some(r#"{"region":"eu"}"#)));
    let harmless = r#"{"limit":1,"force":false,"level":4,"table":"logs","options":{"force":false},"tables":["logs"],"sql":"select 1"}"#;
    assert!(allowed(&deny_list, query, Some(harmless)));
    assert!(allowed(&deny_list, query, None));
    assert!(allowed(&deny_list, Target::tool("db", "fetch"), Some(r#"{"path":"/srv/a"}"#)));
    assert!(allowed(&deny_list, Target::resource("files", "file:///srv/etc/a"), None));
    assert!(allowed(&deny_list, Target::new("files", TargetKind::Template, "file:///{+path}"), None));
}

/// Case, look-alikes, normal forms, invisible characters.
fn names(attempts: &mut Attempts) {
    let (allow_list, deny_list) = policies();
    let spellings = [
        ("exact", "delete_file"),
        ("capital", "Delete_file"),
        ("upper case", "DELETE_FILE"),
        ("one capital inside", "delete_File"),
        ("long s", "delete_ſile"),
        ("dotted capital I", "delete_fİle"),
        ("dotless i", "delete_fıle"),
        ("kelvin sign", "\u{212a}elete_file"),
        ("Cyrillic e", "d\u{435}lete_file"),
        ("Cyrillic dze", "delete_file\u{455}"),
        ("Greek omicron", "delete_file\u{3bf}"),
        ("fullwidth letters", "ｄｅｌｅｔｅ_ｆｉｌｅ"),
        ("fullwidth low line", "delete＿file"),
        ("ligature fi", "delete_\u{fb01}le"),
        ("mathematical letters", "\u{1d41d}elete_file"),
        ("combining mark", "delete_file\u{301}"),
        ("decomposed letter", "de\u{301}lete_file"),
        ("composed letter", "d\u{e9}lete_file"),
        ("zero-width space", "delete\u{200b}_file"),
        ("zero-width joiner", "delete\u{200d}_file"),
        ("zero-width non-joiner", "delete\u{200c}_file"),
        ("word joiner", "delete_file\u{2060}"),
        ("byte order mark", "\u{feff}delete_file"),
        ("soft hyphen", "delete\u{ad}_file"),
        ("variation selector", "delete_file\u{fe0f}"),
        ("tag characters", "delete_file\u{e0041}"),
        ("Mongolian vowel separator", "delete\u{180e}_file"),
        ("Hangul filler", "delete_file\u{3164}"),
        ("right-to-left override", "\u{202e}elif_eteled"),
        ("right-to-left mark", "delete_file\u{200f}"),
        ("isolate", "\u{2066}delete_file\u{2069}"),
        ("NUL at the end", "delete_file\0"),
        ("line break at the end", "delete_file\n"),
        ("tab", "delete_file\t"),
        ("space before", " delete_file"),
        ("space after", "delete_file "),
        ("no-break space", "delete_file\u{a0}"),
        ("ideographic space", "delete_file\u{3000}"),
        ("line separator", "delete_file\u{2028}"),
        ("server in the name", "files/delete_file"),
        ("exposed name", "files__delete_file"),
        ("qualified name", "mcp__files__delete_file"),
        ("wildcard", "delete_*"),
        ("question mark", "delete_fil?"),
        ("percent-encoded", "delete%5Ffile"),
        ("JSON escape kept", "delete\\u005ffile"),
        ("dot segment", "./delete_file"),
        ("empty", ""),
        ("very long", &"delete_file".repeat(10_000)),
    ];
    for (name, tool) in spellings {
        let arguments = Some(r#"{"path":"/srv/a.txt"}"#);
        attempts.call(&deny_list, ("denied tool", name), &Target::tool("files", tool), arguments);
        // Here no catalog protects: the rules alone decide about a name that resembles an allowed one.
        let like_allowed = tool.replace("delete", "read").replace("DELETE", "READ").replace("Delete", "Read");
        let arguments = Raw::parse(r#"{"path":"/srv/a.txt"}"#).unwrap();
        let target = Target::tool("files", &like_allowed);
        let is_allowed = like_allowed != "read_file"
            && allow_list.decide(&Subject::new("ada"), &target, Some(&arguments)).is_allowed();
        attempts.record(format!("like an allowed tool: {name}"), is_allowed);
    }
    for (name, server) in [
        ("capital", "Files"),
        ("Cyrillic e", "fil\u{435}s"),
        ("zero-width space", "files\u{200b}"),
        ("space", "files "),
        ("wildcard", "*"),
        ("prefix", "files2"),
        ("empty", ""),
    ] {
        let arguments = Raw::parse(r#"{"path":"/srv/a.txt"}"#).unwrap();
        let decision =
            allow_list.decide(&Subject::new("ada"), &Target::tool(server, "read_file"), Some(&arguments));
        attempts.record(format!("like an allowed server: {name}"), decision.is_allowed());
    }
}

/// Percent-encoding, dot segments, authorities, queries.
fn uris(attempts: &mut Attempts) {
    let (allow_list, deny_list) = policies();
    for (name, uri) in [
        ("exact", "file:///etc/passwd"),
        ("scheme in capitals", "FILE:///etc/passwd"),
        ("encoded letter", "file:///%65tc/passwd"),
        ("all encoded", "file:///%65%74%63/%70asswd"),
        ("dot segments", "file:///srv/../etc/passwd"),
        ("many dot segments", "file:///srv/../../../../etc/passwd"),
        ("encoded dots", "file:///srv/%2e%2e/etc/passwd"),
        ("half-encoded dots", "file:///srv/.%2e/etc/passwd"),
        ("capital escapes", "file:///srv/%2E%2E/etc/passwd"),
        ("encoded slash", "file:///srv/..%2fetc/passwd"),
        ("encoded slashes", "file:///srv%2f..%2fetc%2fpasswd"),
        ("backslash", "file:///srv/..\\etc\\passwd"),
        ("encoded backslash", "file:///srv/..%5cetc%5Cpasswd"),
        ("single dot", "file:///./etc/./passwd"),
        ("empty segments", "file:////etc//passwd"),
        ("trailing slash", "file:///etc/passwd/"),
        ("trailing dot segment", "file:///etc/passwd/."),
        ("the folder", "file:///etc"),
        ("localhost", "file://localhost/etc/passwd"),
        ("localhost in capitals", "file://LocalHost/etc/passwd"),
        ("no authority", "file:/etc/passwd"),
        ("path as authority", "file://etc/passwd"),
        ("query", "file:///etc/passwd?x=1"),
        ("empty query", "file:///etc/passwd?"),
        ("dot segments in the query", "file:///srv/a?/../../etc/passwd"),
        ("encoded dot segments in the query", "file:///srv/a?/%2e%2e/%2e%2e/etc/passwd"),
        ("encoded slashes in the query", "file:///srv/a?%2f..%2f..%2fetc/passwd"),
        ("fragment", "file:///etc/passwd#x"),
        ("fragment with dot segments", "file:///srv/a#/../../etc/passwd"),
        ("encoded NUL", "file:///etc/passwd%00.txt"),
        ("NUL", "file:///etc/passwd\0.txt"),
        ("line break", "file:///etc/passwd\n"),
        ("tab inside the scheme", "fi\tle:///etc/passwd"),
        ("broken escape", "file:///etc/passwd%2"),
        ("broken escape before", "file:///%zz/../etc/passwd"),
        ("not UTF-8", "file:///etc/%ff"),
        ("no scheme", "/etc/passwd"),
        ("space before", " file:///etc/passwd"),
        ("too long", &format!("file:///etc/{}", "a".repeat(9000))),
        ("overlong escape of a slash", "file:///srv/..%c0%afetc/passwd"),
    ] {
        for kind in [TargetKind::Resource, TargetKind::Subscription] {
            let group = format!("denied uri, {kind}");
            attempts.call(&deny_list, (&group, name), &Target::new("files", kind, uri), None);
            let group = format!("uri that is not allowed, {kind}");
            attempts.call(&allow_list, (&group, name), &Target::new("files", kind, uri), None);
        }
    }
    for (name, uri) in [
        ("host in capitals", "https://API.EXAMPLE.COM/admin/users"),
        ("default port", "https://api.example.com:443/admin/users"),
        ("port with zeros", "https://api.example.com:00443/admin/users"),
        ("empty port", "https://api.example.com:/admin/users"),
        ("user", "https://me@api.example.com/admin/users"),
        ("user like a host", "https://api.example.com@api.example.com/admin/users"),
        ("final dot", "https://api.example.com./admin/users"),
        ("dot segments", "https://api.example.com/v1/../admin/users"),
        ("encoded dot segments", "https://api.example.com/v1/%2e%2e/admin/users"),
        ("encoded slash", "https://api.example.com/v1%2f..%2fadmin/users"),
    ] {
        attempts.call(&deny_list, ("denied host", name), &Target::resource("files", uri), None);
    }
    for (name, uri) in [
        ("user before another host", "https://api.example.com@evil.example/v1/x"),
        ("prefix of another host", "https://api.example.com.evil.example/v1/x"),
        ("suffix of another host", "https://evilapi.example.com/v1/x"),
        ("another port", "https://api.example.com:8443/v1/x"),
        ("another scheme", "http://api.example.com/v1/x"),
        ("out of the path", "https://api.example.com/v1/../admin"),
        ("backslash before the host", "https://evil.example\\@api.example.com/v1/x"),
        ("encoded slash in the host", "https://evil.example%2f@api.example.com/v1/x"),
    ] {
        attempts.call(&allow_list, ("host that is not allowed", name), &Target::resource("files", uri), None);
    }
}

/// Duplicates, escaped names, nested duplicates, variants in case.
fn duplicate_keys(attempts: &mut Attempts) {
    let (allow_list, deny_list) = policies();
    let read = Target::tool("files", "read_file");
    for (name, arguments) in [
        ("last wins", r#"{"path":"/srv/a.txt","path":"/etc/passwd"}"#),
        ("first wins", r#"{"path":"/etc/passwd","path":"/srv/a.txt"}"#),
        ("same value", r#"{"path":"/srv/a.txt","path":"/srv/a.txt"}"#),
        ("escaped name", r#"{"path":"/srv/a.txt","\u0070ath":"/etc/passwd"}"#),
        ("all escaped", r#"{"\u0070\u0061\u0074\u0068":"/etc/passwd","path":"/srv/a.txt"}"#),
        ("three times", r#"{"path":"/srv/a.txt","path":1,"path":"/srv/a.txt"}"#),
        ("null first", r#"{"path":null,"path":"/srv/a.txt"}"#),
        ("null last", r#"{"path":"/srv/a.txt","path":null}"#),
        ("another name twice", r#"{"path":"/srv/a.txt","x":1,"x":2}"#),
        ("capital", r#"{"path":"/srv/a.txt","Path":"/etc/passwd"}"#),
        ("upper case", r#"{"PATH":"/etc/passwd","path":"/srv/a.txt"}"#),
        (
            "far apart",
            &format!(
                r#"{{"path":"/srv/a.txt",{}"path":"/etc/passwd"}}"#,
                (0..500).map(|n| format!("\"k{n}\":0,")).collect::<String>()
            ),
        ),
        ("after white space", "{\"path\" : \"/srv/a.txt\" ,\n\t\"path\"\r: \"/etc/passwd\"}"),
        ("two lone surrogates", r#"{"path":"/srv/a.txt","\ud800":1,"\ud801":2}"#),
        ("an array of arguments", r#"[{"path":"/srv/a.txt"}]"#),
        ("arguments in a text", r#""{\"path\":\"/srv/a.txt\"}""#),
    ] {
        attempts.call(&allow_list, ("duplicate key", name), &read, Some(arguments));
    }
    let query = Target::tool("db", "query");
    for (name, arguments) in [
        ("nested", r#"{"options":{"force":false,"force":true}}"#),
        ("nested, escaped", r#"{"options":{"force":false,"forc\u0065":true}}"#),
        ("parent twice", r#"{"options":{"force":false},"options":{"force":true}}"#),
        ("parent twice, escaped", r#"{"options":{"force":false},"\u006fptions":{"force":true}}"#),
        ("nested, in capitals", r#"{"options":{"Force":true}}"#),
        ("parent in capitals", r#"{"Options":{"force":true}}"#),
        ("parent with a long s", r#"{"optionſ":{"force":true}}"#),
        ("in an element", r#"{"tables":[{"a":1,"a":2}]}"#),
        ("only in capitals", r#"{"FORCE":true}"#),
        ("capital beside", r#"{"force":false,"Force":true}"#),
        ("Kelvin sign", "{\"\u{212a}\":1,\"level\":5}"),
        ("below the ruled value", r#"{"table":{"a":{"b":1,"b":2}}}"#),
    ] {
        attempts.call(&deny_list, ("duplicate or variant key", name), &query, Some(arguments));
    }
}

/// Spellings of numbers, and numbers that a float confuses.
fn numbers(attempts: &mut Attempts) {
    let (allow_list, deny_list) = policies();
    let query = Target::tool("db", "query");
    for (name, number) in [
        ("integer", "5"),
        ("fraction", "5.0"),
        ("exponent", "5e0"),
        ("capital exponent", "5E0"),
        ("positive exponent", "5e+0"),
        ("negative exponent", "50e-1"),
        ("small mantissa", "0.05e2"),
        ("many zeros", "5.000000000000000000000000000000"),
        ("almost", "5.0000000000000000000000001"),
        ("just below", "4.9999999999999999999999999"),
        ("zeros in the exponent", "5e0000000000000000000000000"),
        ("text", r#""5""#),
        ("text with a fraction", r#""5.0""#),
        ("text with spaces", r#"" 5 ""#),
        ("text with a sign", r#""+5""#),
        ("text with zeros", r#""005""#),
        ("text with an underscore", r#""0_5""#),
        ("text with an exponent", r#""5e0""#),
        ("escaped text", r#""\u0035""#),
        ("list", "[5]"),
        ("object", r#"{"valueOf":5}"#),
    ] {
        attempts.call(&deny_list, ("denied number", name), &query, Some(&format!(r#"{{"level":{number}}}"#)));
    }
    for (name, number) in [
        ("exact", "9007199254740992"),
        ("one more", "9007199254740993"),
        ("with an exponent", "9.007199254740992e15"),
        ("one more, as a fraction", "9007199254740993.0"),
        ("as text", r#""9007199254740993""#),
        ("a little more", "9007199254740992.5"),
    ] {
        attempts.call(
            &deny_list,
            ("denied large number", name),
            &query,
            Some(&format!(r#"{{"limit":{number}}}"#)),
        );
    }
    for (name, number) in [
        ("text", r#""10""#),
        ("almost", "10.000000000000000000001"),
        ("just below", "9.99999999999999999999"),
        ("negative", "-10"),
        ("huge", "1e999"),
        ("huge exponent", "1e99999999999999999999"),
        ("tiny", "1e-999"),
        ("many digits", &format!("1{}", "0".repeat(5000))),
        ("list", "[10]"),
        ("true", "true"),
        ("null", "null"),
        ("octal text", r#""012""#),
        ("hexadecimal text", r#""0xa""#),
    ] {
        let arguments = format!(r#"{{"limit":{number},"mode":"ro","options":{{"force":false}}}}"#);
        attempts.call(&allow_list, ("number that is not allowed", name), &query, Some(&arguments));
    }
}

/// Types, `null`, missing members.
fn types_and_missing_values(attempts: &mut Attempts) {
    let (allow_list, deny_list) = policies();
    let query = Target::tool("db", "query");
    for (name, value) in [
        ("true", "true"),
        ("1", "1"),
        ("1.0", "1.0"),
        ("text", r#""true""#),
        ("capital text", r#""True""#),
        ("yes", r#""yes""#),
        ("on", r#""ON""#),
        ("text 1", r#""1""#),
        ("t", r#""t""#),
        ("text with spaces", r#"" true ""#),
        ("list", "[true]"),
        ("empty list", "[]"),
        ("object", "{}"),
        ("lone surrogate", r#""\ud800""#),
    ] {
        attempts.call(
            &deny_list,
            ("denied truth value", name),
            &query,
            Some(&format!(r#"{{"force":{value}}}"#)),
        );
        let nested = format!(r#"{{"options":{{"force":{value}}}}}"#);
        attempts.call(&deny_list, ("denied nested truth value", name), &query, Some(&nested));
    }
    for (name, arguments) in [
        ("options as JSON text", r#"{"options":"{\"force\":true}"}"#),
        ("options as a list", r#"{"options":[{"force":true}],"table":"users"}"#),
        ("options as a number", r#"{"options":1}"#),
        ("element among others", r#"{"tables":["logs","users"]}"#),
        ("escaped element", r#"{"tables":["us\u0065rs"]}"#),
        ("nested list", r#"{"tables":[["users"]]}"#),
        ("list as a text", r#"{"tables":"users"}"#),
        ("list as JSON text", r#"{"tables":"[\"users\"]"}"#),
        ("list as an object", r#"{"tables":{"0":"users"}}"#),
    ] {
        attempts.call(&deny_list, ("denied nested value", name), &query, Some(arguments));
    }
    for (name, arguments) in [
        ("none", None),
        ("null", Some("null")),
        ("empty", Some("{}")),
        ("mode missing", Some(r#"{"limit":10,"options":{"force":false}}"#)),
        ("mode null", Some(r#"{"limit":10,"mode":null,"options":{"force":false}}"#)),
        ("mode in capitals", Some(r#"{"limit":10,"mode":"RO","options":{"force":false}}"#)),
        ("mode with a space", Some(r#"{"limit":10,"mode":"ro ","options":{"force":false}}"#)),
        ("mode in a list", Some(r#"{"limit":10,"mode":["ro"],"options":{"force":false}}"#)),
        ("options missing", Some(r#"{"limit":10,"mode":"ro"}"#)),
        ("options null", Some(r#"{"limit":10,"mode":"ro","options":null}"#)),
        ("force missing", Some(r#"{"limit":10,"mode":"ro","options":{}}"#)),
        ("force null", Some(r#"{"limit":10,"mode":"ro","options":{"force":null}}"#)),
        ("force 0", Some(r#"{"limit":10,"mode":"ro","options":{"force":0}}"#)),
        ("flat name", Some(r#"{"limit":10,"mode":"ro","options/force":false}"#)),
        ("dotted name", Some(r#"{"limit":10,"mode":"ro","options.force":false}"#)),
    ] {
        attempts.call(&allow_list, ("missing or other value", name), &query, arguments);
    }
    let fetch = Target::tool("db", "fetch");
    for (name, arguments) in [
        ("none", None),
        ("empty", Some("{}")),
        ("null", Some(r#"{"path":null}"#)),
        ("list", Some(r#"{"path":["/srv/a"]}"#)),
        ("number", Some(r#"{"path":1}"#)),
    ] {
        attempts.call(&deny_list, ("not shown to be harmless", name), &fetch, arguments);
    }
}

/// Texts that a pattern or an equality must not miss.
fn texts(attempts: &mut Attempts) {
    let (allow_list, deny_list) = policies();
    let read = Target::tool("files", "read_file");
    for (name, path) in [
        ("dot segments", r#""/srv/../etc/passwd.txt""#),
        ("line break before", r#""\n/srv/a.txt""#),
        ("line break after", r#""/srv/a.txt\n""#),
        ("second line", r#""/etc/passwd\n/srv/a.txt""#),
        ("first line", r#""/srv/a.txt\n/etc/passwd""#),
        ("carriage return", r#""/srv/a.txt\r""#),
        ("NUL", r#""/srv/a.txt\u0000""#),
        ("NUL inside", r#""/etc/passwd\u0000/srv/a.txt""#),
        ("capitals", r#""/SRV/a.txt""#),
        ("fullwidth slash", r#""／srv/a.txt""#),
        ("zero-width space", r#""/srv/\u200ba.txt""#),
        ("decomposed letter", r#""/srv/e\u0301.txt""#),
        ("lone surrogate", r#""/srv/\ud800a.txt""#),
        ("prefix", r#""x/srv/a.txt""#),
        ("suffix", r#""/srv/a.txt.exe""#),
        ("empty", r#""""#),
        ("home", r#""~/a.txt""#),
        ("variable", r#""/srv/$HOME.txt""#),
        ("file URI", r#""file:///srv/a.txt""#),
        ("too long", &format!(r#""/srv/{}.txt""#, "a".repeat(20_000))),
    ] {
        attempts.call(
            &allow_list,
            ("path that is not allowed", name),
            &read,
            Some(&format!(r#"{{"path":{path}}}"#)),
        );
    }
    let query = Target::tool("db", "query");
    for (name, arguments) in [
        ("capitals", r#"{"sql":"DROP TABLE x"}"#),
        ("mixed case", r#"{"sql":"dRoP table x"}"#),
        ("after a line break", r#"{"sql":"select 1;\ndrop table x"}"#),
        ("between line breaks", r#"{"sql":"\n\ndrop\n\n"}"#),
        ("escaped letters", r#"{"sql":"\u0064rop table x"}"#),
        ("after a NUL", r#"{"sql":"\u0000drop"}"#),
        ("in a list", r#"{"sql":["drop"]}"#),
        ("too long", &format!(r#"{{"sql":"{}drop"}}"#, " ".repeat(20_000))),
        ("text equal", r#"{"table":"users"}"#),
        ("text escaped", r#"{"table":"\u0075sers"}"#),
        ("text in a list", r#"{"table":["users"]}"#),
        ("text with a lone surrogate", r#"{"table":"users\udc00"}"#),
    ] {
        attempts.call(&deny_list, ("denied text", name), &query, Some(arguments));
    }
}

/// Tasks, subscriptions, completion, result handles, templates: the other ways to a denied target.
fn derived_targets(attempts: &mut Attempts) {
    let (allow_list, deny_list) = policies();
    let harmless = r#"{"path":"/srv/a.txt"}"#;
    for kind in [TargetKind::Tool, TargetKind::Task, TargetKind::ResultHandle] {
        for (name, arguments) in
            [("no arguments", None), ("harmless arguments", Some(harmless)), ("null", Some("null"))]
        {
            let label = format!("{kind}, {name}");
            attempts.call(
                &deny_list,
                ("denied tool through", &label),
                &Target::new("files", kind, "delete_file"),
                arguments,
            );
            attempts.call(
                &allow_list,
                ("other tool through", &label),
                &Target::new("files", kind, "delete_file"),
                arguments,
            );
            attempts.call(
                &deny_list,
                ("destructive tool through", &label),
                &Target::new("shell", kind, "run"),
                arguments,
            );
        }
        let forbidden = Some(r#"{"path":"/etc/passwd"}"#);
        let label = format!("{kind}, the arguments of the call");
        attempts.call(
            &allow_list,
            ("denied call through", &label),
            &Target::new("files", kind, "read_file"),
            forbidden,
        );
    }
    for kind in [TargetKind::Prompt, TargetKind::PromptCompletion] {
        attempts.call(
            &deny_list,
            ("denied prompt through", &format!("{kind:?}")),
            &Target::new("db", kind, "secret"),
            None,
        );
        attempts.call(
            &allow_list,
            ("other prompt through", &format!("{kind:?}")),
            &Target::new("db", kind, "secret"),
            None,
        );
        let target = Target::new("db", kind, "report");
        attempts.call(
            &allow_list,
            ("denied prompt argument through", &format!("{kind:?}")),
            &target,
            Some(r#"{"region":"us"}"#),
        );
    }
    for template in ["file:///{+path}", "file:///etc/{name}", "{+uri}", "file:///etc{/name*}"] {
        let target = Target::new("files", TargetKind::TemplateCompletion, template);
        attempts.call(&deny_list, ("completion of denied URIs", template), &target, None);
        attempts.call(&allow_list, ("completion of other URIs", template), &target, None);
    }
    for template in ["file:///etc/{name}", "file:///etc{/name*}"] {
        let target = Target::new("files", TargetKind::Template, template);
        attempts.call(&allow_list, ("template of other URIs", template), &target, None);
    }
    let denied = Target::new("files", TargetKind::Template, "file:///etc/{name}");
    attempts.call(&deny_list, ("template of denied URIs", "one segment"), &denied, None);
    for kind in [TargetKind::Prompt, TargetKind::Resource, TargetKind::Template] {
        let decision =
            allow_list.decide(&Subject::new("ada"), &Target::new("files", kind, "read_file"), None);
        attempts
            .record(format!("the name of an allowed tool as another kind: {kind}"), decision.is_allowed());
    }
}

/// Other people with the name of an allowed one.
fn identities(attempts: &mut Attempts) {
    let (allow_list, _) = policies();
    let target = Target::tool("admin", "reset");
    let login = "https://login.example.org";
    let owner = Subject::new("ada").with_issuer(login).with_view("ops");
    assert!(allow_list.decide(&owner, &target, None).is_allowed());
    for (name, subject) in [
        ("anonymous", Subject::anonymous().with_view("ops")),
        ("local", Subject::new("ada").with_view("ops")),
        ("another issuer", Subject::new("ada").with_issuer("https://evil.example").with_view("ops")),
        ("issuer in capitals", Subject::new("ada").with_issuer("https://LOGIN.example.org").with_view("ops")),
        (
            "issuer with a slash",
            Subject::new("ada").with_issuer("https://login.example.org/").with_view("ops"),
        ),
        ("empty issuer", Subject::new("ada").with_issuer("").with_view("ops")),
        ("capital", Subject::new("Ada").with_issuer(login).with_view("ops")),
        ("Cyrillic a", Subject::new("\u{430}da").with_issuer(login).with_view("ops")),
        ("space", Subject::new("ada ").with_issuer(login).with_view("ops")),
        ("zero-width space", Subject::new("ada\u{200b}").with_issuer(login).with_view("ops")),
        ("issuer in the subject", Subject::new(r#"["https://login.example.org","ada"]"#).with_view("ops")),
        ("wildcard", Subject::new("*").with_issuer(login).with_view("ops")),
        ("no view", Subject::new("ada").with_issuer(login)),
        ("another view", Subject::new("ada").with_issuer(login).with_view("Ops")),
    ] {
        attempts.record(format!("identity: {name}"), allow_list.decide(&subject, &target, None).is_allowed());
    }
}
