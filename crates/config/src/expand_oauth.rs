//! Substitutes the variables of an `oauth` block and of a header helper, and checks every field.

use std::collections::BTreeMap;

use switchboard_http::{Address, PlainHttp, Secret};

use crate::error::{ConfigError, ConfigErrorKind};
use crate::expand::{VariableLookup, expand};
use crate::headers_helper::HeadersHelperConfig;
use crate::oauth::{EnterpriseConfig, EnterpriseSecrets, GrantConfig, OAuthConfig, ResourceConfig};

/// Substitutes variables in one block; errors have the path of the field.
struct Expander<'a> {
    block: &'static str,
    variables: VariableLookup<'a>,
}

/// Returns the block with its variables substituted and its secrets read.
pub(crate) fn expand_oauth(
    config: &OAuthConfig,
    variables: VariableLookup<'_>,
) -> Result<OAuthConfig, ConfigError> {
    let expander = Expander { block: "oauth", variables };
    let client_secret = match (&config.client_secret_env, &config.client_secret) {
        (Some(name), _) => Some(expander.variable("clientSecretEnv", name)?),
        (None, Some(written)) => {
            let value = expander.text("clientSecret", written.expose())?;
            let value = value.trim();
            expander.check("clientSecret", !value.is_empty(), "the variable is empty")?;
            Some(Secret::new(value))
        }
        (None, None) => None,
    };
    let scopes = config.scopes.iter().map(|scope| expander.required("scopes", scope));
    let parameters = config.authorize_parameters.iter().map(|(name, value)| {
        let value = expander.text(&format!("authorizeParameters.{name}"), value)?;
        Ok((name.clone(), value))
    });
    Ok(OAuthConfig {
        client_id: expander.optional("clientId", &config.client_id)?,
        client_secret,
        client_secret_env: config.client_secret_env.clone(),
        client_metadata_url: expander.url("clientMetadataUrl", &config.client_metadata_url)?,
        callback_port: config.callback_port,
        scopes: scopes.collect::<Result<_, _>>()?,
        auth_server_metadata_url: expander.url("authServerMetadataUrl", &config.auth_server_metadata_url)?,
        // Not normalized: issuers are compared exactly.
        issuer: expander.optional("issuer", &config.issuer)?,
        resource: config.resource.as_ref().map(|resource| expander.resource(resource)).transpose()?,
        account: expander.optional("account", &config.account)?,
        authorize_parameters: parameters.collect::<Result<BTreeMap<_, _>, _>>()?,
        assumes_pkce: config.assumes_pkce,
        grant: expander.grant(&config.grant)?,
        unknown: config.unknown.clone(),
    })
}

/// Returns the helper with its variables substituted. The command stays as it is.
pub(crate) fn expand_headers_helper(
    config: &HeadersHelperConfig,
    variables: VariableLookup<'_>,
) -> Result<HeadersHelperConfig, ConfigError> {
    let expander = Expander { block: "headersHelper", variables };
    expander.check("", !config.command.trim().is_empty(), "it is empty; write a command")?;
    expander.check(
        "",
        !config.command.contains('\0'),
        "it has a zero byte, which a process cannot receive",
    )?;
    let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    for (index, name) in config.inherit_env.iter().enumerate() {
        expander.check(
            &format!("inheritEnv[{index}]"),
            is_name(name),
            "this is not a valid variable name",
        )?;
    }
    let env = config.env.iter().map(|(name, value)| {
        let field = format!("env.{name}");
        expander.check(&field, is_name(name), "this is not a valid variable name")?;
        let value = expander.text(&field, value.expose())?;
        expander.check(
            &field,
            !value.contains('\0'),
            "it has a zero byte, which a process cannot receive",
        )?;
        Ok((name.clone(), Secret::new(value)))
    });
    Ok(HeadersHelperConfig { env: env.collect::<Result<_, _>>()?, ..config.clone() })
}

/// Returns the texts of a block that may refer to variables, and the names of variables that hold its secrets.
pub(crate) fn referring_texts(config: &OAuthConfig) -> (Vec<&str>, Vec<&str>) {
    let mut texts: Vec<&str> = Vec::new();
    let mut names: Vec<&str> = config.client_secret_env.iter().map(String::as_str).collect();
    texts.extend(
        [
            &config.client_id,
            &config.client_metadata_url,
            &config.auth_server_metadata_url,
            &config.issuer,
            &config.account,
        ]
        .into_iter()
        .filter_map(Option::as_deref),
    );
    texts.extend(config.client_secret.iter().map(Secret::expose));
    texts.extend(config.scopes.iter().chain(config.authorize_parameters.values()).map(String::as_str));
    if let Some(ResourceConfig::Identifier(identifier)) = &config.resource {
        texts.push(identifier);
    }
    match &config.grant {
        GrantConfig::AuthorizationCode | GrantConfig::ClientCredentials => {}
        GrantConfig::JwtBearer { assertion_file } => texts.push(assertion_file),
        GrantConfig::EnterpriseManaged(enterprise) => {
            texts.extend([enterprise.token_endpoint.as_str(), &enterprise.client_id]);
            texts.extend(enterprise.id_token_file.as_deref());
            names.extend(enterprise.client_secret_env.as_deref());
            names.extend(enterprise.id_token_env.as_deref());
        }
    }
    (texts, names)
}

