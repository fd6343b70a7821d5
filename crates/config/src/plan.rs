//! From a server as written to a server as it will be run: variables filled in, every field checked.
//!
//! Nothing of a server that is not started is filled in. What reaches the server is made from a plan elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use switchboard_http::{Address, AddressError, PlainHttp, Secret};

use crate::expand::{Lookup, Piece, expand, pieces};
use crate::fault::{Fault, Problem};
use crate::scope::Scope;
use crate::server_config::{Kind, ServerConfig, Settings};
use crate::start::{Off, Start};

/// How long connecting may take where the entry does not say.
pub const STARTUP: Duration = Duration::from_secs(60);
/// How often in a row a server may fail where the entry does not say.
pub const RESTARTS: u32 = 5;

/// A server as it will be run: a [`ServerConfig`] with its variables filled in and its fields checked.
///
/// Printing it shows the configuration as written, with secrets masked.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerPlan {
    /// How the server is reached. Variables are filled in if it is started, so do not print it; otherwise it is as
    /// written.
    pub kind: Kind,
    /// Whether it is started, and when.
    pub start: Start,
    /// How it is treated.
    pub settings: Settings,
    /// The configuration as written, secrets masked.
    pub written: Arc<serde_json::Value>,
    /// The scope of the file it comes from.
    pub scope: Option<Scope>,
    /// The directory that the working directory of its program is relative to, and the default for it.
    pub base_directory: Option<PathBuf>,
}

impl fmt::Debug for ServerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerPlan")
            .field("written", &self.written)
            .field("start", &self.start)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

impl ServerConfig {
    /// Fills in variables with this lookup, checks every field, and returns the server that will be run.
    ///
    /// # Errors
    /// Names the field and what is wrong with it, such as a variable that is not set.
    pub fn resolve(&self, variables: Lookup<'_>) -> Result<ServerPlan, Fault> {
        let start = match (self.settings.disabled, self.settings.lazy) {
            (true, _) => Start::Off(Off::Disabled),
            (_, true) => Start::WhenUsed,
            _ => Start::AtOnce,
        };
        Ok(self.plan(filled_in(&self.kind, variables)?, start))
    }

    /// Returns the server of a configuration that is disabled: as written, no variable filled in, and not started. A
    /// variable that is not set matters only once it is enabled.
    pub fn disabled(&self) -> ServerPlan {
        self.plan(self.kind.clone(), Start::Off(Off::Disabled))
    }

    /// Returns the server of a configuration that nobody approved: as written, no variable filled in, and not started.
    pub fn unapproved(&self) -> ServerPlan {
        self.plan(self.kind.clone(), Start::Off(Off::Unapproved))
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

    fn plan(&self, kind: Kind, start: Start) -> ServerPlan {
        ServerPlan {
            kind,
            start,
            settings: self.settings.clone(),
            written: Arc::new(self.masked()),
            scope: None,
            base_directory: None,
        }
    }
}

fn filled_in(kind: &Kind, variables: Lookup<'_>) -> Result<Kind, Fault> {
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
            Ok(Kind::Stdio { command: command.clone(), args, env, inherit_env: inherit_env.clone(), cwd })
        }
        Kind::Http { url, headers, binding, allow_http } => {
            let url = address(url, &fill("url".into(), url)?, *allow_http)?;
            let headers = header_map(headers, &fill)?;
            Ok(Kind::Http { url, headers, binding: *binding, allow_http: *allow_http })
        }
        Kind::Sdk { name } if name.is_empty() => {
            Err(unusable("name", "it is empty; name a registered server"))
        }
        Kind::Sdk { name } => Ok(Kind::Sdk { name: name.clone() }),
        Kind::Proxy { id, .. } if id.is_empty() => Err(unusable("id", "it is empty; name a connector")),
        Kind::Proxy { url, id } => {
            let filled = fill("url".into(), url)?.replace("{id}", &encoded(id));
            Ok(Kind::Proxy { url: address(url, &filled, false)?, id: id.clone() })
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

fn directory(cwd: &str, fill: &Fill<'_>) -> Result<String, Fault> {
    let filled = fill("cwd".into(), cwd)?;
    without_nul("cwd", &filled)?;
    match filled.is_empty() {
        true => Err(unusable("cwd", "it is empty; name a directory, or take it out")),
        false => Ok(filled),
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
