//! What failures of authorization servers mean, and the setting that helps. The only place that knows providers.
//!
//! Codes come from error responses, callbacks and stored rejections. Texts of servers are only searched for codes: what a
//! failure means is said here.

/// What helps against a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Another option of `login`, or a setting at the authorization server.
    Setting,
    /// An administrator; the user cannot do it.
    Administrator,
    /// Another login.
    LoginAgain,
    /// Patience.
    Retry,
}

/// What a failure means and what helps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Advice {
    /// The code, as it appears in an error or its description.
    pub(crate) code: &'static str,
    pub(crate) remedy: Remedy,
    pub(crate) meaning: &'static str,
    /// What to do, with options of `switchboard login`.
    pub(crate) help: &'static str,
}

/// A provider with a habit that a user has to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Provider {
    pub(crate) name: &'static str,
    /// Hosts of its issuers; a leading dot stands for all hosts below.
    hosts: &'static [&'static str],
    pub(crate) note: &'static str,
}

const fn advice(code: &'static str, remedy: Remedy, meaning: &'static str, help: &'static str) -> Advice {
    Advice { code, remedy, meaning, help }
}

use Remedy::{Administrator, LoginAgain, Retry, Setting};

/// Failures by code; the first match counts, so special codes come before general ones.
const ADVICE: &[Advice] = &[
    advice(
        "AADSTS9010010",
        Setting,
        "Entra: the `resource` parameter does not match the requested scopes",
        "log in with --resource omit, and name the scopes in full: --scope 'api://APP_ID/.default offline_access'",
    ),
    advice(
        "AADSTS900144",
        Setting,
        "Entra: the request has no `scope`",
        "name the scopes: --scope 'api://APP_ID/.default offline_access'",
    ),
    advice(
        "AADSTS650053",
        Setting,
        "Entra: the scope does not exist at the resource; an unqualified scope is looked up at Microsoft Graph",
        "name the scope with its resource: --scope 'api://APP_ID/SCOPE offline_access'",
    ),
    advice(
        "AADSTS70011",
        Setting,
        "Entra: a scope is not valid",
        "name the scope with its resource: --scope 'api://APP_ID/SCOPE offline_access'",
    ),
    advice(
        "AADSTS50011",
        Setting,
        "Entra: the redirect URI is not registered",
        "register http://localhost:8700/callback for the platform \"Mobile and desktop applications\", and log in with \
         --callback-url http://localhost:8700/callback --port 8700",
    ),
    advice(
        "AADSTS7000218",
        Setting,
        "Entra: the application is not a public client",
        "set \"Allow public client flows\" to yes, or pass its secret: --client-secret-env NAME",
    ),
    advice(
        "AADSTS7000215",
        Setting,
        "Entra: the client secret is wrong; the id of a secret is not its value",
        "pass the value of the secret: --client-secret-env NAME",
    ),
    advice(
        "AADSTS700016",
        Setting,
        "Entra: the tenant has no application with this client id",
        "check --client-id, and that the server names the issuer of your tenant",
    ),
    advice(
        "AADSTS90094",
        Administrator,
        "Entra: an administrator has to consent",
        "ask an administrator of the tenant",
    ),
    advice(
        "AADSTS65001",
        Administrator,
        "Entra: nobody has consented to the application",
        "log in again with --authorize-param prompt=consent; if users may not consent, ask an administrator",
    ),
    advice(
        "AADSTS50105",
        Administrator,
        "Entra: you are not assigned to the application",
        "ask an administrator to assign you",
    ),
    advice(
        "AADSTS53003",
        Administrator,
        "Entra: a conditional access policy blocks the login",
        "ask an administrator which device or network the policy requires",
    ),
    advice("AADSTS700082", LoginAgain, "Entra: the refresh token was not used for too long", "log in again"),
    advice(
        "AADSTS50173",
        LoginAgain,
        "Entra: the grant ended, for example by a new password",
        "log in again",
    ),
    advice(
        "admin_policy_enforced",
        Administrator,
        "Google: the administrator of your organization blocks this application or scope",
        "ask the administrator to allow the client id",
    ),
    advice(
        "org_internal",
        Administrator,
        "Google: the client is only for users of its own organization",
        "log in with an account of that organization, or use a client of your own: --client-id",
    ),
    advice(
        "device_flow_disabled",
        Setting,
        "GitHub: the application does not allow logins by device code",
        "enable the device flow in its settings, or log in without --device",
    ),
    advice(
        "incorrect_client_credentials",
        Setting,
        "GitHub: client id and secret do not match",
        "check --client-id and --client-secret-env",
    ),
    advice(
        "bad_redirect_uri",
        Setting,
        "Slack: the redirect URI is not listed in the application",
        "add it under \"OAuth & Permissions\"; Slack wants https: --callback-url with a tunnel",
    ),
    advice(
        "invalid_team_for_non_distributed_app",
        Administrator,
        "Slack: the application is not installed in this workspace",
        "log in to the workspace of the application, or ask an administrator to install it",
    ),
    advice(
        "Service not found",
        Setting,
        "Auth0: no API has the value of `resource` as its identifier",
        "create an API with that identifier, or name one: --resource URL",
    ),
    advice(
        "too_many_entities",
        Administrator,
        "Auth0: the tenant has too many registered clients",
        "use one client for all: --client-id ID",
    ),
    advice(
        "Policy evaluation failed",
        Administrator,
        "Okta: no access policy of the authorization server allows this client, user and scope",
        "ask an administrator to add a rule for them",
    ),
    advice(
        "redirect_uri_mismatch",
        Setting,
        "the redirect URI is not registered for this client",
        "register the redirect URI of the login at the authorization server; --port keeps its port the same",
    ),
    advice(
        "invalid_redirect_uri",
        Setting,
        "the authorization server does not accept the redirect URI",
        "use one that it accepts: --port N for a fixed port, --callback-url URL for https",
    ),
    advice(
        "invalid_target",
        Setting,
        "the authorization server does not know the `resource`",
        "name the one it knows, or leave it out: --resource URL, --resource omit",
    ),
    advice(
        "invalid_scope",
        Setting,
        "the authorization server does not grant these scopes",
        "name the ones it grants: --scope '…'",
    ),
    advice(
        "unauthorized_client",
        Setting,
        "the client may not use this kind of login",
        "allow the authorization code, refresh and device grants for the client at the authorization server",
    ),
    advice(
        "unsupported_grant_type",
        Setting,
        "the authorization server does not support this kind of login",
        "log in without --device",
    ),
    advice(
        "invalid_client",
        Setting,
        "the authorization server does not know the client, or its secret is wrong",
        "log out and log in again to register anew; for a client of your own check --client-id and --client-secret-env",
    ),
    advice(
        "consent_required",
        LoginAgain,
        "the user has to consent again",
        "log in again with --authorize-param prompt=consent",
    ),
    advice(
        "interaction_required",
        LoginAgain,
        "the authorization server wants the user back",
        "log in again",
    ),
    advice("login_required", LoginAgain, "the session at the authorization server has ended", "log in again"),
    advice(
        "invalid_grant",
        LoginAgain,
        "the authorization server no longer accepts the refresh token or code: it was revoked, used or has expired",
        "log in again",
    ),
    advice(
        "access_denied",
        Administrator,
        "the user or a policy denied the login",
        "log in again and allow it; if you did, ask an administrator",
    ),
    advice("temporarily_unavailable", Retry, "the authorization server is overloaded", "try again later"),
    advice("server_error", Retry, "the authorization server failed", "try again later"),
];

