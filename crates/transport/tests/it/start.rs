//! Starting: F001, and what a server gets of us.

use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use switchboard_session::link::{Dial, DialStep, LinkError, StartError, StartErrorKind};
use switchboard_testkit::{STEP_TIMEOUT, trial_leaving_tasks};
use switchboard_transport::stdio::{ChildLimits, Stdio, Supervision, spawn};

use crate::links::{end_of, group, link, sh};
use crate::part::{SCRIPT, said};

switchboard_testkit::trials![trial_leaving_tasks:
    a13_a_missing_program_is_named_and_path_is_a_count,
    what_cannot_be_executed_is_said_so,
    a_file_the_system_refuses_is_not_started_either_way,
    a_bad_directory_is_named,
    a_relative_program_is_found_from_its_directory,
    c12_only_listed_variables_reach_the_server,
    no_descriptor_and_no_terminal_reach_the_server,
    limits_reach_the_server,
    without_a_reactor_it_is_an_error,
    the_next_rung_gets_the_same_process_while_it_lives,
];

fn refusal(command: &Stdio) -> std::sync::Arc<StartError> {
    let start = Instant::now();
    let error = spawn(command).expect_err("it cannot start");
    assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    not_started(error)
}

fn not_started(error: LinkError) -> std::sync::Arc<StartError> {
    match error {
        LinkError::NotStarted(why) => why,
        other => panic!("{other:?}"),
    }
}

/// F001.
async fn a13_a_missing_program_is_named_and_path_is_a_count() {
    let why = refusal(&Stdio::new("no-such-server").env("PATH", "/usr/bin:/nowhere"));
    assert_eq!((why.kind, why.program.as_str()), (StartErrorKind::NotFound, "no-such-server"));
    assert_eq!(why.searched, ["/usr/bin", "/nowhere"]);
    // A13: a count, and the folders only where they are asked for.
    assert!(why.to_string().ends_with("(searched 2 folders of PATH)"), "{why}");
    assert!(format!("{why:#}").ends_with("(searched /usr/bin, /nowhere)"), "{why:#}");
    assert_eq!(refusal(&Stdio::new("/nowhere/server")).kind, StartErrorKind::NotFound);
    assert_eq!(refusal(&Stdio::new("")).kind, StartErrorKind::NotFound);
}

async fn what_cannot_be_executed_is_said_so() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("server");
    std::fs::write(&file, "#!/bin/sh\n").unwrap();
    let why = refusal(&Stdio::new(&file));
    assert_eq!(why.kind, StartErrorKind::NotExecutable);
    assert_eq!(why.program, file.display().to_string());
    let why = refusal(&Stdio::new("server").env("PATH", dir.path()));
    assert_eq!(why.kind, StartErrorKind::NotExecutable);
    assert_eq!(refusal(&Stdio::new(dir.path())).kind, StartErrorKind::Directory);
}

/// Neither a program nor a script, and a script whose interpreter is missing: only executing them shows it.
async fn a_file_the_system_refuses_is_not_started_either_way() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("plain", "hello"), ("script", "#!/nowhere/interpreter\n")] {
        let file = dir.path().join(name);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let command = Stdio::new(&file);
        let direct = refusal(&command.clone().supervision(Supervision::GroupOnly));
        let (link, _) = link(&command);
        let through_supervisor = not_started(end_of(&link).await);
        for why in [direct, through_supervisor] {
            assert_eq!(why.kind, StartErrorKind::NotExecutable, "{why}");
            assert_eq!(why.program, file.display().to_string());
            assert!(why.source.is_some());
        }
    }
}

async fn a_bad_directory_is_named() {
    let why = refusal(&Stdio::new("cat").cwd("/nowhere/at/all"));
    assert_eq!(
        (why.kind, &why.searched[..]),
        (StartErrorKind::BadDirectory, &["/nowhere/at/all".to_owned()][..])
    );
    assert_eq!(refusal(&Stdio::new("cat").cwd("/etc/passwd")).kind, StartErrorKind::BadDirectory);
}

async fn a_relative_program_is_found_from_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("bin")).unwrap();
    let file = dir.path().join("bin/server");
    std::fs::write(&file, "#!/bin/sh\npwd >&2\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    for command in [Stdio::new("./bin/server"), Stdio::new("server").env("PATH", "bin:/usr/bin:/bin")] {
        let (_link, child) = link(&command.cwd(dir.path()));
        let exit = child.exited().await;
        assert_eq!(exit.code, Some(0), "{exit}");
        assert_eq!(exit.stderr_tail.trim(), dir.path().canonicalize().unwrap().display().to_string());
    }
}

