//! The host of a client's metadata document: https on this machine, with a certificate authority of its own.

use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tokio::process::Command;

use crate::interop::listening::Listening;
use crate::interop::peer::place;

/// A running host.
pub(crate) struct DocumentHost {
    server: Listening,
    folder: tempfile::TempDir,
}

impl DocumentHost {
    /// Starts the host with a new certificate for `localhost`.
    pub(crate) async fn start() -> Self {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.distinguished_name.push(DnType::CommonName, "an authority for tests");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let host = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = host.signed_by(&key, &authority).unwrap();

        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, pem: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, pem).unwrap();
            path
        };
        write("authority.pem", authority.pem());
        let mut command = Command::new("node");
        command.arg(place("SWITCHBOARD_INTEROP_NODE").join("document-server.mjs"));
        command.arg(write("host.pem", certificate.pem())).arg(write("key.pem", key.serialize_pem()));
        Self { server: Listening::start(command, "").await, folder }
    }

    /// Returns the file with the certificate of the authority.
    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    /// Returns the URL of the document.
    pub(crate) fn url(&self) -> String {
        let port = self.server.url().rsplit(':').next().unwrap();
        format!("https://localhost:{port}/client.json")
    }

    pub(crate) async fn stop(self) {
        self.server.stop().await;
    }
}
