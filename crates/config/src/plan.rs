//! Resolution of a server's configuration into the plan that is run: variables substituted, every field checked.
//!
//! Variables of a server that is not started are not substituted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use switchboard_http::{Address, AddressError, PlainHttp, Secret};

use crate::error::{ConfigError, ConfigErrorKind};
use crate::expand::{TextPiece, VariableLookup, expand, parse_references};
use crate::expand_oauth::{expand_headers_helper, expand_oauth, referring_texts};
use crate::headers_helper::HeadersHelperConfig;
use crate::oauth::OAuthConfig;
use crate::scope::Scope;
use crate::server_config::{ServerConfig, Settings, TransportConfig};
use crate::start::{OffReason, StartPolicy};

/// The default timeout for connecting.
pub const DEFAULT_STARTUP_TIMEOUT: Duration = Duration::from_secs(60);
/// The default number of consecutive failures after which a server is given up.
pub const DEFAULT_MAX_FAILURES: u32 = 5;

/// A server as it will be run: a [`ServerConfig`] with its variables substituted and its fields checked.
///
/// The `Debug` output is the configuration as written, with secrets masked.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerPlan {
    /// The transport. Variables are substituted if the server is started, so do not print it; otherwise it is as written.
    pub transport: TransportConfig,
    /// The settings of logins, with their secrets.
    pub oauth: Option<Arc<OAuthConfig>>,
    /// The command that prints headers.
    pub headers_helper: Option<HeadersHelperConfig>,
    /// The start policy.
    pub start: StartPolicy,
    /// The settings.
    pub settings: Settings,
    /// The configuration as written, secrets masked.
    pub written: Arc<serde_json::Value>,
    /// The scope of the file that has it.
    pub scope: Option<Scope>,
    /// The base of a relative working directory, and the default working directory.
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
    /// Substitutes variables, checks every field, and returns the server that will be run.
    ///
    /// # Errors
    /// When a field is invalid, for example because a variable is not set; the error names the field.
    pub fn resolve(&self, variables: VariableLookup<'_>) -> Result<ServerPlan, ConfigError> {
        let start = match (self.settings.disabled, self.settings.lazy) {
            (true, _) => StartPolicy::Off(OffReason::Disabled),
            (_, true) => StartPolicy::WhenUsed,
            _ => StartPolicy::AtOnce,
        };
        let transport = expand_transport(&self.transport, variables)?;
        let oauth = self.oauth.as_ref().map(|oauth| expand_oauth(oauth, variables)).transpose()?;
        let helper = self.headers_helper.as_ref();
        let headers_helper = helper.map(|helper| expand_headers_helper(helper, variables)).transpose()?;
        Ok(ServerPlan { transport, oauth: oauth.map(Arc::new), headers_helper, ..self.unresolved(start) })
    }

    /// Returns the plan of a disabled server: as written, without substitution, not started. A variable that is not set
    /// is an error only once the server is enabled.
    pub fn disabled(&self) -> ServerPlan {
        self.unresolved(StartPolicy::Off(OffReason::Disabled))
    }

    /// Returns the plan of a server that was not approved: as written, without substitution, not started.
    pub fn unapproved(&self) -> ServerPlan {
        self.unresolved(StartPolicy::Off(OffReason::Unapproved))
    }

    /// Returns the names of the variables that the configuration refers to, for a consent screen.
    pub fn variables(&self) -> BTreeSet<String> {
        let mut texts: Vec<&str> = Vec::new();
        let mut named: Vec<&str> = Vec::new();
        match &self.transport {
            TransportConfig::Stdio { args, env, cwd, .. } => {
                texts.extend(args.iter().map(String::as_str).chain(cwd.as_deref()));
                texts.extend(env.values().map(Secret::expose));
            }
            TransportConfig::Http { url, headers, .. } => {
                texts.push(url);
                texts.extend(headers.values().map(Secret::expose));
            }
            TransportConfig::Proxy { url, .. } => texts.push(url),
            TransportConfig::Sdk { .. } => {}
        }
        if let Some(helper) = &self.headers_helper {
            texts.extend(helper.env.values().map(Secret::expose));
        }
        if let Some(oauth) = &self.oauth {
            let (of_oauth, names) = referring_texts(oauth);
            texts.extend(of_oauth);
            named = names;
        }
        let names = texts.into_iter().filter_map(|text| parse_references(text).ok()).flatten();
        names
            .filter_map(|piece| match piece {
                TextPiece::Variable { name, .. } => Some(name.to_owned()),
                TextPiece::Literal(_) => None,
            })
            .chain(named.into_iter().map(str::to_owned))
            .collect()
    }

    /// Returns the plan as written.
    fn unresolved(&self, start: StartPolicy) -> ServerPlan {
        ServerPlan {
            transport: self.transport.clone(),
            oauth: self.oauth.as_deref().cloned().map(Arc::new),
            headers_helper: self.headers_helper.clone(),
            start,
            settings: self.settings.clone(),
            written: Arc::new(self.masked()),
            scope: None,
            base_directory: None,
        }
    }
}

