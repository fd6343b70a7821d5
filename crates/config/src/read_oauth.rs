//! Reads the `oauth` block and the `headersHelper` of an entry.

use std::collections::BTreeMap;

use switchboard_http::Secret;

use crate::document::{Node, Value};
use crate::error::{ConfigError, ConfigErrorKind};
use crate::expand::{TextPiece, parse_references};
use crate::field_reader::{
    FieldError, FieldReader, field_error, milliseconds, mismatch, secrets, text, texts,
};
use crate::headers_helper::HeadersHelperConfig;
use crate::oauth::{EnterpriseConfig, GrantConfig, OAuthConfig, ResourceConfig};
use crate::warning::Warning;

/// Reads the `oauth` block, with warnings about its unknown fields.
pub(crate) fn oauth(
    fields: &mut FieldReader<'_>,
) -> Result<(Option<Box<OAuthConfig>>, Vec<Warning>), ConfigError> {
    match fields.read_object("oauth", block)? {
        None => Ok((None, Vec::new())),
        Some((config, warnings)) => {
            let warnings = warnings.into_iter().map(|warning| warning.under("oauth")).collect();
            Ok((Some(Box::new(config)), warnings))
        }
    }
}

fn block(mut fields: FieldReader<'_>) -> Result<(OAuthConfig, Vec<Warning>), ConfigError> {
    let grant = match fields.is_object("grant") {
        true => fields.read_object("grant", grant_object)?,
        false => fields.read("grant", grant_name)?,
    };
    let config = OAuthConfig {
        client_id: fields.read("clientId", text)?,
        client_secret: fields.read("clientSecret", reference)?,
        client_secret_env: fields.read("clientSecretEnv", text)?,
        client_metadata_url: fields.read("clientMetadataUrl", text)?,
        callback_port: fields.read("callbackPort", port)?,
        scopes: fields.read("scopes", scopes)?.unwrap_or_default(),
        auth_server_metadata_url: fields.read("authServerMetadataUrl", text)?,
        issuer: fields.read("issuer", text)?,
        resource: fields.read("resource", resource)?,
        account: fields.read("account", text)?,
        authorize_parameters: fields.read("authorizeParameters", parameters)?.unwrap_or_default(),
        assumes_pkce: fields.read("pkce", pkce)?.unwrap_or_default(),
        grant: grant.unwrap_or_default(),
        unknown: Vec::new(),
    };
    check(&fields, &config)?;
    let (unknown, warnings) = fields.into_unknown(None);
    Ok((OAuthConfig { unknown, ..config }, warnings))
}

/// Rejects settings that contradict each other, or need another one.
fn check(fields: &FieldReader<'_>, config: &OAuthConfig) -> Result<(), ConfigError> {
    let invalid = |key: &str, what| Err(fields.error(key, ConfigErrorKind::InvalidValue { what }));
    if config.client_secret.is_some() && config.client_secret_env.is_some() {
        return invalid("clientSecret", "`clientSecretEnv` names the secret already; remove one of the two");
    }
    if config.client_id.is_some() && config.client_metadata_url.is_some() {
        return invalid("clientMetadataUrl", "`clientId` names the client already; remove one of the two");
    }
    if config.client_id.is_none() {
        let has_secret = |key| fields.has(key).then_some(key);
        if let Some(key) = has_secret("clientSecret").or_else(|| has_secret("clientSecretEnv")) {
            return invalid(key, "a secret needs the `clientId` that it belongs to");
        }
        if config.grant != GrantConfig::AuthorizationCode {
            return invalid("grant", "this grant needs a `clientId`");
        }
    }
    Ok(())
}

/// Reads a secret, which must be one reference to a variable without a default.
fn reference(node: &Node) -> Result<Secret, FieldError> {
    let written = text(node)?;
    match parse_references(&written).as_deref() {
        Ok([TextPiece::Variable { default: None, .. }]) => Ok(Secret::new(written)),
        _ => Err(field_error(
            node,
            ConfigErrorKind::InvalidValue {
                what: "a secret does not belong into a file; write a variable that has it, like ${NAME}",
            },
        )),
    }
}

fn port(node: &Node) -> Result<u16, FieldError> {
    let Value::Number(number) = &node.value else { return Err(mismatch(node, "a port number")) };
    let port = number.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0);
    port.ok_or_else(|| field_error(node, ConfigErrorKind::Range { range: "a port from 1 to 65535" }))
}

/// Reads scopes: one string with spaces, or a list.
fn scopes(node: &Node) -> Result<Vec<String>, FieldError> {
    match &node.value {
        Value::Text(text) => Ok(text.split_ascii_whitespace().map(str::to_owned).collect()),
        Value::List(_) => {
            let scopes = texts(node)?;
            match scopes.iter().position(|scope| scope.is_empty() || scope.contains(char::is_whitespace)) {
                None => Ok(scopes),
                Some(index) => {
                    let what = "each item is one scope, without spaces";
                    let error = field_error(node, ConfigErrorKind::InvalidValue { what });
                    Err(error.inside(format!("[{index}]")))
                }
            }
        }
        _ => Err(mismatch(node, "a string of scopes, or a list of strings")),
    }
}

fn resource(node: &Node) -> Result<ResourceConfig, FieldError> {
    match text(node)? {
        word if word == "omit" => Ok(ResourceConfig::Omit),
        identifier => Ok(ResourceConfig::Identifier(identifier)),
    }
}

