//! A session over HTTP: hyper, and a connection that is kept for each call in flight.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bench_kit::{ClientArgs, Era, Fail, Session, Target, Work, fixture};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::ask::{Ask, Asks, INITIALIZED};
use crate::scan;

/// The connections that nobody uses at the moment. All sessions are with one server.
static IDLE: Mutex<Vec<SendRequest<Full<Bytes>>>> = Mutex::new(Vec::new());

/// A session with a server at an address.
#[derive(Debug)]
pub struct OverHttp {
    address: String,
    path: Uri,
    host: HeaderValue,
    era: Era,
    sends_token: bool,
    session: Option<HeaderValue>,
    asks: Asks,
    next: AtomicUsize,
}

impl OverHttp {
    async fn connection(&self) -> Result<SendRequest<Full<Bytes>>, Fail> {
        let idle = IDLE.lock().map_err(|_| "a call has panicked")?.pop();
        if let Some(mut kept) = idle
            && kept.ready().await.is_ok()
        {
            return Ok(kept);
        }
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender)
    }

    /// Sends one message, and gives the session and the body that came back.
    async fn send(
        &self,
        method: Method,
        ask: Option<&Ask>,
        body: Vec<u8>,
    ) -> Result<(Option<HeaderValue>, Bytes), Fail> {
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.path.clone();
        let headers = request.headers_mut();
        headers.insert(HOST, self.host.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let version = match self.era {
            Era::Legacy => "2025-11-25",
            Era::Modern => "2026-07-28",
        };
        headers.insert("mcp-protocol-version", HeaderValue::from_static(version));
        if let Some(session) = &self.session {
            headers.insert("mcp-session-id", session.clone());
        }
        if self.sends_token {
            let value = HeaderValue::try_from(format!("Bearer {}", fixture::TOKEN))?;
            headers.insert(AUTHORIZATION, value);
        }
        if let (Era::Modern, Some(ask)) = (self.era, ask) {
            headers.insert("mcp-method", HeaderValue::from_static(ask.method));
            if let Some(tool) = &ask.tool {
                headers.insert("mcp-name", tool.clone());
            }
        }
        let mut connection = self.connection().await?;
        let (head, body) = connection.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        IDLE.lock().map_err(|_| "a call has panicked")?.push(connection);
        if !head.status.is_success() {
            let text = String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned();
            return Err(format!("the server answered {}: {text}", head.status).into());
        }
        Ok((head.headers.get("mcp-session-id").cloned(), body))
    }

    async fn call(&self, ask: &Ask) -> Result<Bytes, Fail> {
        let mut body = Vec::with_capacity(512);
        ask.write(self.next.fetch_add(1, Ordering::Relaxed), &mut body);
        let (_, answer) = self.send(Method::POST, Some(ask), body).await?;
        scan::refuse_error(&answer)?;
        Ok(answer)
    }

    async fn size(&self, work: Work) -> Result<usize, Fail> {
        let ask = self.asks.of(work, self.next.load(Ordering::Relaxed));
        Ok(scan::content_size(&self.call(ask).await?, work))
    }
}

impl Session for OverHttp {
    async fn open(args: &ClientArgs) -> Result<Self, Fail> {
        let Target::Url(url) = &args.target else { return Err("HTTP needs an address".into()) };
        let rest = url.strip_prefix("http://").and_then(|rest| rest.split_once('/'));
        let (address, path) = rest.ok_or("the address must be http://HOST:PORT/PATH")?;
        let mut session = Self {
            host: HeaderValue::from_str(address)?,
            address: address.to_owned(),
            path: format!("/{path}").parse()?,
            era: args.era,
            sends_token: args.sends_token,
            session: None,
            asks: Asks::new(args),
            next: AtomicUsize::new(1),
        };
        let opening = Ask::opening(args.era);
        let mut body = Vec::new();
        opening.write(0, &mut body);
        let (given, answer) = session.send(Method::POST, Some(&opening), body).await?;
        scan::refuse_error(&answer)?;
        if args.era == Era::Legacy {
            session.session = given;
            session.send(Method::POST, None, INITIALIZED.into()).await?;
        }
        Ok(session)
    }

    async fn echo(&self, _: &str) -> Result<usize, Fail> {
        self.size(Work::Echo).await
    }

    async fn big(&self) -> Result<usize, Fail> {
        self.size(Work::Big).await
    }

    async fn list(&self) -> Result<usize, Fail> {
        let mut answer = self.call(&self.asks.list).await?;
        let mut size = scan::content_size(&answer, Work::List);
        while let Some(page) = scan::next_page(&answer) {
            answer = self.call(&Ask::page(&page, self.era)).await?;
            size += scan::content_size(&answer, Work::List);
        }
        Ok(size)
    }

    async fn usage(&self) -> Result<String, Fail> {
        Ok(String::from_utf8_lossy(&self.call(&self.asks.usage).await?).into_owned())
    }

    async fn close(self) -> Result<(), Fail> {
        if self.session.is_some() {
            self.send(Method::DELETE, None, Vec::new()).await?;
        }
        Ok(())
    }
}
