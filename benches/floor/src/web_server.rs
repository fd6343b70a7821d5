//! The server over HTTP: hyper, and the same canned answers.

use std::convert::Infallible;
use std::sync::Arc;

use bench_kit::{Era, Fail, ServerArgs, stdin_ended};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::answer::Answers;
use crate::scan;

/// Serves until standard input ends.
pub async fn serve(args: ServerArgs) -> Result<(), Fail> {
    let answers = Arc::new(Answers::new(args.tools));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening http://{}/mcp", listener.local_addr()?);
    tokio::spawn(accept(listener, answers));
    stdin_ended().await;
    Ok(())
}

async fn accept(listener: TcpListener, answers: Arc<Answers>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let answers = Arc::clone(&answers);
        tokio::spawn(async move {
            let service = service_fn(|request| respond(&answers, request));
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn respond(answers: &Answers, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    match *request.method() {
        Method::POST => {}
        Method::DELETE => return Ok(bare(StatusCode::OK)),
        _ => return Ok(bare(StatusCode::METHOD_NOT_ALLOWED)),
    }
    let modern = request.headers().get("mcp-protocol-version").is_some_and(|version| version == "2026-07-28");
    let Ok(body) = request.into_body().collect().await else { return Ok(bare(StatusCode::BAD_REQUEST)) };
    let message = body.to_bytes();
    let era = if modern { Era::Modern } else { Era::Legacy };
    let mut out = Vec::with_capacity(512);
    if answers.to(&message, era, &mut out).is_none() {
        return Ok(bare(StatusCode::ACCEPTED));
    }
    let mut response = Response::new(Full::new(Bytes::from(out)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if !modern && scan::method(&message) == Some(b"initialize") {
        response.headers_mut().insert("mcp-session-id", HeaderValue::from_static("floor"));
    }
    Ok(response)
}

fn bare(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
