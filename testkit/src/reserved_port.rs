//! A loopback port that no other test can get while it is reserved.
//!
//! A port that was bound and closed again is given to the next test that asks for a free one, which on a busy machine is
//! often before the first test has used it.

use std::net::SocketAddr;

use tokio::net::TcpSocket;

/// A socket that is bound to a port of 127.0.0.1 and does not listen: connections are refused.
///
/// A server that sets `SO_REUSEADDR`, as tokio does, can listen on the port while it is reserved.
#[derive(Debug)]
pub struct ReservedPort(TcpSocket);

impl ReservedPort {
    /// Reserves a free port.
    #[allow(clippy::new_without_default, reason = "it takes a port of the machine, which no default should")]
    pub fn new() -> Self {
        let socket = TcpSocket::new_v4().expect("sockets are available");
        socket.set_reuseaddr(true).expect("a new socket takes options");
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("loopback has a free port");
        Self(socket)
    }

    /// Returns the address of the port.
    pub fn address(&self) -> SocketAddr {
        self.0.local_addr().expect("the socket is bound")
    }
}
