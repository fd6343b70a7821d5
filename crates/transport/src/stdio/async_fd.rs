//! Registers a file descriptor with the runtime.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers a descriptor for readiness events. Must be called inside a runtime with I/O enabled.
#[expect(
    deprecated,
    reason = "its successor is an unsafe fn that asks for a descriptor that stays open and the same, which an OwnedFd is"
)]
pub(crate) fn register(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd, interest)
}
