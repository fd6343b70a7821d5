//! The sockets of a gateway: HTTP, with or without TLS, and a Unix socket.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use switchboard::gateway::config::{CertificateFiles, ListenConfig};
use switchboard::gateway::{Gateway, GatewayEndpoint};
use switchboard::server::{HttpListener, HttpServerOptions, ListenerLimits, TlsIdentity};
use switchboard::transport::http::server::ShutdownHandle;
use switchboard::transport::http_client::{Address, PlainHttp};

use crate::error::CommandError;
use crate::gateway::callers::{ReplaceableVerifier, build_verifier};
use crate::gateway::settings::GatewaySettings;
use crate::output::Screen;
use crate::sanitize::one_line;

/// Time for responses to be written after the last call has ended.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);
/// Loopback host names.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The sockets of a gateway, bound and not served yet.
pub(crate) struct Listeners {
    http: Option<HttpSocket>,
    unix: Option<UnixSocket>,
    /// The verifier of callers, and the public URL that it is bound to.
    pub(crate) verifier: Option<(Arc<ReplaceableVerifier>, String)>,
}

struct UnixSocket {
    listener: HttpListener,
    options: HttpServerOptions,
    path: PathBuf,
}

struct HttpSocket {
    listener: HttpListener,
    options: HttpServerOptions,
    /// How clients reach it, like `http://127.0.0.1:8080`.
    origin: String,
}

impl Listeners {
    /// Binds the sockets.
    ///
    /// # Errors
    /// Returns an error if an address or a path cannot be used, or a certificate or the file of API keys cannot be read.
    pub(crate) async fn bind(settings: &GatewaySettings) -> Result<Self, CommandError> {
        let listen = &settings.config.listen;
        let mut listeners = Self { http: None, unix: None, verifier: None };
        if let Some(address) = listen.http {
            listeners.bind_http(settings, address).await?;
        }
        if let Some(path) = &listen.unix {
            let listener = bind_unix(path)?.with_limits(limits());
            listeners.unix = Some(UnixSocket { listener, options: http_options(listen), path: path.clone() });
        }
        Ok(listeners)
    }

    async fn bind_http(
        &mut self,
        settings: &GatewaySettings,
        address: SocketAddr,
    ) -> Result<(), CommandError> {
        let listen = &settings.config.listen;
        let identity = listen.tls.as_ref().map(tls_identity).transpose()?;
        let listener = HttpListener::bind(address).await.map_err(|error| {
            CommandError::other("io", format!("cannot listen on {address}: {error}"))
                .hint("port 0 chooses a free port")
        })?;
        let address = listener.address()?;
        let scheme = if identity.is_some() { "https" } else { "http" };
        let origin = origin(listen, scheme, address);
        let listener = match identity {
            Some(identity) => listener.with_tls(identity),
            None => listener,
        };
        let mut options = http_options(listen);
        options.allowed_hosts = allowed_hosts(listen)?;
        let public_url = listen.public_url.clone().unwrap_or_else(|| format!("{origin}/mcp"));
        if let Some(verifier) = build_verifier(&settings.config.callers, &public_url)? {
            let verifier = Arc::new(ReplaceableVerifier::new(verifier));
            options = options.with_verifier(Arc::clone(&verifier) as _);
            self.verifier = Some((verifier, public_url));
        }
        self.http = Some(HttpSocket { listener: listener.with_limits(limits()), options, origin });
        Ok(())
    }

    /// Returns whether there is no socket: the gateway serves on stdin and stdout.
    pub(crate) fn is_empty(&self) -> bool {
        self.http.is_none() && self.unix.is_none()
    }

    /// Tells where the gateway listens.
    pub(crate) fn announce(&self, settings: &GatewaySettings, screen: &Screen) {
        let listen = &settings.config.listen;
        if let Some(socket) = &self.http {
            let is_remote = listen.http.is_some_and(|address| !address.ip().is_loopback());
            if is_remote && self.verifier.is_none() {
                screen.warn("there is no authentication: everyone who reaches this port can send requests");
            }
            screen.say(&format!("listening at {}/mcp", socket.origin));
        }
        if let Some(UnixSocket { path, .. }) = &self.unix {
            screen.say(&format!("listening at unix:{}", one_line(&path.display().to_string())));
        }
    }

