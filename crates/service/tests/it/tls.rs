//! A service over TLS: both versions of HTTP, certificates that change, clients that never finish their handshake.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use switchboard::transport::http_client::HttpClientOptions;
use switchboard_session::{Client, ClientSession};
use switchboard_testkit::STEP_TIMEOUT;
use switchboard_transport::http::client::Http;
use switchboard_transport::http::server::{
    HttpListener, HttpServerOptions, ListenerLimits, TlsError, TlsIdentity,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use crate::sessions::outcome;
use crate::shop::Shop;

/// A certificate authority.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "an authority for tests");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Returns a certificate for 127.0.0.1 and its key, in PEM.
    fn issue(&self) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }
}

/// The files of a server.
struct Files(tempfile::TempDir);

impl Files {
    fn new(identity: &(String, String)) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.write(identity);
        files
    }

    fn certificate(&self) -> PathBuf {
        self.0.path().join("certificate.pem")
    }

    fn key(&self) -> PathBuf {
        self.0.path().join("key.pem")
    }

    fn write(&self, (certificate, key): &(String, String)) {
        std::fs::write(self.certificate(), certificate).unwrap();
        std::fs::write(self.key(), key).unwrap();
    }
}

/// A running service, with the warnings about its certificate.
struct SecureService {
    address: String,
    warnings: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl SecureService {
    async fn start(files: &Files, limits: ListenerLimits) -> Self {
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&warnings);
        let identity = TlsIdentity::from_files(files.certificate(), files.key())
            .unwrap()
            .with_warnings(move |warning| seen.lock().unwrap().push(warning.to_owned()));
        let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let listener = listener.with_limits(limits).with_tls(identity);
        let address = listener.address().unwrap().to_string();
        let service = Shop::builder().into_http_service(HttpServerOptions::default()).unwrap();
        Self { address, warnings, task: tokio::spawn(listener.serve(service)) }
    }

    /// Opens a session that trusts an authority only.
    async fn connect(&self, authority: &Authority) -> Option<ClientSession> {
        let options = HttpClientOptions::default().with_extra_roots(authority.0.pem());
        let server = Http::new(format!("https://{}/mcp", self.address)).options(options);
        Client::new().connect(server).await.ok()
    }

    async fn connect_soon(&self, authority: &Authority) -> ClientSession {
        let end = Instant::now() + STEP_TIMEOUT;
        loop {
            if let Some(session) = self.connect(authority).await {
                return session;
            }
            assert!(Instant::now() < end, "no session");
        }
    }
}

impl Drop for SecureService {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn echo(session: &ClientSession, text: &str) -> String {
    outcome(session, "echo", json!({ "text": text })).await.1
}

#[tokio::test]
async fn http_2_and_http_1_are_negotiated() {
    let authority = Authority::new();
    let files = Files::new(&authority.issue());
    let service = SecureService::start(&files, ListenerLimits::default()).await;
    let session = service.connect(&authority).await.unwrap();
    assert_eq!(echo(&session, "secure").await, "secure");
    assert!(service.connect(&Authority::new()).await.is_none(), "an unknown authority is not trusted");

    let mut roots = RootCertStore::empty();
    roots.add(authority.0.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    for (offered, chosen) in
        [(&["http/1.1"][..], Some("http/1.1")), (&["http/1.1", "h2"], Some("h2")), (&[], None)]
    {
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots.clone())
            .with_no_client_auth();
        config.alpn_protocols = offered.iter().map(|name| name.as_bytes().to_vec()).collect();
        let stream = TcpStream::connect(&service.address).await.unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), chosen.map(str::as_bytes));
        if chosen != Some("h2") {
            stream.write_all(b"GET /mcp HTTP/1.1\r\nhost: evil\r\nconnection: close\r\n\r\n").await.unwrap();
            let mut reply = String::new();
            stream.read_to_string(&mut reply).await.unwrap();
            assert!(reply.starts_with("HTTP/1.1 403 "), "{reply}");
        }
    }
}

