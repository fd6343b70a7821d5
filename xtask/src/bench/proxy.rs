//! Command lines of the proxies: the gateway, and those of others, each in front of servers of the floor.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use super::build;
use super::process::Line;
use super::progress::Progress;
use super::setup::{Era, Form, Make, Road, Setup, Upstream};
use crate::command::{self, TaskError};
use crate::interop;
use crate::project::Project;

/// The measured version of the crate `mcp-proxy`; it brings its own lock file.
const MCP_PROXY: &str = "mcp-proxy@=0.6.0";
/// The tools that it adds to those of its servers.
const MCP_PROXY_TOOLS: u32 = 5;

/// The proxies of others, installed.
#[derive(Debug)]
pub(super) struct Rivals {
    mcp_proxy: PathBuf,
    /// The folder with `node_modules`.
    node: PathBuf,
    /// The interpreter, and the program.
    fastmcp: (PathBuf, PathBuf),
    /// Where configuration files are written.
    folder: PathBuf,
}

/// How a proxy is started and spoken to.
#[derive(Debug)]
pub(super) struct Proxy {
    pub(super) line: Line,
    /// Where it will listen, if it does not say so itself.
    pub(super) url: Option<String>,
    /// Between the names of a server and a tool; `None` if names are unchanged.
    pub(super) separator: Option<&'static str>,
}

impl Rivals {
    /// Installs the pinned versions.
    pub(super) fn install(project: &Project, progress: &Progress) -> Result<Self, TaskError> {
        let directory = build::folder(project);
        let from = project.path("benches/rivals");
        progress.step(&format!("install {MCP_PROXY}"));
        let root = directory.join("mcp-proxy");
        let mut cargo = project.cargo();
        cargo.args(["install", "--locked", "--quiet", MCP_PROXY, "--root"]).arg(&root);
        // Away from the project, whose settings are not those of its users.
        command::output(
            cargo.arg("--target-dir").arg(directory.join("mcp-proxy-build")).current_dir(&directory),
        )?;
        progress.step("install mcp-proxy of npm");
        let node = interop::ci(&from.join("node"), directory.join("rivals-node"))?;
        progress.step("install FastMCP");
        let python = from.join("python");
        let environment = interop::venv(&python.join("requirements.txt"), directory.join("rivals-python"))?;
        Ok(Self {
            mcp_proxy: root.join("bin/mcp-proxy"),
            node,
            fastmcp: (environment.join("bin/python"), python.join("fastmcp_proxy.py")),
            folder: directory,
        })
    }

    /// Returns how a proxy is started; `url` is the address of its server over HTTP.
    pub(super) fn proxy(&self, setup: &Setup, server: &Line, url: Option<&str>) -> Result<Proxy, TaskError> {
        let port = free_port()?;
        match setup.make {
            Make::McpProxy => self.mcp_proxy(setup, server, url, port),
            Make::NodeProxy => Ok(self.node_proxy(setup, server, port)),
            Make::FastMcp => Ok(self.fastmcp(setup, server, url, port)),
            other => Err(TaskError::new(format!("{other} is no proxy"))),
        }
    }

    fn mcp_proxy(
        &self,
        setup: &Setup,
        server: &Line,
        url: Option<&str>,
        port: u16,
    ) -> Result<Proxy, TaskError> {
        let servers = setup.upstream.map_or(1, |upstream| upstream.servers);
        let mut text = format!(
            "[proxy]\nname = \"bench\"\nseparator = \"__\"\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {port}\n\
             [observability]\nlog_level = \"error\"\n"
        );
        for number in 0..servers {
            let words: Vec<String> =
                server.iter().map(|word| format!("{:?}", word.to_string_lossy())).collect();
            let transport = match url {
                Some(url) => format!("transport = \"http\"\nurl = \"{url}\""),
                None => {
                    format!(
                        "transport = \"stdio\"\ncommand = {}\nargs = [{}]",
                        words[0],
                        words[1..].join(", ")
                    )
                }
            };
            text.push_str(&format!("[[backends]]\nname = \"s{number:03}\"\n{transport}\n"));
        }
        let file = self.folder.join("mcp-proxy.toml");
        fs::write(&file, text)
            .map_err(|error| TaskError::new(format!("cannot write {}: {error}", file.display())))?;
        Ok(Proxy {
            line: vec![(&self.mcp_proxy).into(), "--config".into(), file.into()],
            url: Some(format!("http://127.0.0.1:{port}/")),
            separator: Some("__"),
        })
    }

    fn node_proxy(&self, setup: &Setup, server: &Line, port: u16) -> Proxy {
        let program = self.node.join("node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs");
        let mut line: Line = vec!["node".into(), program.into()];
        line.extend(["--host", "127.0.0.1", "--server", "stream", "--port"].map(Into::into));
        line.push(port.to_string().into());
        if setup.era == Era::Modern {
            line.extend(["--upstreamProtocol", "modern"].map(Into::into));
        }
        line.push("--".into());
        line.extend(server.iter().cloned());
        Proxy { line, url: Some(format!("http://127.0.0.1:{port}/mcp")), separator: None }
    }

    fn fastmcp(&self, setup: &Setup, server: &Line, url: Option<&str>, port: u16) -> Proxy {
        let (interpreter, program) = &self.fastmcp;
        // It leaves nothing behind in the source tree.
        let mut line: Line = vec![interpreter.into(), "-B".into(), program.into()];
        match setup.road {
            Road::Stdio => line.push("--stdio".into()),
            Road::Http => line.extend(["--http".into(), port.to_string().into()]),
        }
        match url {
            Some(url) => line.extend(["--upstream".into(), url.into()]),
            None => {
                line.push("--".into());
                line.extend(server.iter().cloned());
            }
        }
        let url = (setup.road == Road::Http).then(|| format!("http://127.0.0.1:{port}/mcp"));
        Proxy { line, url, separator: None }
    }
}

/// Returns how the gateway is started. It starts its servers over stdio itself, and says where it listens.
pub(super) fn gateway(release: &Path, setup: &Setup, upstream: Upstream, url: Option<&str>) -> Proxy {
    let mut line: Line = vec![release.join("gateway-server").into()];
    line.push(if setup.road == Road::Stdio { "--stdio" } else { "--http" }.into());
    let mut option = |name: &str, value: String| line.extend([name.into(), value.into()]);
    option("--threads", setup.threads.to_string());
    option("--era", setup.era.to_string());
    option("--tools", setup.tools.to_string());
    option("--servers", upstream.servers.to_string());
    if setup.form == Form::Policy {
        option("--form", setup.form.to_string());
    }
    if let Some(url) = url {
        option("--upstream", url.to_owned());
    }
    Proxy { line, url: None, separator: Some("__") }
}

/// Returns the number of tools that a client of this proxy lists.
pub(super) fn listed_tools(setup: &Setup) -> u32 {
    let own = if setup.make == Make::McpProxy { MCP_PROXY_TOOLS } else { 0 };
    setup.tools + own
}

/// Returns a port that nobody listens on at the moment.
fn free_port() -> Result<u16, TaskError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    listener.map(|address| address.port()).map_err(|error| TaskError::new(format!("no free port: {error}")))
}