/// Providers by the host of their issuer.
const PROVIDERS: &[Provider] = &[
    Provider {
        name: "Microsoft Entra",
        hosts: &[
            "login.microsoftonline.com",
            "login.microsoftonline.us",
            ".ciamlogin.com",
            "sts.windows.net",
        ],
        note: "it registers no clients: register an application with the redirect URI http://localhost:8700/callback, and log \
               in with --client-id ID --resource omit --scope 'api://APP_ID/.default offline_access' --callback-url \
               http://localhost:8700/callback --port 8700",
    },
    Provider {
        name: "Google",
        hosts: &["accounts.google.com"],
        note: "it registers no clients: create a client of the type \"Desktop app\", and log in with --client-id ID \
               --client-secret-env NAME --authorize-param access_type=offline",
    },
    Provider {
        name: "GitHub",
        hosts: &["github.com", ".github.com"],
        note: "it registers no clients: create an OAuth app, and log in with --client-id ID --client-secret-env NAME --port N \
               for the port of its callback URL",
    },
    Provider {
        name: "Slack",
        hosts: &["slack.com", ".slack.com"],
        note: "it registers no clients and redirects only to https: create an app, and log in with --client-id ID \
               --client-secret-env NAME --callback-url https://… --port N",
    },
    Provider {
        name: "Okta",
        hosts: &[".okta.com", ".oktapreview.com", ".okta-emea.com"],
        note: "dynamic registration needs a token of an administrator: create a native application, and log in with \
               --client-id ID; an access policy has to allow it",
    },
    Provider {
        name: "Auth0",
        hosts: &[".auth0.com"],
        note: "`resource` has to be the identifier of an API of the tenant; dynamic registration is off unless an administrator \
               enables it: then --client-id ID",
    },
    Provider {
        name: "Atlassian",
        hosts: &["auth.atlassian.com", ".atlassian.com"],
        note: "an administrator of the site may have to allow the domain of the client before the first login",
    },
];

