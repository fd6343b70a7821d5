//! A login of the library whose browser is a program.

use std::sync::Arc;

use switchboard::auth::{
    AuthError, CallbackPort, LoginChannel, LoopbackListener, OAuthAuthorizer, OAuthOptions, PendingCallback,
    TokenStore,
};
use switchboard::client::ClientSession;
use switchboard::transport::http_client::{Address, BoxFuture, HttpClient, HttpClientOptions, PlainHttp};
use switchboard::{Client, Http};

use crate::interop::login::user::Browser;

/// Shows login pages of this server to a user who agrees to everything.
#[derive(Debug)]
struct ScriptedLogin(String);

struct ListeningLogin(LoopbackListener);

impl LoginChannel for ScriptedLogin {
    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn PendingCallback>, AuthError>> {
        Box::pin(async {
            let listener = LoopbackListener::bind(&self.0, CallbackPort::Stable).await?;
            Ok(Box::new(ListeningLogin(listener)) as Box<dyn PendingCallback>)
        })
    }
}

impl PendingCallback for ListeningLogin {
    fn redirect_uri(&self) -> &str {
        self.0.redirect_uri()
    }

    fn authorize<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<String, AuthError>> {
        Box::pin(async move {
            let (callback, visited) = tokio::join!(self.0.wait(url), Browser::Form.visit(url));
            assert_eq!(visited.code, 0, "{} {}", visited.out, visited.err);
            callback
        })
    }
}

/// Returns an authorizer for this server that shows its login pages to a scripted user.
pub(crate) fn authorizer(url: &str, options: OAuthOptions, store: Arc<dyn TokenStore>) -> OAuthAuthorizer {
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    let address = Address::parse(url, PlainHttp::LoopbackOnly).unwrap();
    OAuthAuthorizer::new(http, address, options)
        .with_store(store)
        .with_login(Arc::new(ScriptedLogin(url.to_owned())))
}

/// Connects with this authorizer, which logs in when the server asks for it.
pub(crate) async fn connect(url: &str, authorizer: OAuthAuthorizer) -> ClientSession {
    let server = Http::new(url).authorizer(Arc::new(authorizer));
    Client::new().connect(server).await.unwrap_or_else(|error| panic!("not connected: {error}"))
}

/// Calls a tool without arguments and returns the text of its result.
pub(crate) async fn call(session: &ClientSession, tool: &str) -> String {
    let result = session.call_tool(tool, serde_json::json!({})).await;
    let result = result.unwrap_or_else(|error| panic!("{tool}: {error}"));
    let result = serde_json::to_value(&result).unwrap();
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}
