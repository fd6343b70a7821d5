//! Quickstarts compared with golden files.

use std::collections::HashMap;
use std::path::Path;

use schemars::JsonSchema;

use super::*;
use crate::ir::{ArgsDef, OutputDef, ToolDef};
use crate::schema;
use crate::tests::sample::assistant;

#[test]
fn the_quickstart_matches_the_golden_file() {
    assert_golden("quickstart.md", &assistant().quickstart());
}

/// Compares a text with a golden file in `testdata`.
#[track_caller]
fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name);
    if std::env::var_os("SWITCHBOARD_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, golden, "SWITCHBOARD_BLESS=1 rewrites it");
}

/// An order.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Order {
    /// Who ordered
    customer: Customer,
    /// What is ordered
    #[schemars(length(min = 1, max = 20))]
    items: Vec<Item>,
    /// How to pay
    payment: Payment,
    /// Free-form labels
    labels: Option<HashMap<String, String>>,
    notes: Option<serde_json::Value>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Customer {
    /// Where the receipt goes
    #[schemars(email)]
    email: String,
    /// Who referred the customer
    referrer: Option<Box<Customer>>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Item {
    #[schemars(regex(pattern = "^[A-Z]{3}$"))]
    code: String,
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 99))]
    count: u32,
    size: Option<Size>,
}

fn one() -> u32 {
    1
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Size {
    /// Fits a letter box
    Small,
    Large,
}

#[derive(JsonSchema)]
#[schemars(tag = "by", rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
enum Payment {
    Card {
        /// The last digits
        digits: String,
    },
    Invoice {
        #[schemars(range(max = 60))]
        days: Option<u8>,
    },
}

/// What was ordered.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Receipt {
    /// When it was ordered
    #[schemars(extend("format" = "date-time"))]
    at: String,
    lines: Vec<Line>,
    discount: Option<f64>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Line {
    code: String,
    price: (f64, String),
}

#[test]
fn v12_the_quickstart_has_nested_members_formats_and_results() {
    let order = ToolDef::new("order", "Orders something.")
        .with_args(ArgsDef::from_type::<Order>().unwrap().with_order(["customer", "items", "payment"]))
        .with_output(OutputDef::from_type::<Receipt>())
        .with_events(schema::normalize_output(
            json!({"type": "object", "properties": {"percent": {"type": "integer"}}}),
        ));
    let orders =
        ToolDef::new("orders", "Lists what was ordered.").with_output(OutputDef::from_type::<Vec<Receipt>>());
    let design = Design::new("shop", "1.0.0").with_tools([order, orders]).with_pooled_types();
    let text = design.quickstart();
    let tools = text.split_once("## Tools\n").unwrap().1.split_once("## Wire").unwrap().0;
    assert_golden("quickstart-nested.md", tools);
}

#[test]
fn the_text_is_deterministic() {
    let design: Design = serde_json::from_value(serde_json::to_value(assistant()).unwrap()).unwrap();
    assert_eq!(design.quickstart(), assistant().quickstart());
    assert!(design.quickstart().starts_with(QUICKSTART_MARKER));
}

#[test]
fn every_line_has_the_command_of_the_program() {
    let design = assistant();
    let text = Quickstart::new(&design).with_command(["cargo", "run", "-p", "my app", "--"]).to_string();
    assert!(
        text.contains(
            "\ncargo run -p 'my app' -- call analyze-sentiment --text 'I love this new feature!'\n"
        )
    );
    assert!(text.contains("\"command\": \"cargo\""));
}

#[test]
fn a_fence_is_longer_than_those_in_its_code() {
    assert_eq!(fence("", "a"), "```\na\n```\n\n");
    assert_eq!(fence("sh", "````"), "`````sh\n````\n`````\n\n");
}
