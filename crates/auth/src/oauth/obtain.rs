//! From a challenge to a grant: discovery, registration, authorization, token.

use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use switchboard_http::{Address, Challenge, Secret};

use crate::authorization::{AuthorizationParameters, AuthorizationRequest};
use crate::client_auth::OAuthClient;
use crate::device::DEVICE_CODE;
use crate::discovery::{Discovery, DiscoveryOverrides, discover};
use crate::dpop::{DpopBinding, DpopKey};
use crate::error::{AuthError, CallbackError};
use crate::fetch::Fetcher;
use crate::form::Form;
use crate::oauth::demand::{DemandKind, TokenDemand};
use crate::oauth::grants;
use crate::oauth::login_channel::LoginChannel;
use crate::oauth::options::{DpopPolicy, GrantMethod, OAuthOptions, PkcePolicy, ResourceParameter};
use crate::registration::{self, NO_REDIRECT, Registration, RegistrationRequest};
use crate::scope::{self, ScopeChoices, Scopes};
use crate::sizes::{MAX_SCOPES, check_size};
use crate::store::{Grant, GrantKey, GrantState, ServerAccount, StoredClient, TokenStore};
use crate::token::{TokenEndpoint, TokenKind, TokenResponse};

/// What obtaining a grant needs.
pub(super) struct Obtainer<'a> {
    pub(super) server: &'a Address,
    pub(super) account: &'a ServerAccount,
    pub(super) options: &'a OAuthOptions,
    pub(super) fetcher: &'a Fetcher,
    pub(super) store: &'a dyn TokenStore,
    pub(super) channel: Option<&'a dyn LoginChannel>,
}

/// A client, and where it comes from.
pub(super) struct ChosenClient {
    pub(super) client: OAuthClient,
    pub(super) source: ClientSource,
}

/// Where a client comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientSource {
    /// The configuration.
    Configured,
    /// A metadata document, whose URL is its id.
    Document,
    /// The store: the server may have forgotten it.
    Stored,
    /// A registration just now.
    Registered,
}

