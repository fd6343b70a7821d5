//! Secure connections: rustls with *ring*, the system's roots and the caller's.
//!
//! Invariants: the crypto provider is explicit, so that another one in the same program does not interfere; TLS 1.2 is the
//! oldest; no certificate is ever accepted unchecked; the system's roots are read once, at the first secure connection,
//! off the runtime's threads.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{AlertDescription, CertificateError, RootCertStore};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::error::{HttpError, TimeoutPhase, TlsReason};
use crate::source::find;

/// Performs TLS handshakes.
pub(crate) struct Tls {
    extra: Vec<CertificateDer<'static>>,
    config: OnceCell<Arc<ClientConfig>>,
    timeout_after: Duration,
}

impl Tls {
    /// Trusts these certificates, in PEM, besides the system's.
    pub(crate) fn new(pems: &[Vec<u8>], timeout_after: Duration) -> Result<Self, HttpError> {
        let mut extra = Vec::new();
        for pem in pems {
            let before = extra.len();
            for certificate in CertificateDer::pem_slice_iter(pem) {
                extra.push(certificate.map_err(|error| HttpError::Roots { reason: error.to_string() })?);
            }
            if extra.len() == before {
                return Err(HttpError::Roots { reason: "there is no certificate in the PEM text".into() });
            }
        }
        let mut store = RootCertStore::empty();
        for certificate in &extra {
            store.add(certificate.clone()).map_err(|error| HttpError::Roots { reason: error.to_string() })?;
        }
        Ok(Self { extra, config: OnceCell::new(), timeout_after })
    }

    /// Performs the handshake with a host.
    pub(crate) async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, HttpError> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(bare.to_owned())
            .map_err(|_| HttpError::Address(crate::AddressError::Host { host: host.to_owned() }))?;
        let connector = TlsConnector::from(self.config().await?);
        match timeout(self.timeout_after, connector.connect(name, stream)).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => {
                let reason = reason(&error);
                Err(HttpError::Tls { host: host.to_owned(), reason, source: Some(Arc::new(error)) })
            }
            Err(_) => Err(HttpError::Timeout { phase: TimeoutPhase::Tls, after: self.timeout_after }),
        }
    }

    async fn config(&self) -> Result<Arc<ClientConfig>, HttpError> {
        let config = self.config.get_or_try_init(|| async {
            let extra = self.extra.clone();
            let config = tokio::task::spawn_blocking(move || configure(extra)).await;
            config.unwrap_or_else(|_| Err(HttpError::Roots { reason: "the runtime is stopping".into() }))
        });
        config.await.cloned()
    }
}

fn configure(extra: Vec<CertificateDer<'static>>) -> Result<Arc<ClientConfig>, HttpError> {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    for error in &native.errors {
        tracing::debug!(%error, "a root certificate of the system cannot be read");
    }
    roots.add_parsable_certificates(native.certs);
    if roots.is_empty() {
        tracing::warn!("the system has no root certificates; only those that were given are trusted");
    }
    roots.add_parsable_certificates(extra);
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpError::Roots { reason: error.to_string() })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn reason(error: &io::Error) -> TlsReason {
    use rustls::Error as E;
    let Some(error) = error.get_ref().and_then(|inner| find::<E>(inner as &(dyn Error + 'static))) else {
        // The handshake ended without a TLS error: a reset, or the end of the stream.
        return TlsReason::Ended;
    };
    match error {
        E::InvalidCertificate(error) => match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsReason::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                TlsReason::NotYetValid
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                TlsReason::WrongHost
            }
            CertificateError::UnknownIssuer => TlsReason::UnknownIssuer,
            CertificateError::Revoked => TlsReason::Revoked,
            _ => TlsReason::BadCertificate,
        },
        E::AlertReceived(AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure)
        | E::PeerIncompatible(_) => TlsReason::Version,
        E::AlertReceived(_) => TlsReason::Ended,
        E::InvalidMessage(_) | E::InappropriateMessage { .. } => TlsReason::NotTls,
        _ => TlsReason::Other,
    }
}
