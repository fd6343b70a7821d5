//! Tells the service manager about the state of the gateway (`sd_notify`): ready, reloading, stopping.
//!
//! One datagram to the socket in `NOTIFY_SOCKET`. Without it, or if it cannot be reached, nothing happens: the service
//! manager then decides by its timeouts.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::environment::variable;
use crate::sanitize::one_line;

/// A state of the service.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ServiceState<'a> {
    /// It serves, with a text for people.
    Ready(&'a str),
    /// It reads its configuration again; `Ready` follows.
    Reloading,
    /// It ends, in at most this time.
    Stopping(Duration),
}

/// Sends a state.
pub(crate) fn notify(state: ServiceState<'_>) {
    let Some(socket) = variable("NOTIFY_SOCKET").filter(|path| !path.is_empty()) else { return };
    // Nobody can be told.
    let _ = send(&socket, &message(state));
}

fn message(state: ServiceState<'_>) -> String {
    match state {
        ServiceState::Ready(text) => format!("READY=1\nSTATUS={}\n", one_line(text)),
        ServiceState::Reloading => {
            let now = clock_gettime(ClockId::Monotonic);
            let micros = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1_000;
            format!("RELOADING=1\nMONOTONIC_USEC={micros}\n")
        }
        ServiceState::Stopping(time) => {
            let micros = time.as_micros();
            format!("STOPPING=1\nSTATUS=waiting for calls under way\nEXTEND_TIMEOUT_USEC={micros}\n")
        }
    }
}

fn send(socket: &str, message: &str) -> std::io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    match socket.strip_prefix('@') {
        #[cfg(target_os = "linux")]
        Some(name) => {
            use std::os::linux::net::SocketAddrExt;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
            sender.send_to_addr(message.as_bytes(), &address)?;
        }
        _ => {
            sender.send_to(message.as_bytes(), socket)?;
        }
    }
    Ok(())
}
