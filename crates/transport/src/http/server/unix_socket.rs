//! A Unix socket that only its owner can connect to.
//!
//! Invariants: the socket has mode 0600, and a connection of another user is closed unread (`SO_PEERCRED`). A socket file is
//! replaced only if it is this user's and nobody listens on it, under a lock. Only our own file is removed.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};

/// The longest path of a Unix socket on every system.
const MAX_PATH: usize = 100;

/// Why a Unix socket cannot be listened on.
#[derive(Debug)]
#[non_exhaustive]
pub enum UnixSocketError {
    /// The path is longer than the system allows.
    TooLong {
        /// The path.
        path: PathBuf,
    },
    /// Other users could replace the socket.
    UnsafeDirectory {
        /// The directory.
        directory: PathBuf,
    },
    /// Something that is not a socket of this user is at the path.
    Occupied {
        /// The path.
        path: PathBuf,
    },
    /// Another process listens on the socket.
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// The system refuses.
    Io {
        /// The path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl std::fmt::Display for UnixSocketError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong { path } => {
                write!(
                    f,
                    "the path {} is too long for a socket; use one of at most {MAX_PATH} bytes",
                    path.display()
                )
            }
            Self::UnsafeDirectory { directory } => write!(
                f,
                "other users can replace files in {0}; use a directory of your own, like $XDG_RUNTIME_DIR, or run \
                 `chmod go-w {0}`",
                directory.display()
            ),
            Self::Occupied { path } => {
                write!(
                    f,
                    "{} exists and is not a socket of this user; remove it or use another path",
                    path.display()
                )
            }
            Self::InUse { path } => {
                write!(f, "another process listens on {}; stop it or use another path", path.display())
            }
            Self::Io { path, error } => write!(f, "cannot listen on {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for UnixSocketError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// A listening Unix socket. Its file is removed on drop.
#[derive(Debug)]
pub(crate) struct PrivateSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the socket file.
    identity: Option<(u64, u64)>,
    /// Held as long as the socket is used: whoever finds a socket without a listener may remove it.
    _lock: File,
}

impl PrivateSocket {
    /// Creates the socket, in place of one that nobody listens on.
    ///
    /// # Errors
    /// As [`UnixSocketError`].
    pub(crate) fn bind(path: PathBuf) -> Result<Self, UnixSocketError> {
        if path.as_os_str().len() > MAX_PATH {
            return Err(UnixSocketError::TooLong { path });
        }
        check_directory(&path)?;
        let lock = take_lock(&path)?;
        remove_stale(&path)?;
        let failed = |error| UnixSocketError::Io { path: path.clone(), error };
        let listener = UnixListener::bind(&path).map_err(failed)?;
        // Until then others are refused by their credentials.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let identity = identity(&path);
        Ok(Self { listener, path, identity, _lock: lock })
    }

    /// Accepts a connection of this user; closes those of others.
    ///
    /// # Cancellation
    /// No connection is lost.
    pub(crate) async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let peer = stream.peer_cred()?.uid();
            if peer == geteuid().as_raw() {
                return Ok(stream);
            }
            tracing::warn!(uid = peer, path = %self.path.display(), "refused a connection of another user");
        }
    }
}

impl Drop for PrivateSocket {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(&self.path) == self.identity {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

/// Checks that no other user can replace files of the directory.
fn check_directory(path: &Path) -> Result<(), UnixSocketError> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let about =
        fs::metadata(directory).map_err(|error| UnixSocketError::Io { path: path.to_owned(), error })?;
    let is_own = about.uid() == geteuid().as_raw() || about.uid() == 0;
    let (is_shared, is_sticky) = (about.mode() & 0o022 != 0, about.mode() & 0o1000 != 0);
    if is_own && (!is_shared || is_sticky) {
        return Ok(());
    }
    Err(UnixSocketError::UnsafeDirectory { directory: directory.to_owned() })
}

/// Locks the path of the socket against other processes that want to listen on it.
fn take_lock(path: &Path) -> Result<File, UnixSocketError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let failed = |error| UnixSocketError::Io { path: path.to_owned(), error };
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let lock =
        File::options().write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(name);
    let lock = lock.map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(fs::TryLockError::WouldBlock) => Err(UnixSocketError::InUse { path: path.to_owned() }),
        Err(fs::TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Removes a socket file that nobody listens on.
fn remove_stale(path: &Path) -> Result<(), UnixSocketError> {
    let failed = |error| UnixSocketError::Io { path: path.to_owned(), error };
    let about = match fs::symlink_metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    if !about.file_type().is_socket() || about.uid() != geteuid().as_raw() {
        return Err(UnixSocketError::Occupied { path: path.to_owned() });
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // A listener whose queue is full is a listener.
        _ => Err(UnixSocketError::InUse { path: path.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_socket_is_private_and_replaced_only_if_nobody_listens() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.sock");
        let socket = PrivateSocket::bind(path.clone()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert!(matches!(PrivateSocket::bind(path.clone()), Err(UnixSocketError::InUse { .. })));
        let (client, accepted) = tokio::join!(UnixStream::connect(&path), socket.accept());
        assert!(client.is_ok() && accepted.is_ok());
        drop(socket);
        assert!(!path.exists());

        // A process that was killed leaves its socket.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let socket = PrivateSocket::bind(path.clone()).unwrap();
        // A listener without our lock, such as another program's, is not pushed aside either.
        drop(socket);
        let other = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(matches!(PrivateSocket::bind(path.clone()), Err(UnixSocketError::InUse { .. })));
        drop(other);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "notes").unwrap();
        assert!(matches!(PrivateSocket::bind(path.clone()), Err(UnixSocketError::Occupied { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "notes");
    }

    #[tokio::test]
    async fn a_directory_that_others_can_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.sock");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(PrivateSocket::bind(path.clone()), Err(UnixSocketError::UnsafeDirectory { .. })));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(PrivateSocket::bind(path).is_ok());
        let long = folder.path().join("x".repeat(MAX_PATH));
        assert!(matches!(PrivateSocket::bind(long), Err(UnixSocketError::TooLong { .. })));
    }
}
