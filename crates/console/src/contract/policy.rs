//! The policy: rules, denials, test decisions.

use serde::{Deserialize, Serialize};

use crate::contract::{JsonText, UnixMs};

/// `GET /api/policy`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicySnapshot {
    /// Where the rules are from: a file, or the permissions of the configuration.
    pub source: String,
    pub default_effect: DefaultEffect,
    pub rules: Vec<PolicyRule>,
    pub warnings: Vec<String>,
    pub denials: Vec<Denial>,
}

/// What happens to a call that no rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DefaultEffect {
    Allow,
    Deny,
    Ask,
}

/// A rule of the policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyRule {
    /// From 1.
    pub index: u64,
    pub name: Option<String>,
    pub effect: String,
    pub rule_json: JsonText,
    /// The rule has matched nothing since the start.
    pub unused: bool,
}

/// A call that was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Denial {
    pub at_ms: UnixMs,
    pub principal: Option<String>,
    pub server: Option<String>,
    pub kind: String,
    pub name: String,
    pub outcome: DenialOutcome,
    pub rule: Option<String>,
    pub reason: String,
}

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DenialOutcome {
    Denied,
    MissingScope,
    RateLimited,
}

/// `POST /api/policy/test`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyTest {
    pub principal: Option<String>,
    pub issuer: Option<String>,
    pub scopes: Vec<String>,
    pub view: Option<String>,
    pub server: String,
    pub kind: String,
    pub name: String,
    pub arguments_json: Option<JsonText>,
}

/// What the policy decides about a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyDecision {
    pub decision: PolicyVerdict,
    pub sentence: String,
    /// From 1; null if the default decided.
    pub rule: Option<u64>,
    pub scopes: Vec<String>,
    pub listed: bool,
}

/// What a policy decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PolicyVerdict {
    Allow,
    Ask,
    Deny,
    MissingScope,
}
