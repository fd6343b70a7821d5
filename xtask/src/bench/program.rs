//! Command lines of the programs of `benches/`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::process::{self, Line, Server, TimeLimit};
use super::proxy::{self, Proxy, Rivals};
use super::sample::Sample;
use super::setup::{Form, Make, Road, Setup, Side, Upstream, Work};
use crate::command::TaskError;

/// Paths of the programs.
#[derive(Debug)]
pub(super) struct Programs {
    /// Directory of the Rust programs.
    pub(super) release: PathBuf,
    /// The folder with `ts-client.mjs` and its packages.
    pub(super) node: Option<PathBuf>,
    /// The interpreter, and the folder with `py_client.py`.
    pub(super) python: Option<(PathBuf, PathBuf)>,
    /// The proxies of others.
    pub(super) rivals: Option<Rivals>,
}

/// Number of calls of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Calls {
    /// Warm-up calls.
    pub(super) warm: u32,
    pub(super) measured: u32,
}

impl Programs {
    /// Runs a setup and returns its report.
    pub(super) fn sample(&self, setup: &Setup, calls: Calls) -> Result<Sample, TaskError> {
        let printed = self.run(setup, calls, None)?;
        let odd = || TaskError::new(format!("{setup}: this is no report: {}", printed.trim()));
        Sample::parse(&printed).ok_or_else(odd)
    }

    /// Runs a setup with the measured side under callgrind, which writes to `out`.
    pub(super) fn profile(&self, setup: &Setup, calls: Calls, out: &Path) -> Result<(), TaskError> {
        self.run(setup, calls, Some(out)).map(drop)
    }

    fn run(&self, setup: &Setup, calls: Calls, callgrind: Option<&Path>) -> Result<String, TaskError> {
        let watched = |side: Side, line: Line| match callgrind {
            Some(out) if side == setup.side => under_callgrind(out, line),
            _ => line,
        };
        // Callgrind makes everything some fifty times slower.
        let within = if callgrind.is_some() { TimeLimit::Slow } else { TimeLimit::Usual };
        let named = |failure: TaskError| TaskError::new(format!("{setup}: {failure}"));
        if let (Some(upstream), Side::Server) = (setup.upstream, setup.side)
            && setup.make != Make::Floor
        {
            return self.run_proxy(setup, upstream, calls, callgrind).map_err(named);
        }
        if setup.side == Side::Inside {
            return process::finish(&watched(Side::Inside, self.inside(setup, calls)?), within)
                .map_err(named);
        }
        let server = watched(Side::Server, self.server(setup)?);
        let mut client = watched(Side::Client, self.client(setup, calls)?);
        if setup.road == Road::Stdio {
            client.push("--".into());
            client.extend(server);
            return process::finish(&placed(setup, client), within).map_err(named);
        }
        let server = Server::start(&placed(setup, server)).map_err(named)?;
        client.extend(["--url".into(), server.url().into()]);
        let printed = process::finish(&placed(setup, client), within).map_err(named)?;
        server.stop().map_err(named)?;
        Ok(printed)
    }

    /// Runs the client against a proxy in front of servers of the floor, and watches the process of the proxy.
    fn run_proxy(
        &self,
        setup: &Setup,
        upstream: Upstream,
        calls: Calls,
        callgrind: Option<&Path>,
    ) -> Result<String, TaskError> {
        let within = if callgrind.is_some() { TimeLimit::Slow } else { TimeLimit::Usual };
        let direct = Setup { road: upstream.road, ..*setup }.floor();
        let behind = match upstream.road {
            Road::Stdio => None,
            Road::Http => Some(Server::start(&placed(setup, self.server(&direct)?))?),
        };
        let Proxy { line, url, separator } = self.proxy(setup, upstream, behind.as_ref().map(Server::url))?;
        let line = match callgrind {
            Some(out) => under_callgrind(out, line),
            None => line,
        };
        let mut client = self.client(&setup.tools(proxy::listed_tools(setup)), calls)?;
        if let Some(separator) = separator {
            option(&mut client, "--servers", upstream.servers);
            option(&mut client, "--separator", separator);
        }
        if setup.road == Road::Stdio {
            option(&mut client, "--watch", "child");
            client.push("--".into());
            client.extend(line);
            return process::finish(&placed(setup, client), within);
        }
        let line = placed(setup, line);
        let front = match url {
            Some(url) => Server::start_at(&line, &url)?,
            None => Server::start(&line)?,
        };
        // `taskset` becomes the proxy: its process is the one that was started.
        option(&mut client, "--watch", front.id());
        option(&mut client, "--url", front.url());
        let printed = process::finish(&placed(setup, client), within)?;
        front.stop()?;
        behind.map_or(Ok(()), Server::stop)?;
        Ok(printed)
    }

    fn proxy(&self, setup: &Setup, upstream: Upstream, url: Option<&str>) -> Result<Proxy, TaskError> {
        if setup.make == Make::Gateway {
            return Ok(proxy::gateway(&self.release, setup, upstream, url));
        }
        let missing = || TaskError::new(format!("the programs of {} are not installed", setup.make));
        let server = self.server(&Setup { road: Road::Stdio, ..*setup }.floor())?;
        self.rivals.as_ref().ok_or_else(missing)?.proxy(setup, &server, url)
    }