fn expand_transport(
    transport: &TransportConfig,
    variables: VariableLookup<'_>,
) -> Result<TransportConfig, ConfigError> {
    let expand_field = |field: String, text: &str| {
        expand(text, variables).map_err(|problem| ConfigError::new(field, problem))
    };
    match transport {
        TransportConfig::Stdio { command, args, env, inherit_env, cwd } => {
            reject_nul("command", command)?;
            ensure(!command.trim().is_empty(), "command", "it is empty; name a program")?;
            for (index, name) in inherit_env.iter().enumerate() {
                check_variable_name(&format!("inheritEnv[{index}]"), name)?;
            }
            let expanded = args.iter().enumerate().map(|(index, arg)| {
                let field = format!("args[{index}]");
                let arg = expand_field(field.clone(), arg)?;
                reject_nul(&field, &arg).map(|()| arg)
            });
            let args = expanded.collect::<Result<Vec<_>, _>>()?;
            let env = expand_environment(env, &expand_field)?;
            let cwd = cwd.as_deref().map(|cwd| expand_directory(cwd, &expand_field)).transpose()?;
            Ok(TransportConfig::Stdio {
                command: command.clone(),
                args,
                env,
                inherit_env: inherit_env.clone(),
                cwd,
            })
        }
        TransportConfig::Http { url, headers, binding, allow_http } => {
            let url = check_address(url, &expand_field("url".into(), url)?, *allow_http)?;
            let headers = expand_headers(headers, &expand_field)?;
            Ok(TransportConfig::Http { url, headers, binding: *binding, allow_http: *allow_http })
        }
        TransportConfig::Sdk { name } => {
            ensure(!name.is_empty(), "name", "it is empty; name a registered server")?;
            Ok(TransportConfig::Sdk { name: name.clone() })
        }
        TransportConfig::Proxy { url, id } => {
            ensure(!id.is_empty(), "id", "it is empty; name a connector")?;
            let expanded = expand_field("url".into(), url)?.replace("{id}", &percent_encode(id));
            Ok(TransportConfig::Proxy { url: check_address(url, &expanded, false)?, id: id.clone() })
        }
    }
}

type ExpandField<'a> = dyn Fn(String, &str) -> Result<String, ConfigError> + 'a;

fn expand_environment(
    env: &BTreeMap<String, Secret>,
    expand_field: &ExpandField<'_>,
) -> Result<BTreeMap<String, Secret>, ConfigError> {
    let expanded = env.iter().map(|(name, value)| {
        let field = format!("env.{name}");
        check_variable_name(&field, name)?;
        let value = expand_field(field.clone(), value.expose())?;
        reject_nul(&field, &value)?;
        Ok((name.clone(), Secret::new(value)))
    });
    expanded.collect()
}

fn expand_headers(
    headers: &BTreeMap<String, Secret>,
    expand_field: &ExpandField<'_>,
) -> Result<BTreeMap<String, Secret>, ConfigError> {
    let expanded = headers.iter().map(|(name, value)| {
        let field = format!("headers.{name}");
        let is_name = HeaderName::try_from(name.as_str()).is_ok();
        ensure(is_name, &field, "this is not a valid header name")?;
        let value = expand_field(field.clone(), value.expose())?;
        ensure(
            HeaderValue::try_from(value.as_str()).is_ok(),
            &field,
            "the value has a line break or another character that is invalid in a header; does the variable end with one?",
        )?;
        Ok((name.clone(), Secret::new(value)))
    });
    expanded.collect()
}

fn expand_directory(cwd: &str, expand_field: &ExpandField<'_>) -> Result<String, ConfigError> {
    let expanded = expand_field("cwd".into(), cwd)?;
    reject_nul("cwd", &expanded)?;
    ensure(!expanded.is_empty(), "cwd", "it is empty; name a directory, or remove it")?;
    Ok(expanded)
}

fn check_address(written: &str, expanded: &str, allow_http: bool) -> Result<String, ConfigError> {
    let plain = if allow_http { PlainHttp::Allowed } else { PlainHttp::LoopbackOnly };
    let problem = |what: String| ConfigError::new("url", ConfigErrorKind::Address { what });
    match Address::parse(expanded, plain) {
        Ok(address) => Ok(address.as_str().to_owned()),
        Err(AddressError::NoScheme { .. }) => {
            Err(problem("this is not an absolute URL; write it like https://example.com/mcp".into()))
        }
        Err(AddressError::Plain { .. }) => Err(problem(
            "plain http to another machine sends everything unencrypted; use https, or set `allowHttp`"
                .into(),
        )),
        // These messages quote substituted values, which may be secret.
        Err(AddressError::Scheme { .. } | AddressError::Host { .. } | AddressError::Port { .. })
            if written.contains("${") =>
        {
            Err(problem("with its variables substituted this is not an address; check their values".into()))
        }
        Err(error) => Err(problem(error.to_string())),
    }
}

/// Percent-encodes an id as a path segment.
fn percent_encode(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn check_variable_name(field: &str, name: &str) -> Result<(), ConfigError> {
    ensure(!name.is_empty() && !name.contains(['=', '\0']), field, "this is not a valid variable name")
}

fn reject_nul(field: &str, text: &str) -> Result<(), ConfigError> {
    ensure(!text.contains('\0'), field, "it has a zero byte, which a process cannot receive")
}

fn ensure(is_valid: bool, field: &str, what: &'static str) -> Result<(), ConfigError> {
    match is_valid {
        true => Ok(()),
        false => Err(ConfigError::new(field, ConfigErrorKind::InvalidValue { what })),
    }
}