#[tokio::test]
async fn plain_http_is_told_to_use_https() {
    let files = Files::new(&Authority::new().issue());
    let service = SecureService::start(&files, ListenerLimits::default()).await;
    let mut stream = TcpStream::connect(&service.address).await.unwrap();
    stream.write_all(b"GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut reply = String::new();
    // The rest of the request may be lost with a reset after the response.
    let _ = stream.read_to_string(&mut reply).await;
    assert!(reply.starts_with("HTTP/1.1 400 ") && reply.contains("https://"), "{reply}");
}

#[tokio::test]
async fn new_connections_get_the_new_certificate_and_open_ones_go_on() {
    let (old, new) = (Authority::new(), Authority::new());
    let files = Files::new(&old.issue());
    let service = SecureService::start(&files, ListenerLimits::default()).await;
    let session = service.connect(&old).await.unwrap();
    files.write(&new.issue());
    let renewed = service.connect_soon(&new).await;
    assert_eq!(echo(&renewed, "renewed").await, "renewed");
    assert_eq!(echo(&session, "still open").await, "still open");

    // A certificate without its key, as between the writing of two files.
    let (certificate, key) = new.issue();
    std::fs::write(files.certificate(), &certificate).unwrap();
    let end = Instant::now() + STEP_TIMEOUT;
    while !service
        .warnings
        .lock()
        .unwrap()
        .iter()
        .any(|warning| warning.contains("the former certificate remains"))
    {
        assert!(Instant::now() < end, "{:?}", service.warnings.lock().unwrap());
        assert!(service.connect(&new).await.is_some(), "the former certificate is used");
    }
    let warnings = service.warnings.lock().unwrap().len();
    std::fs::write(files.key(), &key).unwrap();
    drop(service.connect_soon(&new).await);
    assert_eq!(
        service.warnings.lock().unwrap().iter().filter(|one| one.contains("former")).count(),
        1,
        "{warnings}"
    );
}

#[tokio::test]
async fn clients_that_do_not_finish_their_handshake_block_nobody() {
    let authority = Authority::new();
    let files = Files::new(&authority.issue());
    let mut limits = ListenerLimits::default();
    limits.handshakes = 1;
    let service = SecureService::start(&files, limits.clone()).await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(TcpStream::connect(&service.address).await.unwrap());
    }
    let session = service.connect(&authority).await.unwrap();
    assert_eq!(echo(&session, "x").await, "x");

    // One that begins and stops is closed.
    limits.header_time = Duration::from_millis(100);
    let service = SecureService::start(&files, limits).await;
    let mut slow = TcpStream::connect(&service.address).await.unwrap();
    slow.write_all(&[0x16, 3, 1]).await.unwrap();
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest).await;
    let session = service.connect_soon(&authority).await;
    assert_eq!(echo(&session, "x").await, "x");
}

#[tokio::test]
async fn files_that_cannot_be_used_are_refused_with_their_names() {
    let authority = Authority::new();
    let files = Files::new(&authority.issue());
    let load = || TlsIdentity::from_files(files.certificate(), files.key()).err();
    assert_eq!(load(), None);
    std::fs::write(files.key(), authority.issue().1).unwrap();
    assert!(matches!(load(), Some(TlsError::Unusable { .. })), "{:?}", load());
    std::fs::write(files.key(), "not a key").unwrap();
    assert!(matches!(load(), Some(TlsError::Missing { path, .. }) if path == files.key()));
    std::fs::write(files.certificate(), "not a certificate").unwrap();
    assert!(matches!(load(), Some(TlsError::Missing { path, .. }) if path == files.certificate()));
    std::fs::write(files.certificate(), vec![b'x'; 1024 * 1024 + 1]).unwrap();
    assert!(matches!(load(), Some(TlsError::Unreadable { reason, .. }) if reason.contains("1048576")));
    std::fs::remove_file(files.certificate()).unwrap();
    assert!(matches!(load(), Some(TlsError::Unreadable { path, .. }) if path == files.certificate()));
}

#[tokio::test]
async fn a_key_that_others_can_read_is_warned_about() {
    use std::os::unix::fs::PermissionsExt;
    let files = Files::new(&Authority::new().issue());
    for (mode, is_warned) in [(0o600, false), (0o640, false), (0o644, true)] {
        std::fs::set_permissions(files.key(), std::fs::Permissions::from_mode(mode)).unwrap();
        let authority = Authority::new();
        let service = SecureService::start(&files, ListenerLimits::default()).await;
        // Whoever is connected, the listener is running.
        assert!(service.connect(&authority).await.is_none());
        let warnings = service.warnings.lock().unwrap();
        assert_eq!(warnings.iter().any(|warning| warning.contains("chmod o=")), is_warned, "{mode:o}");
    }
}
