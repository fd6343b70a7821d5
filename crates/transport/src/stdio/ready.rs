//! Descriptors whose readiness the runtime watches.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Watches a descriptor. Must be called inside a runtime with I/O enabled.
#[expect(
    deprecated,
    reason = "its successor is an unsafe fn that asks for a descriptor that stays open and the same, which an OwnedFd is"
)]
pub(crate) fn watch(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd, interest)
}
