//! `policy`: the path of a policy document, or the document itself as a table.

use std::fmt;
use std::path::PathBuf;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::audit::AuditPolicy;
use crate::limits::RateLimiter;
use crate::policy::{Policy, PolicyError};

/// The table of a policy within the document of a gateway.
const SECTION: &str = "policy";

/// Where the policy of a gateway is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicySource {
    /// In a file of its own.
    File(PathBuf),
    /// In the table `[policy]` of the same document.
    Inline,
}

/// A policy document, completely compiled.
#[derive(Debug)]
pub struct CompiledPolicy {
    /// Who may call what.
    pub policy: Policy,
    /// How often.
    pub limits: RateLimiter,
    /// Which payloads are recorded.
    pub audit: AuditPolicy,
}

impl CompiledPolicy {
    /// Compiles a policy document.
    ///
    /// # Errors
    /// Names the line and the rule.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        Ok(Self {
            policy: Policy::parse(text)?,
            limits: RateLimiter::parse(text)?,
            audit: AuditPolicy::parse(text)?,
        })
    }

    /// Compiles the table `[policy]` of the document of a gateway.
    ///
    /// # Errors
    /// Names the line and the rule.
    pub fn parse_inline(text: &str) -> Result<Self, PolicyError> {
        Ok(Self {
            policy: Policy::parse_section(text, SECTION)?,
            limits: RateLimiter::parse_section(text, SECTION)?,
            audit: AuditPolicy::parse_section(text, SECTION)?,
        })
    }
}

impl<'de> Deserialize<'de> for PolicySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PolicySourceVisitor)
    }
}

struct PolicySourceVisitor;

impl<'de> Visitor<'de> for PolicySourceVisitor {
    type Value = PolicySource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the path of a policy document, or a table with its rules")
    }

    fn visit_str<E>(self, path: &str) -> Result<PolicySource, E> {
        Ok(PolicySource::File(path.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<PolicySource, A::Error> {
        // The rules are read by their own parser, which knows lines.
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(PolicySource::Inline)
    }
}
