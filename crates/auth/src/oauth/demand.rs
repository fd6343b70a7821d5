//! Why a token is obtained, and what the new grant takes over from the old one.

use switchboard_http::Challenge;

use crate::scope::Scopes;
use crate::store::Grant;

/// Why a token is obtained.
#[derive(Debug, Clone)]
pub(super) struct TokenDemand {
    pub(super) challenges: Vec<Challenge>,
    pub(super) kind: DemandKind,
    /// The scopes of the grant that is replaced.
    pub(super) previous_scopes: Scopes,
    /// Whether the tokens of that grant are bound to a key.
    pub(super) had_key: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DemandKind {
    /// There is no token, or it cannot be refreshed.
    Login,
    /// The scopes of the token do not suffice.
    StepUp,
    /// A token that needs no user expires.
    Renewal,
}

impl TokenDemand {
    /// Returns the demand of a response without a usable token.
    pub(super) fn login(challenges: &[Challenge]) -> Self {
        Self {
            challenges: challenges.to_vec(),
            kind: DemandKind::Login,
            previous_scopes: Scopes::default(),
            had_key: false,
        }
    }

    /// Returns the demand of a response that asks for more scopes.
    pub(super) fn step_up(grant: &Grant, challenges: &[Challenge]) -> Self {
        Self::replacement(DemandKind::StepUp, grant, challenges)
    }

    /// Returns the demand of a token that expires.
    pub(super) fn renewal(grant: &Grant, challenges: &[Challenge]) -> Self {
        Self::replacement(DemandKind::Renewal, grant, challenges)
    }

    fn replacement(kind: DemandKind, grant: &Grant, challenges: &[Challenge]) -> Self {
        Self {
            challenges: challenges.to_vec(),
            kind,
            previous_scopes: grant.requested_scopes.clone(),
            had_key: grant.dpop_key.is_some(),
        }
    }
}