fn parameters(node: &Node) -> Result<BTreeMap<String, String>, FieldError> {
    /// Parameters that the login sets itself; another value would break it or weaken it.
    const RESERVED: [&str; 8] = [
        "response_type",
        "client_id",
        "redirect_uri",
        "state",
        "code_challenge",
        "code_challenge_method",
        "scope",
        "resource",
    ];
    let parameters = secrets(node)?;
    if let Some(name) = parameters.keys().find(|name| RESERVED.contains(&name.as_str())) {
        let what = "the login sets this parameter itself; use the setting for it, if there is one";
        let error = field_error(node, ConfigErrorKind::InvalidValue { what });
        return Err(error.inside(format!(".{name}")));
    }
    Ok(parameters.into_iter().map(|(name, value)| (name, value.expose().to_owned())).collect())
}

fn pkce(node: &Node) -> Result<bool, FieldError> {
    match text(node)?.as_str() {
        "assume" => Ok(true),
        "require" => Ok(false),
        _ => Err(field_error(
            node,
            ConfigErrorKind::InvalidValue { what: "must be \"assume\" or \"require\"" },
        )),
    }
}

const UNKNOWN_GRANT: ConfigErrorKind = ConfigErrorKind::InvalidValue {
    what: "must be authorization-code, client-credentials, or an object with the `type` jwt-bearer or enterprise-managed",
};

fn grant_name(node: &Node) -> Result<GrantConfig, FieldError> {
    let incomplete = |what| Err(field_error(node, ConfigErrorKind::InvalidValue { what }));
    match text(node)?.as_str() {
        "authorization-code" => Ok(GrantConfig::AuthorizationCode),
        "client-credentials" => Ok(GrantConfig::ClientCredentials),
        "jwt-bearer" => {
            incomplete("this grant needs a file: write {\"type\": \"jwt-bearer\", \"assertionFile\": \"…\"}")
        }
        "enterprise-managed" => incomplete(
            "this grant needs the identity provider: write {\"type\": \"enterprise-managed\", \"tokenEndpoint\": \"…\", …}",
        ),
        _ => Err(field_error(node, UNKNOWN_GRANT)),
    }
}

fn grant_object(mut fields: FieldReader<'_>) -> Result<GrantConfig, ConfigError> {
    let word = fields.read("type", text)?;
    let grant = match word.as_deref() {
        Some("authorization-code") => GrantConfig::AuthorizationCode,
        Some("client-credentials") => GrantConfig::ClientCredentials,
        Some("jwt-bearer") => {
            GrantConfig::JwtBearer { assertion_file: required(&mut fields, "assertionFile")? }
        }
        Some("enterprise-managed") => {
            let enterprise = EnterpriseConfig {
                token_endpoint: required(&mut fields, "tokenEndpoint")?,
                client_id: required(&mut fields, "clientId")?,
                client_secret_env: fields.read("clientSecretEnv", text)?,
                id_token_file: fields.read("idTokenFile", text)?,
                id_token_env: fields.read("idTokenEnv", text)?,
                ..EnterpriseConfig::default()
            };
            if enterprise.id_token_file.is_some() == enterprise.id_token_env.is_some() {
                let what = "name the identity token by either `idTokenFile` or `idTokenEnv`";
                return Err(fields.error("type", ConfigErrorKind::InvalidValue { what }));
            }
            GrantConfig::EnterpriseManaged(Box::new(enterprise))
        }
        _ => return Err(fields.error("type", UNKNOWN_GRANT)),
    };
    // Nothing here is read by other programs, so an unknown field is a mistake.
    match fields.first_unknown() {
        Some(key) => {
            let what = "this grant has no setting of that name";
            Err(fields.error(&key, ConfigErrorKind::InvalidValue { what }))
        }
        None => Ok(grant),
    }
}

fn required(fields: &mut FieldReader<'_>, key: &'static str) -> Result<String, ConfigError> {
    let what = "it is missing, and this grant needs it";
    let found = fields.read(key, text)?.filter(|value| !value.trim().is_empty());
    found.ok_or_else(|| fields.error("", ConfigErrorKind::InvalidValue { what }).under(key))
}

/// Reads the helper: a command, or an object with one.
pub(crate) fn headers_helper(
    fields: &mut FieldReader<'_>,
) -> Result<Option<HeadersHelperConfig>, ConfigError> {
    match fields.is_object("headersHelper") {
        true => fields.read_object("headersHelper", helper_object),
        false => Ok(fields.read("headersHelper", text)?.map(HeadersHelperConfig::new)),
    }
}

fn helper_object(mut fields: FieldReader<'_>) -> Result<HeadersHelperConfig, ConfigError> {
    let command = fields.read("command", text)?;
    let what = "a helper needs a `command`";
    let command = command.ok_or_else(|| fields.error("", ConfigErrorKind::InvalidValue { what }))?;
    let helper = HeadersHelperConfig {
        env: fields.read("env", secrets)?.unwrap_or_default(),
        inherit_env: fields.read("inheritEnv", texts)?.unwrap_or_default(),
        timeout: fields.read("timeout", milliseconds)?,
        ..HeadersHelperConfig::new(command)
    };
    match fields.first_unknown() {
        Some(key) => {
            let what = "a helper has no setting of that name";
            Err(fields.error(&key, ConfigErrorKind::InvalidValue { what }))
        }
        None => Ok(helper),
    }
}