/// Returns what a failure means, by the first known code in these texts of a server.
pub(crate) fn explain_failure(texts: &[&str]) -> Option<&'static Advice> {
    ADVICE.iter().find(|advice| texts.iter().any(|text| contains_word(text, advice.code)))
}

/// Returns the provider of an issuer.
pub(crate) fn provider_of(issuer: &str) -> Option<&'static Provider> {
    let host = issuer.split_once("://").map_or(issuer, |(_, rest)| rest);
    let host = host.split(['/', ':', '?']).next().unwrap_or_default().to_ascii_lowercase();
    let is_match = |pattern: &&str| match pattern.starts_with('.') {
        true => host.ends_with(*pattern),
        false => host == **pattern,
    };
    PROVIDERS.iter().find(|provider| provider.hosts.iter().any(is_match))
}

/// Returns whether a code stands in a text, not as a part of a longer word.
fn contains_word(text: &str, code: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(code).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + code.len()..]);
        !before.ends_with(is_word) && !after.starts_with(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_special_code_of_an_answer_counts() {
        let explain = |texts: &[&str]| explain_failure(texts).map(|advice| (advice.code, advice.remedy));
        assert_eq!(
            explain(&[
                "invalid_target",
                "AADSTS9010010: The resource parameter provided does not match the scopes"
            ]),
            Some(("AADSTS9010010", Setting))
        );
        assert_eq!(
            explain(&["invalid_grant (AADSTS50105: not assigned)"]),
            Some(("AADSTS50105", Administrator))
        );
        assert_eq!(explain(&["invalid_grant"]), Some(("invalid_grant", LoginAgain)));
        // A longer code is another one.
        assert_eq!(explain(&["AADSTS900144999"]), None);
        assert_eq!(explain(&["AADSTS9001"]), None);
        assert_eq!(explain(&["all is well"]), None);
    }

    #[test]
    fn no_code_hides_a_later_one() {
        for (at, advice) in ADVICE.iter().enumerate() {
            assert_eq!(explain_failure(&[advice.code]).map(|found| found.code), Some(advice.code), "{at}");
        }
    }

    #[test]
    fn providers_are_known_by_the_host_of_their_issuer() {
        let name = |issuer| provider_of(issuer).map(|provider| provider.name);
        assert_eq!(name("https://login.microsoftonline.com/TENANT/v2.0"), Some("Microsoft Entra"));
        assert_eq!(name("https://accounts.google.com"), Some("Google"));
        assert_eq!(name("https://dev-1.eu.auth0.com/"), Some("Auth0"));
        assert_eq!(name("https://ACME.okta.com:443/oauth2/default"), Some("Okta"));
        for other in
            ["https://auth0.com.evil.example", "https://evilokta.com", "https://as.example/?h=.okta.com"]
        {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn every_code_and_provider_is_in_the_documentation() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/login.md");
        let text = std::fs::read_to_string(path).unwrap();
        for name in
            ADVICE.iter().map(|advice| advice.code).chain(PROVIDERS.iter().map(|provider| provider.name))
        {
            assert!(text.contains(name), "{name} is not in docs/login.md");
        }
    }
}
