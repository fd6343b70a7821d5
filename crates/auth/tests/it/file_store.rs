//! The files of a store: modes, refusals, contents, cache and locks.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use switchboard_auth::{FileStore, GrantKey, StoreError, TokenStore};

use crate::authorization_server::AuthorizationServer;
use crate::client::{log_in, open};

const DIRECTORY: &str = "SWITCHBOARD_TEST_UMASK_DIRECTORY";
const UMASK: &str = "SWITCHBOARD_TEST_UMASK";

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn key(account: &str) -> GrantKey {
    GrantKey {
        issuer: "https://issuer.example".to_owned(),
        resource: "https://mcp.example/mcp".to_owned(),
        client_id: "s3cret-client".to_owned(),
        account: account.to_owned(),
    }
}

/// Returns a store with one grant.
async fn filled_store(directory: &Path) -> std::sync::Arc<FileStore> {
    let server = AuthorizationServer::start().await;
    let store = open(directory);
    log_in(&server, &store, "tester").await;
    store
}

/// Returns path and repair of the refusal.
fn refusal<T>(outcome: Result<T, StoreError>) -> (String, String) {
    match outcome {
        Err(StoreError::Unsafe { path, reason }) => (path, reason),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was accepted"),
    }
}

/// Fills the store in a process of its own, because the umask belongs to the process.
#[test]
fn t36_modes_do_not_depend_on_the_umask() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        let umask = u32::from_str_radix(&std::env::var(UMASK).unwrap(), 8).unwrap();
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(umask));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(async {
            let store = filled_store(Path::new(&directory)).await;
            drop(store.lock(&key("a")).await.unwrap());
        });
    }
    for umask in ["000", "022", "077", "777"] {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("state/switchboard/auth");
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "file_store::t36_modes_do_not_depend_on_the_umask"])
            .env(DIRECTORY, &directory)
            .env(UMASK, umask)
            .output()
            .unwrap();
        assert!(output.status.success(), "{umask}: {}", String::from_utf8_lossy(&output.stdout));
        for parent in ["state", "state/switchboard", "state/switchboard/auth"] {
            assert_eq!(mode(&folder.path().join(parent)), 0o700, "{umask}: {parent}");
        }
        let files: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 3, "{umask}: {files:?}");
        for file in files {
            assert_eq!(mode(&file), 0o600, "{umask}: {file:?}");
        }
    }
}

#[tokio::test]
async fn t36_a_directory_that_others_reach_is_refused_with_its_repair() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("it's mine");
    let store = filled_store(&directory).await;
    for unsafe_mode in [0o750, 0o705, 0o720, 0o702, 0o711] {
        set_mode(&directory, unsafe_mode);
        let (path, reason) = refusal(FileStore::open(&directory));
        assert_eq!(Path::new(&path), directory);
        let command = reason.split('`').nth(1).unwrap();
        assert!(command.starts_with("chmod 700 '"), "{reason}");
        refusal(store.list().await);
        assert!(Command::new("sh").args(["-c", command]).status().unwrap().success());
        assert_eq!(store.list().await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn t36_a_file_that_others_reach_is_refused_with_its_repair() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled_store(&folder.path().join("auth")).await;
    drop(store.lock(&key("a")).await.unwrap());
    let lock = fs::read_dir(folder.path().join("auth")).unwrap().map(|entry| entry.unwrap().path());
    let lock = lock.into_iter().find(|path| path.to_str().unwrap().contains("refresh-")).unwrap();
    let file = folder.path().join("auth/grants.json");
    for unsafe_mode in [0o640, 0o604, 0o620, 0o602] {
        set_mode(&file, unsafe_mode);
        let (path, reason) = refusal(store.list().await);
        assert_eq!((Path::new(&path), reason.contains("chmod 600")), (&*file, true), "{reason}");
        refusal(FileStore::open(folder.path().join("auth")));
        refusal(store.set_client("i", "r", None).await);
        set_mode(&file, 0o600);
    }
    set_mode(&lock, 0o666);
    refusal(store.lock(&key("a")).await);
}

#[tokio::test]
async fn t36_links_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (directory, elsewhere) = (folder.path().join("auth"), folder.path().join("elsewhere"));
    let store = filled_store(&directory).await;
    fs::rename(directory.join("grants.json"), &elsewhere).unwrap();
    let before = fs::read(&elsewhere).unwrap();
    symlink(&elsewhere, directory.join("grants.json")).unwrap();
    let (_, reason) = refusal(store.list().await);
    assert!(reason.contains("symbolic link") && reason.contains("`rm "), "{reason}");
    refusal(store.set_client("i", "r", None).await);
    fs::remove_file(directory.join("grants.json")).unwrap();
    // A draft is never written through a link.
    symlink(&elsewhere, directory.join("grants.json.draft")).unwrap();
    store.set_client("i", "r", None).await.unwrap();
    assert_eq!(fs::read(&elsewhere).unwrap(), before);
    fs::remove_file(directory.join("grants.lock")).unwrap();
    symlink(&elsewhere, directory.join("grants.lock")).unwrap();
    refusal(store.set_client("i", "r", None).await);
    let link = folder.path().join("link");
    symlink(&directory, &link).unwrap();
    for path in [link.clone(), link.join("")] {
        let (_, reason) = refusal(FileStore::open(path));
        assert!(reason.contains("symbolic link"), "{reason}");
    }
}

#[tokio::test]
async fn t36_files_of_another_user_are_refused() {
    // Root owns this one everywhere.
    if rustix::process::geteuid().is_root() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("auth");
        open(&directory);
        std::os::unix::fs::chown(&directory, Some(65534), None).unwrap();
        let (_, reason) = refusal(FileStore::open(&directory));
        assert!(reason.contains("65534") && reason.contains("chown"), "{reason}");
        return;
    }
    let (_, reason) = refusal(FileStore::open("/"));
    assert!(reason.contains("id 0"), "{reason}");
}

