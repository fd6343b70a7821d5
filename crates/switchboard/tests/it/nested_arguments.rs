//! Misspelled members of nested arguments, over a service that a trait describes.
#![cfg(feature = "service-rpc")]
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::collections::HashMap;

use serde_json::Value;
use switchboard::client::ClientSession;
use switchboard::service::UnknownArguments;
use switchboard::service::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Query {
    filter: Filter,
    sort: Vec<Sort>,
}

/// Contains itself.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Filter {
    language: Option<String>,
    any: Vec<Filter>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "lowercase")]
enum Sort {
    Name { descending: Option<bool> },
    Distance { from: Place },
}

/// Takes other members on purpose.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct Place {
    city: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Labels {
    id: String,
    #[serde(flatten)]
    rest: HashMap<String, String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Found {
    filter: Filter,
}

/// A library.
#[service(version = "1.0.0", rpc = "/rpc")]
trait Library {
    /// Finds books.
    #[tool]
    async fn find(&self, filter: Filter, sort: Option<Vec<Sort>>) -> Result<Found>;

    /// Finds books, all arguments as one type.
    #[tool]
    async fn query(&self, #[args] query: Query) -> Result<String>;

    /// Labels a book.
    #[tool]
    async fn label(&self, labels: Labels) -> Result<String>;
}

struct Shelf;

impl Library for Shelf {
    async fn find(&self, filter: Filter, _: Option<Vec<Sort>>) -> Result<Found> {
        Ok(Found { filter })
    }
    async fn query(&self, query: Query) -> Result<String> {
        Ok(query.filter.language.unwrap_or_default())
    }
    async fn label(&self, labels: Labels) -> Result<String> {
        Ok(format!("{} {}", labels.id, labels.rest.len()))
    }
}

/// Whether the call succeeded, and its text.
async fn call(session: &ClientSession, tool: &str, args: Value) -> (bool, String) {
    let result = session.call_tool(tool, args).await.unwrap();
    (!result.is_error, result.text())
}

fn misspelled() -> [(&'static str, Value, &'static str); 5] {
    let language = "is not a known property (did you mean `language`?); known: any, language";
    let issue = |path: &str| -> &'static str { format!("`{path}` {language}").leak() };
    [
        ("find", json!({"filter": {"langauge": "no"}}), issue("filter.langauge")),
        (
            "find",
            json!({"filter": {"any": [{"language": "no"}, {"any": [{"Language": "no"}]}]}}),
            issue("filter.any[1].any[0].Language"),
        ),
        (
            "find",
            json!({"filter": {}, "sort": [{"by": "name", "decending": true}]}),
            "`sort[0].decending` is not a known property (did you mean `descending`?); known: by, descending",
        ),
        ("query", json!({"filter": {"lang": "no"}, "sort": []}), "`filter.lang` is not a known property"),
        (
            "query",
            json!({"filter": {}, "sort": [], "srot": []}),
            "`srot` is not a known property (did you mean `sort`?)",
        ),
    ]
}

#[tokio::test]
async fn v12_a_misspelled_nested_member_is_refused_with_its_path_and_the_name_that_was_meant() {
    let session = LibraryServer::builder(Shelf).connect().await.unwrap();
    for (tool, args, issue) in misspelled() {
        let (is_fine, text) = call(&session, tool, args.clone()).await;
        assert!(!is_fine && text.contains(issue), "{args}: {text}");
    }
}

#[tokio::test]
async fn v12_arguments_without_unknown_members_are_accepted() {
    let session = LibraryServer::builder(Shelf).connect().await.unwrap();
    for (tool, args) in [
        ("find", json!({"filter": {}})),
        ("find", json!({"filter": {"language": null, "any": [{"language": "no"}]}, "sort": null})),
        ("find", json!({"filter": {}, "sort": [{"by": "name"}, {"by": "name", "descending": null}]})),
        // What a type says it takes, it gets.
        ("find", json!({"filter": {}, "sort": [{"by": "distance", "from": {"city": "Oslo", "zip": 1}}]})),
        ("label", json!({"labels": {"id": "a", "color": "red", "size": "big"}})),
        ("query", json!({"filter": {"language": "no"}, "sort": []})),
    ] {
        let (is_fine, text) = call(&session, tool, args.clone()).await;
        assert!(is_fine, "{args}: {text}");
    }
}

#[tokio::test]
async fn v12_unknown_members_can_be_ignored() {
    let builder = LibraryServer::builder(Shelf).unknown_arguments(UnknownArguments::Ignore);
    let session = builder.connect().await.unwrap();
    for (tool, args, _) in misspelled() {
        let (is_fine, text) = call(&session, tool, args.clone()).await;
        assert!(is_fine, "{args}: {text}");
    }
}

#[tokio::test]
async fn v12_arguments_are_listed_closed_and_results_open() {
    let session = LibraryServer::builder(Shelf).connect().await.unwrap();
    let tools = session.list_tools().await.unwrap();
    let find = tools.by_name("find").unwrap();
    let input: Value = find.input_schema.decode().unwrap();
    assert_eq!(input["$defs"]["Filter"]["additionalProperties"], json!(false), "{input:#}");
    let output = find.output_schema.as_ref().unwrap();
    assert!(!output.as_str().contains("additionalProperties"), "{}", output.as_str());
}
