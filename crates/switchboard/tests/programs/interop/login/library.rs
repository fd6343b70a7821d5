//! The library with oidc-provider: step-up, and tokens that are bound to a key.

use std::sync::Arc;

use switchboard::auth::{MemoryStore, OAuthOptions};
use switchboard_testkit::Failed;

use crate::interop::login::authorization_server::AuthorizationServer;
use crate::interop::login::notes_service::NotesService;
use crate::interop::login::scripted_login::{authorizer, call, connect};
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] =
    &[("login::a_tool_that_needs_more_scopes_leads_to_a_step_up", a_tool_that_needs_more_scopes_leads_to_a_step_up)];

fn a_tool_that_needs_more_scopes_leads_to_a_step_up() -> Result<(), Failed> {
    block_on(async {
        let issuer = AuthorizationServer::oidc_provider(&[]).await;
        let service = NotesService::start(issuer.issuer()).await;
        let authorizer = authorizer(service.url(), OAuthOptions::default(), Arc::new(MemoryStore::new()));
        let session = connect(service.url(), authorizer).await;
        assert_eq!(call(&session, "whoami").await, "ada with notes:read");
        assert_eq!(call(&session, "clear").await, "cleared");
        assert_eq!(call(&session, "whoami").await, "ada with notes:read notes:delete");
        assert_eq!(issuer.count("granted authorization_code").await, 2, "{}", issuer.events().await);
        session.close().await;
        issuer.stop().await;
    })
}
