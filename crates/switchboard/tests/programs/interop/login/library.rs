//! The library with oidc-provider: step-up, and tokens that are bound to a key.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use switchboard::auth::{
    DpopVerification, MemoryStore, OAuthOptions, ResourceServer, StoredGrant, SwapOutcome, TokenKind,
    TokenStore,
};
use switchboard::transport::http_client::Bearer;
use switchboard::{Client, Http};
use switchboard_testkit::Failed;

use crate::interop::login::authorization_server::AuthorizationServer;
use crate::interop::login::notes_service::NotesService;
use crate::interop::login::scripted_login::{authorizer, call, connect};
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[
    (
        "login::a_tool_that_needs_more_scopes_leads_to_a_step_up",
        a_tool_that_needs_more_scopes_leads_to_a_step_up,
    ),
    ("login::a_bound_token_is_used_and_refreshed_with_its_key", || {
        bound_token(&[], DpopVerification::required())
    }),
    ("login::a_bound_token_is_used_and_refreshed_with_nonces", || {
        bound_token(&["--dpop-nonces"], DpopVerification::required().with_nonces())
    }),
    ("login::a_bound_opaque_token_is_introspected", || {
        bound_token(&["--tokens", "opaque"], DpopVerification::required())
    }),
];

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

/// A token that is bound to a key works with proofs only.
fn bound_token(options: &'static [&'static str], proofs: DpopVerification) -> Result<(), Failed> {
    block_on(async move {
        let issuer = AuthorizationServer::oidc_provider(options).await;
        let (endpoint, resource_server) = issuer.introspection();
        let change =
            |settings: ResourceServer| settings.introspection(endpoint, resource_server).dpop(proofs);
        let service = NotesService::start_with(issuer.issuer(), change).await;
        let store = Arc::new(MemoryStore::new());
        // The metadata of the service says that tokens have to be bound.
        let client = || authorizer(service.url(), OAuthOptions::default(), Arc::<MemoryStore>::clone(&store));
        let session = connect(service.url(), client()).await;
        assert_eq!(call(&session, "whoami").await, "ada with notes:read");
        session.close().await;
        let first = only_grant(&store).await;
        assert_eq!(first.grant.kind, TokenKind::Dpop);

        // A thief has no key.
        let stolen = Bearer::new(&first.grant.access_token).unwrap();
        let server = Http::new(service.url()).authorizer(Arc::new(stolen));
        let refused = Client::new().connect(server).await.expect_err("a bound token is no bearer token");
        assert!(refused.to_string().contains("401"), "{refused}");

        // The refresh token of a public client is bound to the key, too.
        expire(&store, first.clone()).await;
        let session = connect(service.url(), client()).await;
        assert_eq!(call(&session, "whoami").await, "ada with notes:read");
        session.close().await;
        let second = only_grant(&store).await;
        assert!(second.grant.access_token != first.grant.access_token);
        assert!(second.grant.dpop_key == first.grant.dpop_key);
        assert_eq!(issuer.count("granted authorization_code").await, 1, "{}", issuer.events().await);
        assert_eq!(issuer.count("granted refresh_token").await, 1, "{}", issuer.events().await);
        issuer.stop().await;
    })
}

async fn only_grant(store: &MemoryStore) -> StoredGrant {
    let [grant] = store.list().await.unwrap().try_into().unwrap();
    grant
}

async fn expire(store: &MemoryStore, mut stored: StoredGrant) {
    stored.grant.expires_at = Some(SystemTime::now() - Duration::from_secs(60));
    let outcome = store.compare_and_set(&stored.key, Some(stored.generation), Some(stored.grant)).await;
    assert!(matches!(outcome, Ok(SwapOutcome::Written(_))), "{outcome:?}");
}
