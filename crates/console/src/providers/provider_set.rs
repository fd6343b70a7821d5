//! The set of providers that a console is given.

use std::sync::Arc;

use super::{ConfigEditor, DoctorProvider, GatewayProvider, LoginProvider, PolicyProvider};

/// The providers of a console.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Providers {
    /// Stored logins, and new ones.
    pub logins: Option<Arc<dyn LoginProvider>>,
    /// Diagnosis of servers.
    pub doctor: Option<Arc<dyn DoctorProvider>>,
    /// Configuration files.
    pub config: Option<Arc<dyn ConfigEditor>>,
    /// Policy.
    pub policy: Option<Arc<dyn PolicyProvider>>,
    /// The gateway; `None` on a host.
    pub gateway: Option<Arc<dyn GatewayProvider>>,
}

impl Providers {
    /// Sets the provider of logins.
    #[must_use]
    pub fn with_logins(mut self, logins: Arc<dyn LoginProvider>) -> Self {
        self.logins = Some(logins);
        self
    }

    /// Sets the provider of diagnosis.
    #[must_use]
    pub fn with_doctor(mut self, doctor: Arc<dyn DoctorProvider>) -> Self {
        self.doctor = Some(doctor);
        self
    }

    /// Sets the editor of configuration files.
    #[must_use]
    pub fn with_config(mut self, config: Arc<dyn ConfigEditor>) -> Self {
        self.config = Some(config);
        self
    }

    /// Sets the provider of the policy.
    #[must_use]
    pub fn with_policy(mut self, policy: Arc<dyn PolicyProvider>) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Sets the provider of the gateway.
    #[must_use]
    pub fn with_gateway(mut self, gateway: Arc<dyn GatewayProvider>) -> Self {
        self.gateway = Some(gateway);
        self
    }
}
