//! Registration, authorization endpoint and redemption of codes.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use switchboard_testkit::http_response;

use super::families::{Family, token_answer};
use super::{Fault, Received, Shared, State, error_response, json_response};

/// A code that was issued, and what it is bound to.
pub(super) struct IssuedCode {
    client_id: String,
    redirect_uri: String,
    challenge: String,
    is_redeemed: bool,
}

impl Shared {
    pub(super) fn register(&self) -> Vec<u8> {
        let mut state = self.state();
        state.clients += 1;
        let client = json!({
            "client_id": format!("client-{}", state.clients), "token_endpoint_auth_method": "none",
        });
        json_response("201 Created", &client, "")
    }

    /// Answers an authorization request as if the user agreed at once.
    pub(super) fn authorize(&self, request: &Received) -> Vec<u8> {
        let mut state = self.state();
        let redirect_uri = request.parameter("redirect_uri").to_owned();
        let outcome = match objection(&state, request) {
            Some((code, description)) => format!("error={code}&error_description={description}"),
            None => {
                state.codes.push(IssuedCode {
                    client_id: request.client_id(),
                    redirect_uri: redirect_uri.clone(),
                    challenge: request.parameter("code_challenge").to_owned(),
                    is_redeemed: false,
                });
                format!("code=c{}", state.codes.len() - 1)
            }
        };
        let issuer = state.fault(Fault::callback_issuer).map(|issuer| {
            let issuer = issuer.replace("{origin}", &request.origin);
            format!("&iss={}", form_urlencoded::byte_serialize(issuer.as_bytes()).collect::<String>())
        });
        let location = format!(
            "location: {redirect_uri}?{outcome}&state={}{}",
            request.parameter("state"),
            issuer.unwrap_or_default()
        );
        http_response("302 Found", &[&location], "")
    }

    /// Exchanges a code for the tokens of a new family.
    pub(super) fn redeem(&self, request: &Received) -> Vec<u8> {
        let mut state = self.state();
        if let Some((code, description)) = objection(&state, request) {
            return error_response(code, Some(description));
        }
        let number = request.parameter("code").strip_prefix('c').and_then(|number| number.parse().ok());
        let code = number.and_then(|number: usize| state.codes.get_mut(number));
        let Some(code) = code.filter(|code| code.is_bound_to(request) && !code.is_redeemed) else {
            return error_response("invalid_grant", None);
        };
        code.is_redeemed = true;
        start_family(&mut state)
    }

    /// Exchanges the assertion of an identity provider for the tokens of a new family.
    pub(super) fn accept_assertion(&self, request: &Received) -> Vec<u8> {
        let mut state = self.state();
        match objection(&state, request) {
            Some((code, description)) => error_response(code, Some(description)),
            None => start_family(&mut state),
        }
    }
}

fn start_family(state: &mut State) -> Vec<u8> {
    state.families.push(Family::default());
    let number = state.families.len() - 1;
    token_answer(number, &state.families[number], true, true)
}

impl IssuedCode {
    fn is_bound_to(&self, request: &Received) -> bool {
        let hash = digest(&SHA256, request.parameter("code_verifier").as_bytes());
        self.client_id == request.client_id()
            && self.redirect_uri == request.parameter("redirect_uri")
            && self.challenge == URL_SAFE_NO_PAD.encode(hash)
    }
}

/// Returns the error with which a fault answers a request to either endpoint.
pub(super) fn objection(state: &State, request: &Received) -> Option<(&'static str, &'static str)> {
    let scope = request.parameter("scope");
    state.fault(|fault| match fault {
        Fault::GrantsOnly(granted) if !scope.split_whitespace().all(|one| granted.contains(&one)) => {
            Some(("invalid_scope", "not+granted"))
        }
        Fault::RejectsResource if request.parameters.contains_key("resource") => {
            Some(("invalid_target", "AADSTS9010010"))
        }
        Fault::RequiresScope if scope.is_empty() => Some(("invalid_request", "AADSTS900144")),
        Fault::UnknownClientAt(path) if *path == request.path => Some(("invalid_client", "unknown")),
        Fault::ComparesRedirect(document) => {
            let document: Value = serde_json::from_str(document).unwrap();
            let listed = document["redirect_uris"].as_array().unwrap();
            let sent = request.parameters.get("redirect_uri");
            let is_listed = sent.is_none_or(|sent| listed.iter().any(|uri| uri == sent));
            (!is_listed).then_some(("invalid_request", "redirect_uri"))
        }
        _ => None,
    })
}
