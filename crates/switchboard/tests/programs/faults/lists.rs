//! Lists of the wrong shape: F067.

use serde_json::{Value, json};
use switchboard::CallError;
use switchboard::client::ClientSession;
use switchboard::protocol::DecodeKind;

use crate::faults::far::{Far, Held, open};
use crate::faults::sessions::paused;

switchboard_testkit::trials![paused:
    f067_a_list_that_is_no_array_names_the_place,
    f067_bad_entries_are_skipped_and_good_ones_kept,
];

async fn list(session: &ClientSession, far: &mut Far, result: Value) -> Result<Vec<String>, CallError> {
    let (listed, ()) = tokio::join!(session.refresh_tools(), async {
        let request = far.hear_of("tools/list").await;
        far.answer(&request, result).await;
    });
    Ok(listed?.iter().map(|tool| tool.name.clone()).collect())
}

async fn f067_a_list_that_is_no_array_names_the_place() {
    let Held { session, mut far, peer } = open().await;
    for bad in [json!({"tools": null}), json!({"tools": {"a": 1}}), json!({"tools": "echo"}), json!({})] {
        let outcome = list(&session, &mut far, bad.clone()).await;
        let Err(CallError::Protocol { method, error }) = outcome else { panic!("{bad}: {outcome:?}") };
        assert_eq!((method.as_str(), error.path()), ("tools/list", "tools"), "{bad}");
        assert!(matches!(error.kind(), DecodeKind::Mismatch { .. }));
    }
    let fine = list(&session, &mut far, json!({"tools": []})).await;
    assert_eq!(fine.expect("the connection stays"), Vec::<String>::new());
    assert_eq!(peer.pending(), 0);
}

async fn f067_bad_entries_are_skipped_and_good_ones_kept() {
    let Held { session, mut far, .. } = open().await;
    let schema = json!({"type": "object"});
    let tools = json!([
        {"name": "first", "inputSchema": schema},
        null,
        {"inputSchema": schema},
        {"name": 7, "inputSchema": schema},
        {"name": "no-schema"},
        {"name": "last", "inputSchema": schema},
    ]);
    let names = list(&session, &mut far, json!({"tools": tools})).await.unwrap();
    assert_eq!(names, ["first", "last"]);
    let listing = session.list_tools().await.unwrap();
    let places: Vec<(usize, &str)> =
        listing.rejected.iter().map(|rejected| (rejected.index, rejected.error.path())).collect();
    assert_eq!(places.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(places.iter().all(|(index, path)| path.starts_with(&format!("tools[{index}]"))), "{places:?}");
    assert_eq!(listing.rejected[3].name.as_deref(), Some("no-schema"));
}
