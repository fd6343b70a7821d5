//! `[listen]`: where a gateway is reached.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

use super::values;

/// Where a gateway is reached.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ListenConfig {
    /// The address of HTTP, like `127.0.0.1:8080`; port 0 chooses a free port.
    #[serde(deserialize_with = "values::address")]
    pub http: Option<SocketAddr>,
    /// The path of a Unix socket that only this user may connect to.
    pub unix: Option<PathBuf>,
    /// Whether it serves on stdin and stdout.
    pub stdio: bool,
    /// The address at which metrics are served to the operator, like `127.0.0.1:9464`.
    #[serde(deserialize_with = "values::address")]
    pub metrics: Option<SocketAddr>,
    /// The URL that clients use, also behind a proxy. It is the audience of their tokens.
    pub public_url: Option<String>,
    /// Host names, besides those of this machine's loopback, that requests may name.
    pub allowed_hosts: Vec<String>,
    /// Clients by the name in their `clientInfo` that get HTTP status 200 with errors of their requests.
    pub ok_status_clients: Vec<String>,
    /// Whether the address may be reachable from other machines.
    pub allow_remote: bool,
    /// Certificate and key; without them it serves plain HTTP.
    pub tls: Option<CertificateFiles>,
}

/// The files of a certificate, in PEM; read again when they change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CertificateFiles {
    /// The certificate, followed by its intermediate ones.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
}

impl CertificateFiles {
    /// Returns the files of a certificate and of its key.
    pub fn new(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self { certificate: certificate.into(), key: key.into() }
    }
}
