//! A recording of a server from npm: replayed to clients of both eras, and compared with the server itself.

use switchboard_testkit::Failed;

use crate::interop::login::User;
use crate::interop::peer::place;
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] =
    &[("everything_is_recorded_replayed_and_tested", recorded_replayed_and_tested)];

fn recorded_replayed_and_tested() -> Result<(), Failed> {
    block_on(async {
        let user = User::new();
        let script = place("SWITCHBOARD_INTEROP_NODE").join("node_modules/.bin/mcp-server-everything");
        let server = ["--", "node", script.to_str().expect("a path in UTF-8")];
        let command = place("SWITCHBOARD_INTEROP_COMMAND_LINE");
        let command = command.to_str().expect("a path in UTF-8");
        let file = user.at("session.talk").display().to_string();
        let sum = ["call", "get-sum", "a=1", "b=2"];
        let recorded = user.run_ok(&[&sum[..], &["--record", &file], &server].concat()).await;
        assert!(recorded.contains("The sum of 1 and 2 is 3"), "{recorded}");
        for revision in ["2025-06-18", "2026-07-28"] {
            let replay = ["--revision", revision, "--", command, "replay", &file];
            assert_eq!(user.run_ok(&[&sum[..], &replay].concat()).await, recorded, "{revision}");
        }
        let tested = user.run_ok(&[&["test", &file][..], &server].concat()).await;
        assert!(tested.contains("ok   tools/list\nok   tools/call get-sum"), "{tested}");
    })
}
