//! TLS of a listener: certificate and key from files, reread when they change, and bounded handshakes.
//!
//! Invariants: new connections get the newest certificate that could be read together with its key, open ones go on; files
//! that cannot be used leave the former certificate in place, with one warning per change. A handshake takes at most the
//! time of a request head, and only so many run at a time; a connection that sends nothing does not count among them.
//! The crypto provider is explicit, so that another one in the same program does not interfere.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// How often the files are looked at, at most.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The largest file that is read.
const MAX_FILE: u64 = 1024 * 1024;
/// The first byte of a handshake.
const HANDSHAKE_RECORD: u8 = 0x16;
/// The response to a client that speaks unencrypted HTTP.
const PLAIN_HTTP: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\
    content-length: 43\r\n\r\nthis port speaks https: use an https:// URL";

/// The certificate and the private key of a server, in PEM files that are reread when they change.
///
/// ```no_run
/// use switchboard::server::{HttpListener, TlsIdentity};
///
/// # async fn listen() -> Result<(), Box<dyn std::error::Error>> {
/// let identity = TlsIdentity::from_files("/etc/notes/fullchain.pem", "/etc/notes/key.pem")?;
/// let listener = HttpListener::bind(([0, 0, 0, 0], 8443).into()).await?.with_tls(identity);
/// # let _ = listener;
/// # Ok(())
/// # }
/// ```
pub struct TlsIdentity {
    files: TlsFiles,
    // Held for a `stat` once per interval and for the reading of changed files.
    loaded: Mutex<LoadedIdentity>,
    report: Box<dyn Fn(&str) + Send + Sync>,
}

struct TlsFiles {
    certificate: PathBuf,
    key: PathBuf,
}

struct LoadedIdentity {
    config: Arc<ServerConfig>,
    /// The files when they were last read, also if they could not be used.
    version: Option<[FileStamp; 2]>,
    checked: Instant,
}

/// Changes whenever a file is written or replaced.
#[derive(PartialEq, Eq)]
struct FileStamp {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
}