impl Obtainer<'_> {
    /// Finds the authorization server.
    pub(super) async fn discover(&self, challenges: &[Challenge]) -> Result<Discovery, AuthError> {
        let overrides = DiscoveryOverrides { server_metadata_url: self.options.server_metadata_url.clone() };
        discover(self.fetcher, self.server, challenges, &overrides).await
    }

    /// Obtains a grant with the configured method.
    pub(super) async fn obtain(&self, demand: &TokenDemand) -> Result<(GrantKey, Grant), AuthError> {
        let channel = self.login_channel()?;
        let discovery = self.discover(&demand.challenges).await?;
        self.check_preset_issuer(&discovery).await?;
        let mut choices = self.scope_choices(&discovery, demand)?;
        let dpop = self.dpop_binding(&discovery, demand);
        loop {
            let scopes = &choices.current;
            let outcome = match channel {
                Some(channel) => self.log_in(&discovery, scopes, dpop.as_ref(), channel).await,
                None => self.obtain_without_user(&discovery, scopes, dpop.as_ref()).await,
            };
            if !choices.advance_after(&outcome) {
                return outcome;
            }
        }
    }

    /// Refuses to use a client that was registered by hand at another issuer than that of its first grant: its secret, or
    /// the token of a workload, must not go to whichever issuer a server names.
    pub(super) async fn check_preset_issuer(&self, discovery: &Discovery) -> Result<(), AuthError> {
        let Registration::Preset(client) = &self.options.registration else { return Ok(()) };
        let pinned = match &self.options.issuer {
            Some(issuer) => Some(issuer.clone()),
            None => {
                let stored = self.store.find(self.account).await?;
                stored.filter(|stored| stored.key.client_id == client.id).map(|stored| stored.key.issuer)
            }
        };
        match pinned {
            Some(expected) if expected != discovery.server.issuer => {
                Err(AuthError::IssuerChanged { expected, found: discovery.server.issuer.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Returns how the user logs in; `None` if the grant needs no user.
    fn login_channel(&self) -> Result<Option<&dyn LoginChannel>, AuthError> {
        match (&self.options.grant, self.channel) {
            (GrantMethod::AuthorizationCode, Some(channel)) => Ok(Some(channel)),
            (GrantMethod::AuthorizationCode, None) => Err(AuthError::NeedsLogin),
            _ => Ok(None),
        }
    }

    /// Returns the scopes to request, and those to fall back to.
    pub(super) fn scope_choices(
        &self,
        discovery: &Discovery,
        demand: &TokenDemand,
    ) -> Result<ScopeChoices, AuthError> {
        let challenged = scope::challenged_scopes(&demand.challenges);
        let chosen = scope::choose(
            self.options.scopes.as_ref(),
            challenged.as_ref(),
            discovery.resource_metadata.as_ref(),
            &discovery.server,
        );
        let previous = demand.previous_scopes.union(&challenged.clone().unwrap_or_default());
        let first = match demand.kind {
            DemandKind::Login => chosen,
            DemandKind::StepUp => previous.union(&chosen),
            // Not what is listed now: the grant is to stay what it is.
            DemandKind::Renewal => previous,
        };
        check_size("list of scopes", &first.to_string(), MAX_SCOPES)?;
        Ok(match &self.options.scopes {
            // What the user has configured is not replaced.
            Some(_) => ScopeChoices::only(first),
            None => ScopeChoices::new(first, challenged),
        })
    }

    /// Returns the key for new tokens, if they are to be bound to one.
    pub(super) fn dpop_binding(&self, discovery: &Discovery, demand: &TokenDemand) -> Option<DpopBinding> {
        let metadata = discovery.resource_metadata.as_ref();
        let has = |scheme: &str| {
            demand.challenges.iter().any(|challenge| challenge.scheme.eq_ignore_ascii_case(scheme))
        };
        let is_required = self.options.dpop == DpopPolicy::Always
            || demand.had_key
            || metadata.is_some_and(|metadata| metadata.dpop_bound_access_tokens_required)
            || (has("dpop") && !has("bearer"));
        let is_wanted = is_required || has("dpop");
        (is_wanted && self.options.dpop != DpopPolicy::Never)
            .then(|| DpopBinding { key: DpopKey::generate(), is_required })
    }

    /// Returns the value of `resource` in requests.
    pub(super) fn resource<'a>(&'a self, discovery: &'a Discovery) -> Option<&'a str> {
        match &self.options.resource {
            ResourceParameter::Discovered => Some(&discovery.resource),
            ResourceParameter::Omit => None,
            ResourceParameter::Value(value) => Some(value),
        }
    }

    /// Runs the authorization code flow, and once more where that helps: a stored client that the server no longer knows is
    /// registered anew; for a client with a metadata document whose redirect URI is refused the port is the fixed one.
    async fn log_in(
        &self,
        discovery: &Discovery,
        scopes: &Scopes,
        dpop: Option<&DpopBinding>,
        channel: &dyn LoginChannel,
    ) -> Result<(GrantKey, Grant), AuthError> {
        if !discovery.server.supports_s256() && self.options.pkce == PkcePolicy::Require {
            return Err(AuthError::PkceUnsupported { issuer: discovery.server.issuer.clone() });
        }
        let mut callback = channel.begin().await?;
        let mut is_retry = false;
        loop {
            let redirect_uri = callback.redirect_uri().to_owned();
            let chosen = self.client(discovery, Some(&redirect_uri), scopes).await?;
            let request =
                self.authorization_request(discovery, &chosen.client, &redirect_uri, scopes, dpop)?;
            let outcome = async {
                let callback = callback.authorize(request.url()).await?;
                let code = request.check_callback(&callback)?;
                self.redeem(discovery, &chosen.client, &request, &code, scopes, dpop).await
            };
            match outcome.await {
                Ok(response) => {
                    return Ok(self.grant(discovery, chosen.client, scopes.clone(), dpop, response));
                }
                Err(error) if is_retry => return Err(error),
                Err(error) if chosen.source == ClientSource::Stored && is_unknown_client(&error) => {
                    self.store.set_client(&discovery.server.issuer, &redirect_uri, None).await?;
                    callback = channel.begin().await?;
                }
                Err(error)
                    if chosen.source == ClientSource::Document && error.code() == Some("invalid_request") =>
                {
                    callback = channel.begin_at_fixed_port().await?.ok_or(error)?;
                }
                Err(error) => return Err(error),
            }
            is_retry = true;
        }
    }

    fn authorization_request(
        &self,
        discovery: &Discovery,
        client: &OAuthClient,
        redirect_uri: &str,
        scopes: &Scopes,
        dpop: Option<&DpopBinding>,
    ) -> Result<AuthorizationRequest, AuthError> {
        let server = &discovery.server;
        let endpoint = server.authorization_endpoint.as_deref().ok_or_else(|| AuthError::NoEndpoint {
            issuer: server.issuer.clone(),
            endpoint: "authorization endpoint",
        })?;
        // A browser opens it, so it must not be a script or a file either.
        self.fetcher.check("authorization endpoint", endpoint)?;
        let thumbprint = dpop.map(|binding| binding.key.thumbprint());
        let parameters = AuthorizationParameters {
            client_id: &client.id,
            redirect_uri,
            scopes,
            resource: self.resource(discovery),
            extra: &self.options.authorize_parameters,
            dpop_thumbprint: thumbprint.as_deref(),
        };
        Ok(AuthorizationRequest::new(server, endpoint, &parameters))
    }

    /// Exchanges the code of a callback for a token.
    async fn redeem(
        &self,
        discovery: &Discovery,
        client: &OAuthClient,
        request: &AuthorizationRequest,
        code: &Secret,
        scopes: &Scopes,
        dpop: Option<&DpopBinding>,
    ) -> Result<TokenResponse, AuthError> {
        let mut form = Form::default();
        form.add("grant_type", "authorization_code");
        form.add("code", code.expose());
        form.add("redirect_uri", request.redirect_uri());
        form.add("code_verifier", request.verifier().expose());
        form.add_optional("scope", Some(&scopes.to_string()));
        form.add_optional("resource", self.resource(discovery));
        self.endpoint(discovery, client, dpop).request(form).await
    }

    /// Obtains a grant that needs no user.
    async fn obtain_without_user(
        &self,
        discovery: &Discovery,
        scopes: &Scopes,
        dpop: Option<&DpopBinding>,
    ) -> Result<(GrantKey, Grant), AuthError> {
        let anonymous = OAuthClient::anonymous();
        let client = match (&self.options.registration, &self.options.grant) {
            (Registration::Preset(client), _) => client,
            (Registration::Automatic { .. }, GrantMethod::JwtBearer(_)) => &anonymous,
            (Registration::Automatic { .. }, _) => {
                return Err(AuthError::NeedsClientRegistration {
                    issuer: discovery.server.issuer.clone(),
                    redirect_uri: NO_REDIRECT.to_owned(),
                });
            }
        };
        let endpoint = self.endpoint(discovery, client, dpop);
        let resource = self.resource(discovery);
        let response = match &self.options.grant {
            GrantMethod::AuthorizationCode => return Err(AuthError::NeedsLogin),
            GrantMethod::ClientCredentials => grants::client_credentials(&endpoint, scopes, resource).await?,
            GrantMethod::JwtBearer(source) => {
                grants::jwt_bearer(&endpoint, source.read()?.expose(), scopes, resource).await?
            }
            GrantMethod::EnterpriseManaged(idp) => {
                let (issuer, target) = (&discovery.server.issuer, &discovery.resource);
                let jag = grants::identity_assertion(self.fetcher, idp, issuer, target, scopes).await?;
                let granted = jag.scopes.as_ref().unwrap_or(scopes);
                grants::jwt_bearer(&endpoint, jag.access_token.expose(), granted, resource)
                    .await
                    .map_err(grants::denied)?
            }
        };
        Ok(self.grant(discovery, client.clone(), scopes.clone(), dpop, response))
    }

    pub(super) fn endpoint<'a>(
        &'a self,
        discovery: &'a Discovery,
        client: &'a OAuthClient,
        dpop: Option<&'a DpopBinding>,
    ) -> TokenEndpoint<'a> {
        TokenEndpoint {
            fetcher: self.fetcher,
            server: &discovery.server,
            client,
            dpop: dpop.map(|binding| &binding.key),
            is_dpop_required: dpop.is_some_and(|binding| binding.is_required),
        }
    }

    /// Chooses the client: configured, by metadata document, stored, or registered now.
    pub(super) async fn client(
        &self,
        discovery: &Discovery,
        redirect_uri: Option<&str>,
        scopes: &Scopes,
    ) -> Result<ChosenClient, AuthError> {
        let server = &discovery.server;
        let (metadata_document, client_name) = match &self.options.registration {
            Registration::Preset(client) => {
                return Ok(ChosenClient { client: client.clone(), source: ClientSource::Configured });
            }
            Registration::Automatic { metadata_document, client_name } => (metadata_document, client_name),
        };
        if let Some(url) = metadata_document
            && registration::accepts_metadata_document(server, Some(url))
        {
            return Ok(ChosenClient { client: OAuthClient::public(url), source: ClientSource::Document });
        }
        let rejected = self.store.find(self.account).await?.filter(|stored| stored.grant.needs_login());
        let is_rejected = |id: &str| rejected.as_ref().is_some_and(|grant| grant.key.client_id == id);
        // A client for the device grant is kept under the name of the grant.
        let kept_under = redirect_uri.unwrap_or(DEVICE_CODE);
        let stored = self.store.client(&server.issuer, kept_under).await?;
        let registered_for = match stored {
            Some(stored) if is_rejected(&stored.id) => scopes.clone(),
            Some(stored) if stored.allows(scopes) => {
                return Ok(ChosenClient { client: stored.to_client(), source: ClientSource::Stored });
            }
            Some(stored) => stored.scopes.union(scopes),
            None => scopes.clone(),
        };
        let request = RegistrationRequest { client_name, redirect_uri, scopes: &registered_for };
        let client = registration::register(self.fetcher, server, &request).await?;
        let stored =
            StoredClient::of(&client).map(|stored| StoredClient { scopes: registered_for, ..stored });
        self.store.set_client(&server.issuer, kept_under, stored).await?;
        Ok(ChosenClient { client, source: ClientSource::Registered })
    }

    pub(super) fn grant(
        &self,
        discovery: &Discovery,
        client: OAuthClient,
        scopes: Scopes,
        dpop: Option<&DpopBinding>,
        response: TokenResponse,
    ) -> (GrantKey, Grant) {
        let key = GrantKey {
            issuer: discovery.server.issuer.clone(),
            resource: discovery.resource.clone(),
            client_id: client.id.clone(),
            account: self.options.account.clone(),
        };
        let stored_client = StoredClient::of(&client).unwrap_or_else(|| StoredClient {
            id: client.id.clone(),
            secret: None,
            placement: None,
            scopes: Scopes::default(),
        });
        // A bearer token is sent without proofs.
        let dpop_key = dpop.map(|binding| &binding.key).filter(|_| response.kind == TokenKind::Dpop);
        let grant = Grant {
            server: self.server.as_str().to_owned(),
            access_token: response.access_token,
            kind: response.kind,
            obtained_at: SystemTime::now(),
            expires_at: response.expires_at,
            refresh_token: response.refresh_token,
            requested_scopes: scopes,
            granted_scopes: response.scopes,
            resource_parameter: self.resource(discovery).map(str::to_owned),
            client: stored_client,
            token_endpoint: discovery.server.token_endpoint.clone().unwrap_or_default(),
            revocation_endpoint: discovery.server.revocation_endpoint.clone(),
            auth_methods: discovery.server.token_endpoint_auth_methods_supported.clone(),
            dpop_key: dpop_key.map(|key| Secret::new(STANDARD.encode(key.pkcs8()))),
            state: GrantState::Active,
        };
        (key, grant)
    }
}

/// Returns whether the server does not know the client, by its error at either endpoint.
pub(super) fn is_unknown_client(error: &AuthError) -> bool {
    let code = match error {
        AuthError::Endpoint { error, .. } => &error.code,
        AuthError::Callback(CallbackError::Denied(error)) => &error.code,
        _ => return false,
    };
    matches!(code.as_str(), "invalid_client" | "unauthorized_client")
}
