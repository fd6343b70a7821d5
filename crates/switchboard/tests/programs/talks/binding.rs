//! How a talk travels: in memory, or over the stdin and stdout of a child, which is this very program.
//!
//! The child of a client's talk only carries lines between its stdio and a socket, so that the script runs in one
//! place for every binding. The child of a server's talk is the server itself.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use switchboard::Stdio;
use switchboard::transport::link::{BoxFuture, DialStep, Link};
use switchboard::transport::{ConnectionLimits, MuxLink};
use switchboard::transport::{Dial, LinkError};
use tokio::net::UnixListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::talks::server::server;
use crate::talks::wire::Wire;

/// How a talk travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    Memory,
    Stdio,
}

impl Binding {
    pub(crate) const ALL: [Self; 2] = [Self::Memory, Self::Stdio];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Stdio => "stdio",
        }
    }
}

/// Names the socket whose lines the child carries.
const CARRY: &str = "SWITCHBOARD_TALK_CARRY";
/// Names the revisions that the child serves.
const SERVE: &str = "SWITCHBOARD_TALK_SERVE";

/// Where a client under test connects to: each connection becomes a wire for the runner.
pub(crate) struct Stage {
    pub(crate) dial: AnyDial,
    pub(crate) wires: UnboundedReceiver<Wire>,
    // The folder of the socket, which goes with it.
    _folder: Option<tempfile::TempDir>,
}

/// One of the two ways to dial.
#[derive(Clone)]
pub(crate) enum AnyDial {
    Memory(UnboundedSender<Wire>),
    Stdio(Box<Stdio>),
}

impl Stage {
    pub(crate) fn new(binding: Binding) -> io::Result<Self> {
        let (arrived, wires) = unbounded_channel();
        let Binding::Stdio = binding else {
            return Ok(Self { dial: AnyDial::Memory(arrived), wires, _folder: None });
        };
        let folder = tempfile::tempdir()?;
        let socket = folder.path().join("talk");
        let listener = UnixListener::bind(&socket)?;
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (read, write) = stream.into_split();
                if arrived.send(Wire::over(read, write)).is_err() {
                    return;
                }
            }
        });
        let command = Stdio::new(std::env::current_exe()?).env(CARRY, socket);
        Ok(Self { dial: AnyDial::Stdio(Box::new(command)), wires, _folder: Some(folder) })
    }
}

impl Dial for AnyDial {
    fn dial(
        &self,
        step: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        match (self, previous) {
            (Self::Stdio(stdio), previous) => stdio.dial(step, previous),
            (Self::Memory(_), Some(link)) if link.ended().is_none() => Box::pin(async { Ok(link) }),
            (Self::Memory(arrived), _) => Box::pin(async {
                let (wire, pipe) = Wire::in_memory();
                arrived.send(wire).map_err(|_| LinkError::Closed)?;
                Ok(MuxLink::start(pipe, ConnectionLimits::default()) as Arc<dyn Link>)
            }),
        }
    }
}

/// A server under test, and the wire to it.
pub(crate) struct Served {
    pub(crate) wire: Wire,
    child: Option<tokio::process::Child>,
}

impl Served {
    pub(crate) fn new(binding: Binding, offer: &str) -> io::Result<Self> {
        match binding {
            Binding::Memory => {
                let server = server(offer);
                let (wire, pipe) = Wire::in_memory();
                tokio::spawn(async move { server.serve(pipe).await });
                Ok(Self { wire, child: None })
            }
            Binding::Stdio => {
                let mut child = tokio::process::Command::new(std::env::current_exe()?)
                    .env(SERVE, offer)
                    .stdin(std::process::Stdio::piped())
                    .stdout(std::process::Stdio::piped())
                    .kill_on_drop(true)
                    .spawn()?;
                let stdin = child.stdin.take().expect("stdin is piped");
                let stdout = child.stdout.take().expect("stdout is piped");
                Ok(Self { wire: Wire::over(stdout, stdin), child: Some(child) })
            }
        }
    }

    /// Waits for the server to leave after its client has.
    pub(crate) async fn left(self) -> Result<(), String> {
        let Some(mut child) = self.child else { return Ok(()) };
        let exit = tokio::time::timeout(switchboard_testkit::STEP_TIMEOUT, child.wait()).await;
        match exit {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(format!("the server left with {status}")),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the server did not leave when its client did".to_owned()),
        }
    }
}

/// Does the work of a child, if this process is one.
pub(crate) fn work_as_child() -> Option<io::Result<()>> {
    if let Ok(offer) = std::env::var(SERVE) {
        return Some(switchboard_testkit::block_on(switchboard::serve_stdio(&server(&offer))));
    }
    std::env::var_os(CARRY).map(|socket| carry(UnixStream::connect(socket)?))
}

/// Carries bytes both ways until one side ends.
fn carry(socket: UnixStream) -> io::Result<()> {
    let to_socket = socket.try_clone()?;
    std::thread::spawn(move || {
        let _ = pour(io::stdin().lock(), &to_socket);
        // A server leaves when its client does.
        std::process::exit(0);
    });
    pour(&socket, io::stdout().lock())
}

/// Not `io::copy`: it splices from the socket, and the kernel holds the lock of our stdout while it waits there, so
/// that whoever reads our stdout could not even be killed.
fn pour(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..read])?;
        to.flush()?;
    }
}