/// Why certificate and key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A file has no certificate or no private key in PEM.
    Missing {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        expected: &'static str,
    },
    /// Certificate and key do not belong together, or are of an unsupported kind.
    Unusable {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

impl TlsIdentity {
    /// Reads a certificate, followed by its intermediate ones, and its private key from PEM files.
    ///
    /// # Errors
    /// When a file cannot be read, or the key is not that of the certificate.
    pub fn from_files(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Result<Self, TlsError> {
        let files = TlsFiles { certificate: certificate.into(), key: key.into() };
        let version = files.stamps();
        let config = files.read()?;
        let loaded = LoadedIdentity { config, version, checked: Instant::now() };
        let report = |warning: &str| tracing::warn!("{warning}");
        Ok(Self { files, loaded: Mutex::new(loaded), report: Box::new(report) })
    }

    /// Sets where warnings go instead of to `tracing`: that other users can read the key, and that changed files cannot be
    /// used.
    #[must_use]
    pub fn with_warnings(mut self, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.report = Box::new(report);
        self
    }

    /// Warns if other users can read the key.
    pub(crate) fn check_key_mode(&self) {
        let path = &self.files.key;
        if fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o007 != 0) {
            let path = path.display();
            (self.report)(&format!("other users can use the private key {path}: run `chmod o= {path}`"));
        }
    }

    /// Returns the configuration for a new connection.
    fn config(&self) -> Arc<ServerConfig> {
        let mut loaded = self.loaded.lock();
        if loaded.checked.elapsed() < CHECK_INTERVAL {
            return Arc::clone(&loaded.config);
        }
        loaded.checked = Instant::now();
        let version = self.files.stamps();
        if version != loaded.version {
            loaded.version = version;
            match self.files.read() {
                Ok(config) => {
                    loaded.config = config;
                    tracing::info!(path = %self.files.certificate.display(), "read the new certificate");
                    self.check_key_mode();
                }
                Err(error) => (self.report)(&format!("{error}; the former certificate remains in use")),
            }
        }
        Arc::clone(&loaded.config)
    }
}

impl TlsFiles {
    /// Returns the stamps of both files; `None` if there is no such file at the moment.
    fn stamps(&self) -> Option<[FileStamp; 2]> {
        Some([FileStamp::of(&self.certificate)?, FileStamp::of(&self.key)?])
    }

    fn read(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let (pem, path) = (read(&self.certificate)?, &self.certificate);
        let missing = |path: &Path, expected| TlsError::Missing { path: path.to_owned(), expected };
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&pem)
            .collect::<Result<_, _>>()
            .map_err(|_| missing(path, "certificates in PEM"))?;
        if chain.is_empty() {
            return Err(missing(path, "a certificate in PEM"));
        }
        let key = PrivateKeyDer::from_pem_slice(&read(&self.key)?)
            .map_err(|_| missing(&self.key, "a private key in PEM, without a passphrase"))?;
        let unusable = |error: rustls::Error| TlsError::Unusable {
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            reason: error.to_string(),
        };
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(unusable)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

impl FileStamp {
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self { modified: metadata.modified().ok(), length: metadata.len(), inode: metadata.ino() })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let unreadable = |reason: String| TlsError::Unreadable { path: path.to_owned(), reason };
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    match bytes.len() as u64 > MAX_FILE {
        true => Err(unreadable(format!("it has more than {MAX_FILE} bytes"))),
        false => Ok(bytes),
    }
}

/// Performs the handshakes of a listener.
pub(crate) struct TlsHandshakes {
    identity: Arc<TlsIdentity>,
    turns: Semaphore,
}

impl TlsHandshakes {
    /// Returns the handshakes with this identity, so many at a time.
    pub(crate) fn new(identity: Arc<TlsIdentity>, concurrency: usize) -> Self {
        identity.check_key_mode();
        Self { identity, turns: Semaphore::new(concurrency.clamp(1, Semaphore::MAX_PERMITS)) }
    }

    /// Performs the handshake of a connection; `None` if the connection is to be closed.
    pub(crate) async fn accept(&self, stream: TcpStream, time: Duration) -> Option<TlsStream<TcpStream>> {
        let deadline = Instant::now().checked_add(time);
        let handshake = self.handshake(stream);
        let outcome = match deadline {
            Some(deadline) => timeout_at(deadline, handshake).await,
            None => Ok(handshake.await),
        };
        match outcome {
            Ok(Ok(stream)) => Some(stream),
            Ok(Err(error)) => {
                tracing::debug!(%error, "TLS handshake failed");
                None
            }
            Err(_) => {
                tracing::debug!("TLS handshake timed out");
                None
            }
        }
    }

    async fn handshake(&self, mut stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        let mut first = [0];
        if stream.peek(&mut first).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let _turn = self.turns.acquire().await.expect("the semaphore is never closed");
        if first[0] != HANDSHAKE_RECORD {
            stream.write_all(PLAIN_HTTP).await?;
            stream.shutdown().await?;
            return Err(std::io::Error::other("the client does not speak TLS"));
        }
        TlsAcceptor::from(self.identity.config()).accept(stream).await
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, reason } => write!(f, "cannot read {}: {reason}", path.display()),
            Self::Missing { path, expected } => write!(f, "{} does not hold {expected}", path.display()),
            Self::Unusable { certificate, key, reason } => write!(
                f,
                "the certificate {} and the key {} cannot be used: {reason}",
                certificate.display(),
                key.display()
            ),
        }
    }
}

impl std::error::Error for TlsError {}

impl fmt::Debug for TlsIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsIdentity").field("certificate", &self.files.certificate).finish_non_exhaustive()
    }
}

impl fmt::Debug for TlsHandshakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsHandshakes").field("identity", &self.identity).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_to_plain_http_is_complete() {
        let text = std::str::from_utf8(PLAIN_HTTP).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("content-length: {}", body.len())), "{}", body.len());
    }
}
