//! Compares the surface table with the version matrix of the specification, transcribed by hand.

use std::collections::BTreeSet;

use switchboard_protocol::Revision;
use switchboard_protocol::surface::{
    self, Direction, MessageKind, MethodOrigin, Peer, RequiredCapability, SURFACE,
};

/// MessageKind, who sends in 2024-11-05 … 2026-07-28, method. `c` client, `s` server, `b` both, `-` nobody, `i` only inside
/// `inputRequests`, `e` the client and `n` the server, by the tasks extension.
const MATRIX: &str = "
    R cccc-  initialize
    R bbbb-  ping
    R ----c  server/discover
    R ccccc  tools/list
    R ccccc  tools/call
    R ccccc  resources/list
    R ccccc  resources/templates/list
    R ccccc  resources/read
    R cccc-  resources/subscribe
    R cccc-  resources/unsubscribe
    R ----c  subscriptions/listen
    R ccccc  prompts/list
    R ccccc  prompts/get
    R ccccc  completion/complete
    R cccc-  logging/setLevel
    R ---be  tasks/get
    R ---b-  tasks/result
    R ---be  tasks/cancel
    R ---b-  tasks/list
    R ----e  tasks/update
    R ssssi  sampling/createMessage
    R ssssi  roots/list
    R --ssi  elicitation/create
    N cccc-  notifications/initialized
    N cccc-  notifications/roots/list_changed
    N bbbbb  notifications/cancelled
    N bbbbs  notifications/progress
    N sssss  notifications/message
    N sssss  notifications/tools/list_changed
    N sssss  notifications/prompts/list_changed
    N sssss  notifications/resources/list_changed
    N sssss  notifications/resources/updated
    N ---s-  notifications/elicitation/complete
    N ---b-  notifications/tasks/status
    N ----n  notifications/tasks
    N ----s  notifications/subscriptions/acknowledged
";

fn rows() -> impl Iterator<Item = (MessageKind, &'static str, &'static str)> {
    MATRIX.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        let mut words = line.split_whitespace();
        let mut word = || words.next().unwrap();
        let kind = if word() == "R" { MessageKind::Request } else { MessageKind::Notification };
        let senders = word();
        (kind, word(), senders)
    })
}

#[test]
fn the_table_matches_the_specification() {
    for (kind, method, senders) in rows() {
        for (revision, sender) in Revision::ALL.into_iter().zip(senders.chars()) {
            let at = format!("{method} in {revision}");
            assert_eq!(
                surface::exists(method, revision, Direction::ClientToServer),
                "cbe".contains(sender),
                "{at}"
            );
            assert_eq!(
                surface::exists(method, revision, Direction::ServerToClient),
                "sbn".contains(sender),
                "{at}"
            );
            assert_eq!(surface::exists(method, revision, Direction::Both), sender == 'b', "{at}");
            let row = surface::find_in(method, revision);
            assert_eq!(row.is_some(), sender != '-', "{at}");
            if let Some(row) = row {
                assert_eq!(row.kind, kind, "{at}");
                assert_eq!(row.origin == MethodOrigin::InputRequests, sender == 'i', "{at}");
                assert_eq!(matches!(row.origin, MethodOrigin::Extension(_)), "en".contains(sender), "{at}");
            }
        }
    }
}

#[test]
fn the_table_has_no_other_methods_and_no_overlapping_rows() {
    let known: BTreeSet<&str> = rows().map(|(_, method, _)| method).collect();
    assert_eq!(known, SURFACE.iter().map(|row| row.method).collect());
    for method in known {
        for revision in Revision::ALL {
            assert!(
                surface::find(method).filter(|row| row.covers(revision)).count() <= 1,
                "{method} {revision}"
            );
        }
    }
    assert_eq!(surface::find("tools/explode").count(), 0);
}

#[test]
fn all_methods_are_iterated_by_sender() {
    let all: BTreeSet<_> = surface::all().collect();
    assert_eq!(all.len(), surface::all().count());
    assert!(all.contains(&("ping", Revision::V2024_11_05, Peer::Server)));
    assert!(!all.contains(&("notifications/progress", Revision::V2026_07_28, Peer::Client)));
    assert!(all.contains(&("notifications/progress", Revision::V2026_07_28, Peer::Server)));
}

#[test]
fn completion_is_older_than_its_capability() {
    let needs = |revision| surface::find_in("completion/complete", revision).unwrap().needs;
    assert_eq!(needs(Revision::V2024_11_05), None);
    assert_eq!(needs(Revision::V2025_03_26), Some(RequiredCapability::ByServer("completions")));
}
