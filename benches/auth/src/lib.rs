//! What the programs that verify tokens share: the verifier of a service, and the keys of its issuer.

use std::sync::Arc;

use bench_kit::{Fail, fixture};
use switchboard::auth::{ResourceServer, ResourceVerifier};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A verifier of the tokens of the fixture, or of tokens that are signed with another key.
pub async fn verifier(key: &str) -> Result<Arc<ResourceVerifier>, Fail> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let keys = format!("http://{}/keys", listener.local_addr()?);
    tokio::spawn(serve_keys(listener, format!(r#"{{"keys":[{key}]}}"#)));
    let resource = ResourceServer::new("http://localhost/mcp").issuer("https://login.example.org");
    Ok(Arc::new(resource.jwks_url(keys).build()?))
}

/// The verifier of the token of the fixture.
pub async fn fixture_verifier() -> Result<Arc<ResourceVerifier>, Fail> {
    verifier(fixture::TOKEN_KEY).await
}

/// Answers every request with the keys.
async fn serve_keys(listener: TcpListener, keys: String) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let mut request = [0; 4096];
        let _ = stream.read(&mut request).await;
        let length = keys.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncache-control: max-age=86400\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        let _ = stream.write_all(format!("{head}{keys}").as_bytes()).await;
    }
}
