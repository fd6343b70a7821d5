//! Serving on our own stdin and stdout: pipes, sockets, files, with stray output in between.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use switchboard_testkit::trial_leaving_tasks;

use crate::part::PART;

switchboard_testkit::trials![trial_leaving_tasks:
    pipes_carry_only_messages,
    sockets_carry_only_messages_and_keep_their_flags,
    files_are_read_to_their_end,
];

const REQUEST: &str = r#"{"jsonrpc":"2.0","id":7,"method":"echo","params":{"text":"hello"}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"text":"hello"}}"#;

fn own(stdin: impl Into<Stdio>, stdout: impl Into<Stdio>) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .env(PART, "own")
        .stdin(stdin)
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Its end, and that the stray lines went to stderr.
fn over(mut child: std::process::Child) {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    assert!(said.contains("stray\n") && said.contains("stray from below\n"), "{said}");
    assert!(said.contains("ended: the connection is closed"), "{said}");
}

async fn pipes_carry_only_messages() {
    let mut child = own(Stdio::piped(), Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let large = REQUEST.replace("hello", &"x".repeat(3_000_000));
    let mut line = String::new();
    writeln!(input, "{REQUEST}").unwrap();
    output.read_line(&mut line).unwrap();
    assert_eq!(line.trim_end(), ANSWER);
    line.clear();
    writeln!(input, "{large}").unwrap();
    output.read_line(&mut line).unwrap();
    assert_eq!(line.len(), ANSWER.len() - 5 + 3_000_000 + 1);
    drop(input);
    line.clear();
    output.read_to_string(&mut line).unwrap();
    assert_eq!(line, "", "nothing but messages");
    over(child);
}

/// As a Node host does it.
async fn sockets_carry_only_messages_and_keep_their_flags() {
    let (input, their_stdin) = UnixStream::pair().unwrap();
    let (output, their_stdout) = UnixStream::pair().unwrap();
    let kept = [their_stdin.try_clone().unwrap(), their_stdout.try_clone().unwrap()];
    let child = own(OwnedFd::from(their_stdin), OwnedFd::from(their_stdout));
    let large = REQUEST.replace("hello", &"x".repeat(3_000_000));
    writeln!(&input, "{REQUEST}\n{large}").unwrap();
    let mut output = BufReader::new(output);
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line.trim_end(), ANSWER);
    line.clear();
    output.read_line(&mut line).unwrap();
    assert_eq!(line.len(), ANSWER.len() - 5 + 3_000_000 + 1);
    for socket in &kept {
        let flags = rustix::fs::fcntl_getfl(socket).unwrap();
        assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK), "the description is shared");
    }
    drop(kept);
    drop(input);
    line.clear();
    output.read_to_string(&mut line).unwrap();
    assert_eq!(line, "");
    over(child);
}

async fn files_are_read_to_their_end() {
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("in"), dir.path().join("out"));
    std::fs::write(&input, format!("{REQUEST}\n").repeat(3)).unwrap();
    let child = own(std::fs::File::open(&input).unwrap(), std::fs::File::create(&output).unwrap());
    over(child);
    assert_eq!(std::fs::read_to_string(&output).unwrap(), format!("{ANSWER}\n").repeat(3));
}
