//! A process that is killed at each step of the refresh transaction, and the process that goes on.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use switchboard_auth::{FileStore, GrantState};
use switchboard_testkit::wait_until;

use crate::authorization_server::{AuthorizationServer, TokenBehavior};
use crate::client::{age_mark, log_in, only_grant, open};
use crate::worker::{NEEDS_LOGIN, Worker};

struct Setup {
    server: AuthorizationServer,
    store: Arc<FileStore>,
    folder: tempfile::TempDir,
}

impl Setup {
    /// Returns a store with a grant whose access token has expired.
    async fn new() -> Self {
        let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
        let store = open(&folder.path().join("auth"));
        log_in(&server, &store, "tester").await;
        server.expire();
        Self { server, store, folder }
    }

    fn worker(&self) -> Worker {
        Worker::start(&self.server, &self.directory())
    }

    fn directory(&self) -> std::path::PathBuf {
        self.folder.path().join("auth")
    }

    /// Holds the lock under which the file is replaced.
    fn hold_file(&self) -> File {
        let lock = File::open(self.directory().join("grants.lock")).unwrap();
        lock.lock().unwrap();
        lock
    }

    /// Waits until a process holds the lock of the grant.
    async fn wait_for_refresh_lock(&self) {
        wait_until("the lock of the grant", || is_refresh_locked(&self.directory())).await;
    }

    /// Checks that the next process refreshes with the current token.
    async fn assert_next_process_goes_on(&self) {
        assert_eq!(self.worker().request().await, "200");
        assert_eq!((self.server.refreshes(), self.server.reuses()), (1, 0));
        assert_eq!(only_grant(&self.store).await.grant.state, GrantState::Active);
    }

    /// Checks that the next process finds the token revoked, says so, and does not try again; a login repairs it.
    async fn assert_next_process_needs_one_login(&self) {
        age_mark(&self.store).await;
        let mut next = self.worker();
        for _ in 0..2 {
            assert_eq!(next.request().await, NEEDS_LOGIN);
        }
        assert_eq!(self.server.presented(), ["r0-0", "r0-0"], "the old token is presented once");
        let stored = only_grant(&self.store).await;
        let GrantState::NeedsLogin { reason } = stored.grant.state else {
            panic!("{:?}", stored.grant.state)
        };
        assert!(reason.contains("invalid_grant"), "{reason}");
        log_in(&self.server, &self.store, "tester").await;
        assert_eq!(next.request().await, "200");
    }
}

fn is_refresh_locked(directory: &Path) -> bool {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut locks = names.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("refresh-"));
    locks.any(|lock| matches!(File::open(lock).unwrap().try_lock(), Err(TryLockError::WouldBlock)))
}

#[tokio::test]
async fn killed_before_the_mark_is_written() {
    let setup = Setup::new().await;
    let held = setup.hold_file();
    let mut worker = setup.worker();
    worker.begin_request();
    setup.wait_for_refresh_lock().await;
    worker.kill();
    drop(held);
    assert_eq!(only_grant(&setup.store).await.grant.state, GrantState::Active);
    setup.assert_next_process_goes_on().await;
    assert_eq!(setup.server.presented(), ["r0-0"]);
}

#[tokio::test]
async fn killed_while_another_process_refreshes() {
    let setup = Setup::new().await;
    setup.server.queue(TokenBehavior::StallBeforeRotation);
    let (mut first, mut second) = (setup.worker(), setup.worker());
    first.begin_request();
    setup.server.wait_for_stall(1).await;
    second.begin_request();
    second.kill();
    setup.server.release();
    assert_eq!(first.answer().await, "200");
    assert_eq!((setup.server.refreshes(), setup.server.reuses()), (1, 0));
}

#[tokio::test]
async fn killed_after_sending_and_before_the_rotation() {
    let setup = Setup::new().await;
    setup.server.queue(TokenBehavior::StallBeforeRotation);
    let mut worker = setup.worker();
    worker.begin_request();
    setup.server.wait_for_stall(1).await;
    worker.kill();
    // The next process waits a few seconds, because the server may still be at it.
    setup.assert_next_process_goes_on().await;
    assert_eq!(setup.server.presented(), ["r0-0", "r0-0"]);
}

#[tokio::test]
async fn killed_after_the_rotation_and_before_the_answer() {
    let setup = Setup::new().await;
    setup.server.queue(TokenBehavior::StallAfterRotation);
    let mut worker = setup.worker();
    worker.begin_request();
    setup.server.wait_for_stall(1).await;
    worker.kill();
    setup.assert_next_process_needs_one_login().await;
}

#[tokio::test]
async fn killed_after_the_answer_and_before_it_is_stored() {
    let setup = Setup::new().await;
    setup.server.queue(TokenBehavior::StallBeforeRotation);
    let mut worker = setup.worker();
    worker.begin_request();
    setup.server.wait_for_stall(1).await;
    let held = setup.hold_file();
    setup.server.release();
    wait_until("the rotation", || setup.server.refreshes() == 1).await;
    worker.kill();
    drop(held);
    setup.assert_next_process_needs_one_login().await;
}

#[tokio::test]
async fn killed_after_the_answer_is_stored() {
    let setup = Setup::new().await;
    let mut worker = setup.worker();
    assert_eq!(worker.request().await, "200");
    worker.kill();
    setup.assert_next_process_goes_on().await;
    assert_eq!(setup.server.presented(), ["r0-0"], "the stored token is used without a refresh");
}

#[tokio::test]
async fn killed_while_the_file_is_written() {
    let setup = Setup::new().await;
    // Such a process leaves half a draft and lock files that nobody holds.
    std::fs::write(setup.directory().join("grants.json.draft"), "{\"version\":1,").unwrap();
    setup.assert_next_process_goes_on().await;
    assert!(!setup.directory().join("grants.json.draft").exists());
}

/// Kills processes at times that are spread over a refresh: a login is needed if and only if a rotation was not stored.
#[tokio::test]
async fn killed_at_any_time() {
    let is_long = std::env::var_os("SWITCHBOARD_LONG").is_some_and(|value| value == "1");
    let setup = Setup::new().await;
    let mut worker = setup.worker();
    assert_eq!(worker.request().await, "200");
    let mut lost = 0;
    for round in 0..if is_long { 500 } else { 25 } {
        setup.server.expire();
        worker.begin_request();
        tokio::time::sleep(Duration::from_micros(400) * (round % 25)).await;
        worker.kill();
        setup.server.wait_for_disconnection().await;
        let stored = only_grant(&setup.store).await.grant;
        let is_current = stored.refresh_token.unwrap().expose() == setup.server.refresh_token();
        if matches!(stored.state, GrantState::MaybeRotated { .. }) {
            age_mark(&setup.store).await;
        }
        worker = setup.worker();
        if is_current {
            assert_eq!(worker.request().await, "200", "round {round}");
        } else {
            assert!(matches!(stored.state, GrantState::MaybeRotated { .. }), "round {round}: no mark");
            assert_eq!(worker.request().await, NEEDS_LOGIN, "round {round}");
            lost += 1;
            log_in(&setup.server, &setup.store, "tester").await;
            assert_eq!(worker.request().await, "200", "round {round}");
        }
        assert_eq!(setup.server.reuses(), lost, "round {round}");
    }
    println!("{lost} rotations were not stored");
}