    fn client(&self, setup: &Setup, calls: Calls) -> Result<Line, TaskError> {
        let measured = setup.side == Side::Client;
        let mut line = self.program(if measured { setup.make } else { Make::Floor }, Side::Client)?;
        option(&mut line, "--work", setup.work);
        option(&mut line, "--era", setup.era);
        option(&mut line, "--calls", calls.measured);
        if calls.warm > 0 {
            option(&mut line, "--warm", calls.warm);
        }
        if setup.in_flight != 1 {
            option(&mut line, "--in-flight", setup.in_flight);
        }
        if setup.sessions != 1 || setup.work == Work::Connect {
            option(&mut line, "--sessions", setup.sessions);
        }
        shared(&mut line, setup, measured);
        if setup.form == Form::Protected {
            option(&mut line, "--token", "1kB");
        }
        // With this it lists the tools first, which is nothing to a server that is only called.
        if measured || matches!(setup.work, Work::List | Work::Connect) {
            option(&mut line, "--tools", setup.tools);
        }
        Ok(line)
    }

    fn server(&self, setup: &Setup) -> Result<Line, TaskError> {
        let measured = setup.side == Side::Server;
        let mut line = self.program(if measured { setup.make } else { Make::Floor }, Side::Server)?;
        line.push(if setup.road == Road::Stdio { "--stdio" } else { "--http" }.into());
        shared(&mut line, setup, measured);
        option(&mut line, "--tools", setup.tools);
        Ok(line)
    }

    fn inside(&self, setup: &Setup, calls: Calls) -> Result<Line, TaskError> {
        let mut line = self.program(setup.make, Side::Inside)?;
        option(&mut line, "--era", setup.era);
        option(&mut line, "--calls", calls.measured);
        option(&mut line, "--tools", setup.tools);
        if setup.form != Form::Default {
            option(&mut line, "--form", setup.form);
        }
        if setup.sessions != 1 {
            option(&mut line, "--sessions", setup.sessions);
        }
        Ok(line)
    }

    fn program(&self, make: Make, side: Side) -> Result<Line, TaskError> {
        let missing = || TaskError::new(format!("the programs of {make} are not installed"));
        match make {
            Make::Floor
            | Make::Switchboard
            | Make::Host
            | Make::Service
            | Make::Auth
            | Make::Gateway
            | Make::Rmcp => {
                let name = format!("{make}-{side}{}", std::env::consts::EXE_SUFFIX);
                Ok(vec![self.release.join(name).into()])
            }
            Make::McpProxy | Make::NodeProxy | Make::FastMcp => Err(missing()),
            Make::TypeScript => {
                let folder = self.node.as_ref().ok_or_else(missing)?;
                Ok(vec!["node".into(), folder.join(format!("ts-{side}.mjs")).into()])
            }
            Make::Python => {
                let (interpreter, folder) = self.python.as_ref().ok_or_else(missing)?;
                // It leaves nothing behind in the source tree.
                Ok(vec![interpreter.into(), "-B".into(), folder.join(format!("py_{side}.py")).into()])
            }
        }
    }
}

/// Form and threads apply to the measured side only, so that the other side is the same for every implementation.
fn shared(line: &mut Line, setup: &Setup, measured: bool) {
    if measured {
        option(line, "--threads", setup.threads);
        if setup.form != Form::Default {
            option(line, "--form", setup.form);
        }
    }
}

fn option(line: &mut Line, name: &str, value: impl ToString) {
    line.extend([OsString::from(name), value.to_string().into()]);
}

/// Child processes inherit the CPU of their parent.
fn placed(setup: &Setup, line: Line) -> Line {
    match setup.pinned {
        true => ["taskset", "-c", "0"].map(OsString::from).into_iter().chain(line).collect(),
        false => line,
    }
}

fn under_callgrind(out: &Path, line: Line) -> Line {
    let mut file = OsString::from("--callgrind-out-file=");
    file.push(out);
    let front = ["valgrind", "--quiet", "--tool=callgrind", "--dump-instr=no", "--dump-line=yes"];
    front.map(OsString::from).into_iter().chain([file]).chain(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::setup::{Era, Threads};

    fn programs() -> Programs {
        Programs { release: "/r".into(), node: Some("/n".into()), python: None, rivals: None }
    }

    fn text(line: Result<Line, TaskError>) -> String {
        line.unwrap().iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_words_are_those_of_the_contract() {
        let setup = Setup::echo(Side::Server, Road::Stdio).rmcp().form(Form::Pipes).tools(50);
        let setup = setup.threads(Threads::Many).era(Era::Modern).in_flight(64);
        let calls = Calls { warm: 5, measured: 10 };
        assert_eq!(
            text(programs().client(&setup, calls)),
            "/r/floor-client --work echo --era modern --calls 10 --warm 5 --in-flight 64"
        );
        assert_eq!(
            text(programs().server(&setup)),
            "/r/rmcp-server --stdio --threads many --form pipes --tools 50"
        );
        let setup = Setup::new(Side::Client, Road::Stdio, Work::Connect).by(Make::TypeScript);
        assert_eq!(
            text(programs().client(&setup, calls)),
            "node /n/ts-client.mjs --work connect --era legacy --calls 10 --warm 5 --sessions 1 --threads one --tools 3"
        );
    }

    #[test]
    fn a_make_that_is_not_there_is_named() {
        let setup = Setup::echo(Side::Client, Road::Stdio).by(Make::Python);
        let failure = programs().client(&setup, Calls { warm: 1, measured: 1 }).unwrap_err();
        assert_eq!(failure.to_string(), "the programs of python are not installed");
    }
}
