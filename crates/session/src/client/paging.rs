//! Fetching a list page by page, whatever it holds.
//!
//! What waits is here, once. What depends on the kind of entry is behind [`Filling`] and never waits: else each of the
//! four lists would be a copy of everything that a call takes.

use std::collections::HashSet;
use std::time::Duration;

use switchboard_protocol::{DecodeError, ErrorCode, Page, Raw, RpcError};

use crate::client::cache;
use crate::client::call::ClientCall;
use crate::client::lists::{Cut, ListMethod, ListRetention};
use crate::client::live_session::LiveSession;
use crate::request::{CallError, TimeoutKind};

/// A list that is being filled.
pub(super) trait PageSink: Send {
    /// Whether somebody else has fetched the list meanwhile, which is then taken. If not, the fetch begins now.
    fn reuse_fresh(&mut self) -> bool;

    /// Starts from an empty list.
    fn start(&mut self);

    /// Adds the entries of a page, and gives what else it says.
    fn add(&mut self, page: &Raw) -> Result<Page<()>, DecodeError>;

    /// The list is not whole.
    fn set_cut(&mut self, cut: Cut);

    /// The list is done, and good for so long.
    fn finish(&mut self, lifetime: Option<Duration>, retention: ListRetention);
}

/// Fills a list. `turn` is held meanwhile, so that many callers cost one fetch; waiting for it counts as waiting for the
/// list.
pub(super) async fn fetch_list(
    live: &LiveSession,
    list: &ListMethod,
    fetch_lock: &tokio::sync::Mutex<()>,
    sink: &mut dyn PageSink,
) -> Result<(), CallError> {
    let within = live.limits().list;
    let fetched = tokio::time::timeout(within, async {
        let _lock = fetch_lock.lock().await;
        if sink.reuse_fresh() { Ok(()) } else { fetch_with_restart(live, list, sink).await }
    });
    let timed_out =
        |_| CallError::TimedOut { phase: TimeoutKind::List, after: within, hint: live.link.hint() };
    fetched.await.map_err(timed_out)?
}

/// Fetches all pages; starts over once when a cursor is no longer good.
async fn fetch_with_restart(
    live: &LiveSession,
    list: &ListMethod,
    sink: &mut dyn PageSink,
) -> Result<(), CallError> {
    for _ in 0..2 {
        sink.start();
        match fetch_pages(live, list, sink).await {
            Ok(lifetime) => {
                sink.finish(lifetime, live.retention(list));
                return Ok(());
            }
            Err(PageError::Failed(error)) => return Err(error),
            Err(PageError::StaleCursor) => {}
        }
    }
    Err(CallError::Remote(RpcError::invalid_params("the server refuses its own cursors")))
}

enum PageError {
    StaleCursor,
    Failed(CallError),
}

/// How long the list is good, once all its pages are in.
async fn fetch_pages(
    live: &LiveSession,
    list: &ListMethod,
    sink: &mut dyn PageSink,
) -> Result<Option<Duration>, PageError> {
    let limits = live.limits();
    let mut cursors = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut lifetime: Option<Duration> = None;
    for page in 1.. {
        let raw = fetch_page(live, list, cursor.as_deref()).await?;
        let page_info =
            sink.add(&raw).map_err(|error| PageError::Failed(CallError::protocol(list.method, error)))?;
        // The list is good for as long as its shortest-lived page; one without a word is no shorter.
        lifetime = [lifetime, cache::lifetime(page_info.hints, limits)].into_iter().flatten().min();
        if page_info.is_cut {
            sink.set_cut(Cut::Entries(limits.entries));
            break;
        }
        let Some(next) = page_info.next_cursor else { break };
        if !cursors.insert(next.clone()) {
            sink.set_cut(Cut::RepeatedCursor { cursor: next });
            break;
        }
        if page == limits.pages {
            sink.set_cut(Cut::Pages(limits.pages));
            break;
        }
        cursor = Some(next);
    }
    Ok(lifetime)
}

async fn fetch_page(live: &LiveSession, list: &ListMethod, cursor: Option<&str>) -> Result<Raw, PageError> {
    let params = match cursor.map(Raw::encode).transpose() {
        Ok(None) => "{}".to_owned(),
        Ok(Some(cursor)) => format!(r#"{{"cursor":{}}}"#, cursor.as_str()),
        Err(error) => return Err(PageError::Failed(error.into())),
    };
    let call = ClientCall::new(list.method, params).within(live.limits().page);
    match live.call_boxed(call).await {
        Ok(raw) => Ok(raw),
        Err(CallError::Remote(error)) if cursor.is_some() && error.code == ErrorCode::INVALID_PARAMS => {
            Err(PageError::StaleCursor)
        }
        Err(error) => Err(PageError::Failed(error)),
    }
}