impl Expander<'_> {
    fn error(&self, field: &str, kind: ConfigErrorKind) -> ConfigError {
        ConfigError::new(field, kind).under(self.block)
    }

    fn check(&self, field: &str, is_valid: bool, what: &'static str) -> Result<(), ConfigError> {
        match is_valid {
            true => Ok(()),
            false => Err(self.error(field, ConfigErrorKind::InvalidValue { what })),
        }
    }

    fn text(&self, field: &str, written: &str) -> Result<String, ConfigError> {
        expand(written, self.variables).map_err(|problem| self.error(field, problem))
    }

    fn required(&self, field: &str, written: &str) -> Result<String, ConfigError> {
        let value = self.text(field, written)?;
        let is_valid = !value.trim().is_empty() && !value.chars().any(char::is_control);
        self.check(
            field,
            is_valid,
            "it is empty, or has a control character; does the variable end with a line break?",
        )?;
        Ok(value)
    }

    fn optional(&self, field: &str, written: &Option<String>) -> Result<Option<String>, ConfigError> {
        written.as_deref().map(|written| self.required(field, written)).transpose()
    }

    /// Returns the value of a variable that holds a secret.
    fn variable(&self, field: &str, name: &str) -> Result<Secret, ConfigError> {
        let value =
            (self.variables)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        value.map(Secret::new).ok_or_else(|| {
            let what = "the variable of that name is not set";
            self.error(field, ConfigErrorKind::InvalidValue { what })
        })
    }

    fn url(&self, field: &str, written: &Option<String>) -> Result<Option<String>, ConfigError> {
        let Some(url) = self.optional(field, written)? else { return Ok(None) };
        match Address::parse(&url, PlainHttp::LoopbackOnly) {
            // As written: some servers compare it.
            Ok(_) => Ok(Some(url)),
            // The message of the error may quote a substituted value.
            Err(_) => {
                let what = "this is not a URL; write it like https://login.example.com/…".to_owned();
                Err(self.error(field, ConfigErrorKind::Address { what }))
            }
        }
    }

    fn resource(&self, resource: &ResourceConfig) -> Result<ResourceConfig, ConfigError> {
        let ResourceConfig::Identifier(written) = resource else { return Ok(ResourceConfig::Omit) };
        let identifier = self.required("resource", written)?;
        let scheme = identifier.split_once(':').map_or("", |(scheme, _)| scheme);
        let is_scheme = scheme.starts_with(|char: char| char.is_ascii_alphabetic())
            && scheme.chars().all(|char| char.is_ascii_alphanumeric() || "+.-".contains(char));
        let is_valid = is_scheme && !identifier.contains(['#', ' ']);
        self.check("resource", is_valid, "must be \"omit\", or an absolute URI without a fragment")?;
        Ok(ResourceConfig::Identifier(identifier))
    }

    fn grant(&self, grant: &GrantConfig) -> Result<GrantConfig, ConfigError> {
        Ok(match grant {
            GrantConfig::AuthorizationCode => GrantConfig::AuthorizationCode,
            GrantConfig::ClientCredentials => GrantConfig::ClientCredentials,
            GrantConfig::JwtBearer { assertion_file } => GrantConfig::JwtBearer {
                assertion_file: self.required("grant.assertionFile", assertion_file)?,
            },
            GrantConfig::EnterpriseManaged(enterprise) => {
                GrantConfig::EnterpriseManaged(Box::new(self.enterprise(enterprise)?))
            }
        })
    }

    fn enterprise(&self, config: &EnterpriseConfig) -> Result<EnterpriseConfig, ConfigError> {
        let endpoint = Some(config.token_endpoint.clone());
        let variable =
            |field, name: &Option<String>| name.as_deref().map(|name| self.variable(field, name)).transpose();
        Ok(EnterpriseConfig {
            token_endpoint: self.url("grant.tokenEndpoint", &endpoint)?.unwrap_or_default(),
            client_id: self.required("grant.clientId", &config.client_id)?,
            client_secret_env: config.client_secret_env.clone(),
            id_token_file: self.optional("grant.idTokenFile", &config.id_token_file)?,
            id_token_env: config.id_token_env.clone(),
            secrets: EnterpriseSecrets {
                client_secret: variable("grant.clientSecretEnv", &config.client_secret_env)?,
                id_token: variable("grant.idTokenEnv", &config.id_token_env)?,
            },
        })
    }
}