async fn c12_only_listed_variables_reach_the_server() {
    let canaries: Vec<(String, String)> =
        (0..200).map(|number| (format!("CANARY_{number}"), format!("secret-{number}"))).collect();
    let mut env: Vec<(&str, &str)> =
        canaries.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    env.extend([
        (SCRIPT, "env | sed 's/^/=/' >&2"),
        ("FUNCTION", "() { :; }"),
        ("TZ", "() { :; }"),
        ("LANG", "C"),
        ("LD_PRELOAD_X", "no"),
        ("GITHUB_TOKEN", "no"),
        ("npm_config_//registry.example/:_authToken", "no"),
        ("NPM_CONFIG_PASSWORD", "no"),
    ]);
    // Proxies, certificates, displays and locales pass.
    let passed = [
        "HTTPS_PROXY",
        "http_proxy",
        "NO_PROXY",
        "NODE_EXTRA_CA_CERTS",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
        "LC_MESSAGES",
        "npm_config_registry",
        "NPM_CONFIG_CAFILE",
    ];
    env.extend(passed.map(|name| (name, "yes")));
    let said = said("run", &env).await;
    let names: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix('=')?.split_once('='))
        .map(|(name, _)| name)
        .collect();
    assert!(
        names.contains(&"DECLARED") && names.contains(&"CANARY_7") && names.contains(&"LANG"),
        "{names:?}"
    );
    // A shell adds these itself.
    let shell = ["PWD", "OLDPWD", "SHLVL", "_"];
    for name in passed {
        assert!(names.contains(&name), "{name} was withheld: {names:?}");
    }
    // The environment of the tests may have any of the others.
    let list = [
        "HOME",
        "LOGNAME",
        "USER",
        "SHELL",
        "PATH",
        "TERM",
        "LANG",
        "LANGUAGE",
        "TMPDIR",
        "XDG_RUNTIME_DIR",
        "PIP_CERT",
        "DENO_CERT",
        "AWS_CA_BUNDLE",
        "NODE_USE_SYSTEM_CA",
        "NODE_USE_ENV_PROXY",
    ];
    for name in names {
        let is_family = name.starts_with("LC_") || name.to_lowercase().starts_with("npm_config_");
        let is_credential = ["auth", "password"].iter().any(|part| name.to_lowercase().contains(part));
        let is_proxy = name.to_lowercase().ends_with("_proxy");
        let known = list.contains(&name)
            || passed.contains(&name)
            || (is_family && !is_credential)
            || is_proxy
            || shell.contains(&name)
            || ["DECLARED", "CANARY_7"].contains(&name);
        assert!(known, "{name} got through");
    }
}

/// Also the descriptors that were not marked, which our own parent may have left us.
async fn no_descriptor_and_no_terminal_reach_the_server() {
    let leaked = std::fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let (_link, child) = link(&sh("exec >&2; ls /proc/$$/fd; cat /proc/$$/stat"));
    let said = child.exited().await.stderr_tail;
    drop(leaked);
    let [fds @ .., stat] = &said.lines().collect::<Vec<_>>()[..] else { panic!("{said}") };
    assert_eq!(fds, ["0", "1", "2"]);
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let (group, session, terminal) = (fields[2], fields[3], fields[4]);
    assert_eq!(terminal, "0", "{stat}");
    assert_eq!(session, child.supervisor_pid().unwrap().to_string(), "the supervisor leads its session");
    assert_ne!(group, session, "a group of its own");
}

async fn limits_reach_the_server() {
    let limits = ChildLimits { open_files: Some(77), ..ChildLimits::default() };
    for command in [sh("ulimit -n >&2; ulimit -c >&2"), group("sleep 0.2; ulimit -n >&2; ulimit -c >&2")] {
        let (_link, child) = link(&command.limits(limits));
        assert_eq!(child.exited().await.stderr_tail, "77\n0\n");
    }
}

async fn without_a_reactor_it_is_an_error() {
    let outside = std::thread::spawn(|| spawn(&Stdio::new("cat")).err()).join().unwrap().unwrap();
    assert!(outside.to_string().contains("tokio runtime"), "{outside}");
    assert_eq!(not_started(outside).kind, StartErrorKind::Other);
    assert!(said("without-drivers", &[]).await.contains("tokio runtime"));
}

/// F004, F005 at the link.
async fn the_next_rung_gets_the_same_process_while_it_lives() {
    let dial = sh("read one; exit 3");
    let first = dial.dial(DialStep::Modern, None).await.unwrap();
    let same = dial.dial(DialStep::Legacy, Some(first.clone())).await.unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &same));
    let mut asked = first.open(switchboard_session::link::OutgoingRequest {
        id: 1.into(),
        method: "server/discover",
        params: "{}",
        mirror: switchboard_session::link::Mirror::default(),
        kind: switchboard_session::link::ExchangeKind::Call,
        call: None,
    });
    let error = asked.done().await.expect_err("it exits");
    assert_eq!(error.exit().unwrap().code, Some(3));
    let fresh = dial.dial(DialStep::Legacy, Some(first.clone())).await.unwrap();
    assert!(!std::sync::Arc::ptr_eq(&first, &fresh) && fresh.ended().is_none());
}