    /// Returns the addresses that clients connect to.
    pub(crate) fn endpoints(&self) -> Vec<String> {
        let http = self.http.iter().map(|socket| format!("{}/mcp", socket.origin));
        let unix_text =
            |socket: &UnixSocket| format!("unix:{}", one_line(&socket.path.display().to_string()));
        let unix = self.unix.iter().map(unix_text);
        let all: Vec<String> = http.chain(unix).collect();
        if all.is_empty() { vec!["stdin and stdout".to_owned()] } else { all }
    }

    /// Returns handles that stop the sockets.
    pub(crate) fn shutdown_handles(&self) -> Vec<ShutdownHandle> {
        let http = self.http.iter().map(|socket| socket.listener.shutdown_handle());
        http.chain(self.unix.iter().map(|socket| socket.listener.shutdown_handle())).collect()
    }

    /// Serves until all sockets are stopped.
    pub(crate) async fn serve(self, gateway: &Gateway) {
        let http = async {
            if let Some(HttpSocket { listener, options, .. }) = self.http {
                listener.serve(GatewayEndpoint::new(gateway, options)).await;
            }
        };
        let unix = async {
            if let Some(UnixSocket { listener, options, .. }) = self.unix {
                // Whoever reaches the socket is its owner.
                listener.serve(GatewayEndpoint::new(gateway, options)).await;
            }
        };
        tokio::join!(http, unix);
    }
}

/// Returns the options that all sockets have in common.
fn http_options(listen: &ListenConfig) -> HttpServerOptions {
    HttpServerOptions::default().with_ok_status_clients(listen.ok_status_clients.clone())
}

fn limits() -> ListenerLimits {
    let mut limits = ListenerLimits::default();
    limits.drain = FLUSH_TIMEOUT;
    limits
}

fn bind_unix(path: &Path) -> Result<HttpListener, CommandError> {
    HttpListener::bind_unix(path).map_err(|error| {
        let text = error.to_string();
        match text.split_once("; ") {
            Some((what, hint)) => CommandError::other("io", one_line(what)).hint(one_line(hint)),
            None => CommandError::other("io", one_line(&text)),
        }
    })
}

fn tls_identity(files: &CertificateFiles) -> Result<TlsIdentity, CommandError> {
    let identity = TlsIdentity::from_files(&files.certificate, &files.key).map_err(|error| {
        CommandError::usage(one_line(&error.to_string()))
            .hint("write the certificate chain and its private key in PEM, in two files")
    })?;
    Ok(identity.with_warnings(|warning| Screen::new().warn(&one_line(warning))))
}

/// Returns the hosts that requests may name: loopback names, the allowed ones, and that of the public URL.
fn allowed_hosts(listen: &ListenConfig) -> Result<Vec<String>, CommandError> {
    let public = listen.public_url.as_ref().map(|url| {
        Address::parse(url, PlainHttp::LoopbackOnly)
            .map_err(|error| CommandError::usage(format!("`listen.public_url`: {error}")))
    });
    let public = public.transpose()?.map(|address| address.host().to_owned());
    if listen.allowed_hosts.is_empty() && public.is_none() {
        return Ok(Vec::new());
    }
    Ok(LOOPBACK.map(str::to_owned).into_iter().chain(listen.allowed_hosts.clone()).chain(public).collect())
}

fn origin(listen: &ListenConfig, scheme: &str, address: SocketAddr) -> String {
    // An unspecified address cannot be connected to, so show the allowed host.
    match listen.allowed_hosts.first() {
        Some(host) if address.ip().is_unspecified() => format!("{scheme}://{host}:{}", address.port()),
        _ => format!("{scheme}://{address}"),
    }
}
