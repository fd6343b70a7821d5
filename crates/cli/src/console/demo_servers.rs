//! The demo servers that a first run offers: a program, a server on a local port, and one in this process.

use std::net::Ipv4Addr;

use switchboard::host::ServerSpec;
use switchboard::server::{HttpListener, HttpServerOptions, HttpService};
use switchboard::{Http, InProcess, Stdio};
use switchboard_console::contract::DemoServer;

use crate::demo;
use crate::error::CommandError;

/// A demo server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DemoKind {
    Program,
    Http,
    InProcess,
}

impl DemoKind {
    const ALL: [Self; 3] = [Self::Program, Self::Http, Self::InProcess];

    /// Returns the demo server of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Program => "demo",
            Self::Http => "demo-http",
            Self::InProcess => "demo-inside",
        }
    }

    fn description(self) -> (&'static str, &'static str) {
        match self {
            Self::Program => {
                ("A program", "Starts `switchboard demo-server` and speaks to it over stdin and stdout.")
            }
            Self::Http => ("A server over HTTP", "Serves the demo on a local port, and connects to it."),
            Self::InProcess => {
                ("A server in this process", "Calls the demo server without a process or a socket.")
            }
        }
    }

    /// Returns the spec of the server, and the work that serves it, if it is in this process.
    ///
    /// # Errors
    /// Returns an error if no local port can be used, or this program has no path.
    pub(super) async fn start(
        self,
    ) -> Result<(ServerSpec, Option<impl Future<Output = ()> + Send + 'static>), CommandError> {
        Ok(match self {
            Self::Program => (Stdio::new(std::env::current_exe()?).arg("demo-server").into(), None),
            Self::InProcess => (InProcess::new(&demo::build()).into(), None),
            Self::Http => {
                let listener = HttpListener::bind((Ipv4Addr::LOCALHOST, 0).into()).await?;
                let url = format!("http://{}/mcp", listener.address()?);
                let service = HttpService::new(&demo::build(), HttpServerOptions::default());
                (Http::new(url).into(), Some(listener.serve(service)))
            }
        })
    }
}

/// Returns the demo servers for the page.
pub(super) fn demo_servers() -> Vec<DemoServer> {
    let described = |kind: DemoKind| {
        let (title, description) = kind.description();
        DemoServer {
            name: kind.name().to_owned(),
            title: title.to_owned(),
            description: description.to_owned(),
        }
    };
    DemoKind::ALL.into_iter().map(described).collect()
}
