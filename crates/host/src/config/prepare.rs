//! From what was written to what will be run: variables filled in, everything checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use switchboard_http::{Address, AddressError, PlainHttp, Secret};
use switchboard_transport::http::client::Http;
use switchboard_transport::stdio::Stdio;

use crate::config::expand::{Lookup, Piece, expand, pieces};
use crate::config::fault::{Fault, Problem};
use crate::config::server_config::{Binding, Kind, ServerConfig};
use crate::config::start::{Off, Restart, Start};
use crate::server_spec::ServerSpec;
use crate::transport::Transport;

/// How long connecting may take where the entry does not say.
pub const STARTUP: Duration = Duration::from_secs(60);
/// How often in a row a server may fail where the entry does not say.
pub const RESTARTS: u32 = 5;

impl ServerConfig {
    /// Fills in variables with this lookup, checks every field, and returns the server that will be run.
    ///
    /// # Errors
    /// Names the field and what is wrong with it, such as a variable that is not set.
    pub fn resolve(&self, variables: Lookup<'_>) -> Result<ServerSpec, Fault> {
        let start = match (self.settings.disabled, self.settings.lazy) {
            (true, _) => Start::Off(Off::Disabled),
            (_, true) => Start::WhenUsed,
            _ => Start::AtOnce,
        };
        Ok(self.spec(filled_in(&self.kind, variables)?, start))
    }

    /// Returns the server of a configuration that is disabled: as written, no variable filled in, and not started. A
    /// variable that is not set matters only once it is enabled.
    pub fn disabled(&self) -> ServerSpec {
        self.spec(as_written(&self.kind), Start::Off(Off::Disabled))
    }

    /// Returns the server of a configuration that nobody approved: as written, no variable filled in, and not started.
    pub fn unapproved(&self) -> ServerSpec {
        self.spec(as_written(&self.kind), Start::Off(Off::Unapproved))
    }

    /// The names of the variables it refers to: what somebody who approves it should see.
    pub fn variables(&self) -> BTreeSet<String> {
        let mut texts: Vec<&str> = Vec::new();
        match &self.kind {
            Kind::Stdio { args, env, cwd, .. } => {
                texts.extend(args.iter().map(String::as_str).chain(cwd.as_deref()));
                texts.extend(env.values().map(Secret::expose));
            }
            Kind::Http { url, headers, .. } => {
                texts.push(url);
                texts.extend(headers.values().map(Secret::expose));
            }
            Kind::Proxy { url, .. } => texts.push(url),
            Kind::Sdk { .. } => {}
        }
        let names = texts.into_iter().filter_map(|text| pieces(text).ok()).flatten();
        names
            .filter_map(|piece| match piece {
                Piece::Variable { name, .. } => Some(name.to_owned()),
                Piece::Literal(_) => None,
            })
            .collect()
    }

    fn spec(&self, transport: Transport, start: Start) -> ServerSpec {
        let settings = &self.settings;
        let mut spec = ServerSpec::new(transport).start(start).with_written(self.masked());
        spec.restart = settings.restart.unwrap_or(Restart::WithBackoff { most: RESTARTS });
        spec.required = settings.required;
        spec.trust = settings.trust;
        spec.startup_timeout = settings.startup_timeout.unwrap_or(STARTUP);
        spec.call_timeout = settings.timeout;
        spec.allow_tools.clone_from(&settings.allow_tools);
        spec.deny_tools.clone_from(&settings.deny_tools);
        spec
    }
}

fn as_written(kind: &Kind) -> Transport {
    match kind {
        Kind::Stdio { command, args, env, inherit_env, cwd } => {
            stdio(command, args, env, inherit_env, cwd.as_ref().map(PathBuf::from)).into()
        }
        Kind::Http { url, headers, binding, allow_http } => {
            http(url.clone(), headers, *binding, *allow_http).into()
        }
        Kind::Sdk { name } => Transport::Registered { name: name.clone() },
        Kind::Proxy { url, id } => Transport::Proxy { url: url.clone(), id: id.clone() },
    }
}

fn stdio(
    command: &str,
    args: &[String],
    env: &BTreeMap<String, Secret>,
    inherit_env: &[String],
    cwd: Option<PathBuf>,
) -> Stdio {
    let mut stdio = Stdio::new(command).args(args);
    for (name, value) in env {
        stdio = stdio.env(name, value.expose());
    }
    for name in inherit_env {
        stdio = stdio.inherit_env(name);
    }
    match cwd {
        Some(cwd) => stdio.cwd(cwd),
        None => stdio,
    }
}

fn http(url: String, headers: &BTreeMap<String, Secret>, binding: Binding, allow_http: bool) -> Http {
    let mut http = Http::new(url);
    for (name, value) in headers {
        http = http.header(name, value.clone());
    }
    if binding == Binding::Sse {
        http = http.sse();
    }
    if allow_http { http.allow_plain_http() } else { http }
}

