//! Tokens: families that rotate and are revoked when an old refresh token is presented.

use serde_json::json;
use switchboard_testkit::http_response;

use super::code_flow::objection;
use super::{JSON, Received, Shared, error_response, json_response};

/// How a refresh is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenBehavior {
    /// The refresh token stays valid and is not repeated.
    WithoutRefreshToken,
    WithoutExpiry,
    /// Waits for [`AuthorizationServer::release`], rotates, and issues an access token that the MCP server refuses.
    StallAndIssueUnusable,
    /// Waits for [`AuthorizationServer::release`], and rotates then.
    StallBeforeRotation,
    /// Rotates, and waits for [`AuthorizationServer::release`] to answer.
    StallAfterRotation,
    /// Waits for [`AuthorizationServer::release`], and rejects the token then.
    StallAndReject,
    /// Rejects the token.
    Reject,
    /// Does not rotate, and answers with a page.
    Page(&'static str),
    /// Does not rotate, and answers with an OAuth error.
    Error(&'static str),
    /// Does not rotate, and answers with an OAuth error as if it were a token.
    ErrorWithStatus200(&'static str),
    /// Rotates, and answers with bytes that are no JSON.
    UnreadableAnswer,
}

/// The tokens of one login: `a0-3` and `r0-3` are those of login 0 after 3 refreshes.
#[derive(Default)]
pub(super) struct Family {
    pub(super) refresh_serial: usize,
    access_serial: usize,
    is_revoked: bool,
    pub(super) is_access_expired: bool,
}

impl Family {
    pub(super) fn access_token(&self, number: usize) -> String {
        format!("a{number}-{}", self.access_serial)
    }

    pub(super) fn accepts_access(&self) -> bool {
        !self.is_revoked && !self.is_access_expired
    }
}

impl Shared {
    pub(super) async fn refresh(&self, request: &Received) -> Vec<u8> {
        let token = request.parameter("refresh_token");
        let behavior = {
            let mut state = self.state();
            if let Some((code, description)) = objection(&state, request) {
                return error_response(code, Some(description));
            }
            state.presented.push(token.to_owned());
            state.behaviors.pop_front()
        };
        match behavior {
            None => self.rotate(token),
            Some(TokenBehavior::WithoutExpiry) => self.renew(token, true, false),
            Some(TokenBehavior::WithoutRefreshToken) => self.renew(token, false, true),
            Some(TokenBehavior::StallBeforeRotation) => {
                self.stall().await;
                self.rotate(token)
            }
            Some(TokenBehavior::StallAndIssueUnusable) => {
                self.stall().await;
                let answer = self.rotate(token);
                self.state().expire();
                answer
            }
            Some(TokenBehavior::StallAfterRotation) => {
                let answer = self.rotate(token);
                self.stall().await;
                answer
            }
            Some(TokenBehavior::StallAndReject) => {
                self.stall().await;
                rejection()
            }
            Some(TokenBehavior::Reject) => rejection(),
            Some(TokenBehavior::Page(status)) => {
                http_response(status, &["content-type: text/html"], "<html>sorry</html>")
            }
            Some(TokenBehavior::Error(code)) => error_response(code, None),
            Some(TokenBehavior::ErrorWithStatus200(code)) => {
                json_response("200 OK", &json!({ "error": code }), "")
            }
            Some(TokenBehavior::UnreadableAnswer) => {
                self.rotate(token);
                http_response("200 OK", &[JSON], "<html>sorry</html>")
            }
        }
    }

    pub(super) async fn stall(&self) {
        let mut released = self.released.subscribe();
        let before = *released.borrow();
        self.stalled.send_modify(|stalled| *stalled += 1);
        released.wait_for(|released| *released > before).await.unwrap();
    }

    fn rotate(&self, token: &str) -> Vec<u8> {
        self.renew(token, true, true)
    }

    fn renew(&self, token: &str, rotates: bool, has_expiry: bool) -> Vec<u8> {
        let mut state = self.state();
        let parsed = token.strip_prefix('r').and_then(|rest| rest.split_once('-'));
        let parsed = parsed.and_then(|(number, serial)| Some((number.parse().ok()?, serial.parse().ok()?)));
        let Some((number, serial)): Option<(usize, usize)> = parsed else { return rejection() };
        let Some(family) = state.families.get_mut(number) else { return rejection() };
        if family.refresh_serial != serial {
            family.is_revoked = true;
            state.reuses += 1;
            return rejection();
        }
        if family.is_revoked {
            return rejection();
        }
        family.access_serial += 1;
        family.is_access_expired = false;
        if rotates {
            family.refresh_serial += 1;
        }
        state.refreshes += 1;
        token_answer(number, &state.families[number], rotates, has_expiry)
    }
}

pub(super) fn token_answer(
    number: usize,
    family: &Family,
    has_refresh_token: bool,
    has_expiry: bool,
) -> Vec<u8> {
    let mut answer = json!({"access_token": family.access_token(number), "token_type": "Bearer"});
    if has_refresh_token {
        answer["refresh_token"] = json!(format!("r{number}-{}", family.refresh_serial));
    }
    if has_expiry {
        answer["expires_in"] = json!(3600);
    }
    json_response("200 OK", &answer, "")
}

fn rejection() -> Vec<u8> {
    error_response("invalid_grant", Some("the refresh token is not valid"))
}
