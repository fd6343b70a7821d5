//! Secure connections that must not be made, and one that must (F081).

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;
use switchboard_http::{HttpClient, HttpClientOptions, HttpError, TimeoutPhase, TlsReason};
use switchboard_testkit::{HttpScript, ok_response, read_request};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use crate::requests::{SHORT, client, post, send, text};

/// A certificate authority of our own.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        Self::named("an authority for tests")
    }

    fn named(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A server's part with a certificate for this name, changed by this.
    pub(crate) fn acceptor(
        &self,
        name: &str,
        alpn: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> TlsAcceptor {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }

    pub(crate) fn client(&self) -> HttpClient {
        HttpClient::new(HttpClientOptions::default().with_extra_roots(self.pem())).unwrap()
    }
}

/// Answers every request of secure connections.
pub(crate) async fn secure(acceptor: TlsAcceptor) -> HttpScript {
    HttpScript::per_connection(move |stream, log| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            while let Some(request) = read_request(&mut stream).await {
                log.add(&request);
                stream.write_all(&ok_response("secure")).await.unwrap();
            }
        }
    })
    .await
}

async fn refused(client: &HttpClient, server: &HttpScript) -> HttpError {
    let url = format!("https://{}/", server.address);
    let error = send(client, post(&url, "secret")).await.unwrap_err();
    assert!(error.is_unsent());
    assert!(server.log.requests().is_empty());
    error
}

#[tokio::test]
async fn a_root_of_ours_is_trusted_when_it_is_given() {
    let authority = Authority::new();
    let server = secure(authority.acceptor("127.0.0.1", &["http/1.1"], |_| {})).await;
    let client = authority.client();
    for _ in 0..3 {
        let url = format!("https://{}/", server.address);
        let response = send(&client, post(&url, "x")).await.unwrap();
        assert_eq!(response.version, http::Version::HTTP_11);
        assert_eq!(text(response).await, "secure");
    }
    assert_eq!(server.log.connections(), 1);
}

#[tokio::test]
async fn wrong_certificates_are_named() {
    let authority = Authority::new();
    let other = Authority::named("another");
    let same_name = Authority::new();
    let cases = [
        (
            authority.acceptor("127.0.0.1", &[], |p| p.not_after = date_time_ymd(2020, 1, 1)),
            TlsReason::Expired,
        ),
        (
            authority.acceptor("127.0.0.1", &[], |p| p.not_before = date_time_ymd(4000, 1, 1)),
            TlsReason::NotYetValid,
        ),
        (authority.acceptor("example.com", &[], |_| {}), TlsReason::WrongHost),
        (other.acceptor("127.0.0.1", &[], |_| {}), TlsReason::UnknownIssuer),
        (same_name.acceptor("127.0.0.1", &[], |_| {}), TlsReason::BadCertificate),
    ];
    for (acceptor, expected) in cases {
        let server = secure(acceptor).await;
        let error = refused(&authority.client(), &server).await;
        let HttpError::Tls { host, reason, source } = error else { panic!("{error:?}") };
        assert_eq!((host.as_str(), reason), ("127.0.0.1", expected));
        assert!(source.is_some());
        assert_eq!(server.log.connections(), 1, "never tried again, least of all in the clear");
    }
}

#[tokio::test]
async fn without_the_root_nothing_of_ours_is_trusted() {
    let authority = Authority::new();
    let server = secure(authority.acceptor("127.0.0.1", &[], |_| {})).await;
    let error = refused(&client(), &server).await;
    assert!(matches!(error, HttpError::Tls { reason: TlsReason::UnknownIssuer, .. }), "{error:?}");
}

#[tokio::test]
async fn old_versions_and_other_protocols_are_named() {
    let cases: [(&[u8], TlsReason); 3] = [
        // A fatal alert: protocol_version.
        (b"\x15\x03\x01\x00\x02\x02\x46", TlsReason::Version),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", TlsReason::NotTls),
        (b"", TlsReason::Ended),
    ];
    for (answer, expected) in cases {
        let server = HttpScript::per_connection(move |mut stream, _| async move {
            let mut hello = [0; 64];
            let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut hello).await;
            stream.write_all(answer).await.unwrap();
            stream.shutdown().await.unwrap();
            // Stay until the client leaves, so that its unread hello does not turn the end into a reset.
            while matches!(tokio::io::AsyncReadExt::read(&mut stream, &mut hello).await, Ok(n) if n > 0) {}
        })
        .await;
        let error = refused(&client(), &server).await;
        assert!(
            matches!(error, HttpError::Tls { reason, .. } if reason == expected),
            "{expected:?}: {error:?}"
        );
    }
}

#[tokio::test]
async fn a_silent_handshake_ends() {
    let server = HttpScript::per_connection(|stream, _| async move {
        tokio::time::sleep(Duration::from_secs(600)).await;
        drop(stream);
    })
    .await;
    let client = HttpClient::new(HttpClientOptions::default().with_tls_timeout(SHORT)).unwrap();
    let error = refused(&client, &server).await;
    assert!(matches!(error, HttpError::Timeout { phase: TimeoutPhase::Tls, .. }), "{error:?}");
}

#[test]
fn roots_that_cannot_be_read_are_an_error_at_once() {
    for pem in ["", "not pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let error = HttpClient::new(HttpClientOptions::default().with_extra_roots(pem)).unwrap_err();
        assert!(matches!(error, HttpError::Roots { .. }), "{error:?}");
    }
}