fn filled_in(kind: &Kind, variables: Lookup<'_>) -> Result<Transport, Fault> {
    let fill =
        |field: String, text: &str| expand(text, variables).map_err(|problem| Fault::new(field, problem));
    match kind {
        Kind::Stdio { command, args, env, inherit_env, cwd } => {
            without_nul("command", command)?;
            if command.trim().is_empty() {
                return Err(unusable("command", "it is empty; name a program"));
            }
            for (index, name) in inherit_env.iter().enumerate() {
                variable_name(&format!("inheritEnv[{index}]"), name)?;
            }
            let filled = args.iter().enumerate().map(|(index, arg)| {
                let field = format!("args[{index}]");
                let arg = fill(field.clone(), arg)?;
                without_nul(&field, &arg).map(|()| arg)
            });
            let args = filled.collect::<Result<Vec<_>, _>>()?;
            let env = environment(env, &fill)?;
            let cwd = cwd.as_deref().map(|cwd| directory(cwd, &fill)).transpose()?;
            Ok(stdio(command, &args, &env, inherit_env, cwd).into())
        }
        Kind::Http { url, headers, binding, allow_http } => {
            let url = address(url, &fill("url".into(), url)?, *allow_http)?;
            Ok(http(url, &header_map(headers, &fill)?, *binding, *allow_http).into())
        }
        Kind::Sdk { name } if name.is_empty() => {
            Err(unusable("name", "it is empty; name a registered server"))
        }
        Kind::Sdk { name } => Ok(Transport::Registered { name: name.clone() }),
        Kind::Proxy { id, .. } if id.is_empty() => Err(unusable("id", "it is empty; name a connector")),
        Kind::Proxy { url, id } => {
            let filled = fill("url".into(), url)?.replace("{id}", &encoded(id));
            Ok(Transport::Proxy { url: address(url, &filled, false)?, id: id.clone() })
        }
    }
}

type Fill<'a> = dyn Fn(String, &str) -> Result<String, Fault> + 'a;

fn environment(env: &BTreeMap<String, Secret>, fill: &Fill<'_>) -> Result<BTreeMap<String, Secret>, Fault> {
    let filled = env.iter().map(|(name, value)| {
        let field = format!("env.{name}");
        variable_name(&field, name)?;
        let value = fill(field.clone(), value.expose())?;
        without_nul(&field, &value)?;
        Ok((name.clone(), Secret::new(value)))
    });
    filled.collect()
}

fn header_map(
    headers: &BTreeMap<String, Secret>,
    fill: &Fill<'_>,
) -> Result<BTreeMap<String, Secret>, Fault> {
    let filled = headers.iter().map(|(name, value)| {
        let field = format!("headers.{name}");
        if HeaderName::try_from(name.as_str()).is_err() {
            return Err(unusable(&field, "this is not a name a header can have"));
        }
        let value = fill(field.clone(), value.expose())?;
        match HeaderValue::try_from(value.as_str()) {
            Ok(_) => Ok((name.clone(), Secret::new(value))),
            Err(_) => Err(unusable(
                &field,
                "the value has a line break or another character no header has; is there one at the end of the variable?",
            )),
        }
    });
    filled.collect()
}

fn directory(cwd: &str, fill: &Fill<'_>) -> Result<PathBuf, Fault> {
    let filled = fill("cwd".into(), cwd)?;
    without_nul("cwd", &filled)?;
    match filled.is_empty() {
        true => Err(unusable("cwd", "it is empty; name a directory, or take it out")),
        false => Ok(PathBuf::from(filled)),
    }
}

fn address(written: &str, filled: &str, allow_http: bool) -> Result<String, Fault> {
    let plain = if allow_http { PlainHttp::Allowed } else { PlainHttp::LoopbackOnly };
    let problem = |what: String| Fault::new("url", Problem::Address { what });
    match Address::parse(filled, plain) {
        Ok(address) => Ok(address.as_str().to_owned()),
        Err(AddressError::NoScheme { .. }) => {
            Err(problem("this is not an address; write it in full, like https://example.com/mcp".into()))
        }
        Err(AddressError::Plain { .. }) => Err(problem(
            "plain http to another machine would send everything in the open; use https, or set `allowHttp`"
                .into(),
        )),
        // These quote what was filled in, which may be secret.
        Err(AddressError::Scheme { .. } | AddressError::Host { .. } | AddressError::Port { .. })
            if written.contains("${") =>
        {
            Err(problem("with its variables filled in this is not an address; check their values".into()))
        }
        Err(error) => Err(problem(error.to_string())),
    }
}

/// An id as a part of a path.
fn encoded(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn variable_name(field: &str, name: &str) -> Result<(), Fault> {
    match name.is_empty() || name.contains(['=', '\0']) {
        true => Err(unusable(field, "this is not a name a variable can have")),
        false => Ok(()),
    }
}

fn without_nul(field: &str, text: &str) -> Result<(), Fault> {
    match text.contains('\0') {
        true => Err(unusable(field, "it has a zero byte, which no program can be given")),
        false => Ok(()),
    }
}

fn unusable(field: &str, what: &'static str) -> Fault {
    Fault::new(field, Problem::Unusable { what })
}