#[tokio::test]
async fn unreadable_contents_are_reported_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("auth");
    let store = filled_store(&directory).await;
    let file = directory.join("grants.json");
    let large = "x".repeat(4 * 1024 * 1024 + 1);
    for text in ["", "s3cret", "{}", r#"{"version":9}"#, r#"{"version":1,"grants":["s3cret"]}"#, &large] {
        fs::write(&file, text).unwrap();
        for outcome in [store.list().await.err(), FileStore::open(&directory).err()] {
            let Some(StoreError::Damaged { path, reason }) = outcome else { panic!("{outcome:?}") };
            assert!(path.ends_with("grants.json") && !reason.contains("s3cret"), "{path} {reason}");
        }
        assert!(matches!(store.set_client("i", "r", None).await, Err(StoreError::Damaged { .. })));
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "nothing is overwritten");
    }
}

#[tokio::test]
async fn a_store_sees_the_writes_of_another_and_of_an_editor() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("auth");
    let (one, other) = (open(&directory), open(&directory));
    let server = AuthorizationServer::start().await;
    assert!(one.list().await.unwrap().is_empty());
    log_in(&server, &other, "tester").await;
    let [mut stored]: [_; 1] = one.list().await.unwrap().try_into().unwrap();
    for _ in 0..20 {
        let outcome = other.compare_and_set(&stored.key, Some(stored.generation), Some(stored.grant)).await;
        outcome.unwrap();
        let before = stored.generation;
        [stored] = one.list().await.unwrap().try_into().unwrap();
        assert!(stored.generation > before);
    }
    let file = directory.join("grants.json");
    let text = fs::read_to_string(&file).unwrap();
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    // Twice, because a file system may give the third file the inode of the first.
    for token in ["b0-0", "c0-0"] {
        let draft = directory.join("draft");
        fs::write(&draft, text.replace("a0-0", token)).unwrap();
        set_mode(&draft, 0o600);
        fs::File::open(&draft).unwrap().set_modified(modified).unwrap();
        fs::rename(draft, &file).unwrap();
    }
    assert_eq!(one.list().await.unwrap()[0].grant.access_token.expose(), "c0-0");
    fs::write(&file, text.replace("a0-0", "edited")).unwrap();
    assert_eq!(one.list().await.unwrap()[0].grant.access_token.expose(), "edited");
    fs::remove_dir_all(&directory).unwrap();
    assert!(one.list().await.unwrap().is_empty());
    log_in(&server, &one, "tester").await;
    assert_eq!(other.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_write_needs_the_current_generation() {
    use switchboard_auth::SwapOutcome;
    let folder = tempfile::tempdir().unwrap();
    let store = filled_store(&folder.path().join("auth")).await;
    let [stored]: [_; 1] = store.list().await.unwrap().try_into().unwrap();
    let first = store.compare_and_set(&stored.key, Some(stored.generation), Some(stored.grant.clone())).await;
    let SwapOutcome::Written(next) = first.unwrap() else { panic!("it was current") };
    for grant in [Some(stored.grant.clone()), None] {
        for expected in [None, Some(stored.generation)] {
            let outcome = store.compare_and_set(&stored.key, expected, grant.clone()).await.unwrap();
            let SwapOutcome::Conflict(Some(winner)) = outcome else { panic!("{outcome:?}") };
            assert_eq!(winner.generation, next);
        }
    }
    store.compare_and_set(&stored.key, Some(next), None).await.unwrap();
    let again = store.compare_and_set(&stored.key, None, Some(stored.grant)).await.unwrap();
    assert!(matches!(again, SwapOutcome::Written(generation) if generation > next.next()), "{again:?}");
}

#[tokio::test]
async fn clients_are_kept_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled_store(&folder.path().join("auth")).await;
    let client = store.list().await.unwrap()[0].grant.client.clone();
    store.set_client("issuer", "redirect", Some(client)).await.unwrap();
    let other = open(&folder.path().join("auth"));
    assert_eq!(other.client("issuer", "redirect").await.unwrap().unwrap().id, "tester");
    assert!(other.client("issuer", "another").await.unwrap().is_none());
    other.set_client("issuer", "redirect", None).await.unwrap();
    assert!(store.client("issuer", "redirect").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_exclusive_for_its_key_and_waits_at_most_a_minute() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (open(&folder.path().join("auth")), open(&folder.path().join("auth")));
    let held = one.lock(&key("a")).await.unwrap();
    for store in [&one, &other] {
        let outcome = store.lock(&key("a")).await;
        assert!(matches!(outcome, Err(StoreError::Busy { seconds: 60 })), "{outcome:?}");
    }
    drop(other.lock(&key("b")).await.unwrap());
    drop(held);
    drop(other.lock(&key("a")).await.unwrap());
    drop(one.lock(&key("a")).await.unwrap());
    let names = fs::read_dir(folder.path().join("auth")).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().all(|name| !name.contains("s3cret") && !name.contains("example")), "{names:?}");
}

#[tokio::test]
async fn a_lock_file_that_was_removed_by_hand_still_excludes() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (open(&folder.path().join("auth")), open(&folder.path().join("auth")));
    drop(one.lock(&key("a")).await.unwrap());
    fs::remove_dir_all(folder.path().join("auth")).unwrap();
    let held = one.lock(&key("a")).await.unwrap();
    let waiting = tokio::spawn(async move { other.lock(&key("a")).await.map(drop) });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drop(held);
    waiting.await.unwrap().unwrap();
}
