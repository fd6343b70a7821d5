//! Fetches a list page by page, for any type of entry.
//!
//! The async code is here, once, and not generic. The code that depends on the type of entry is behind [`PageSink`] and not
//! async; otherwise the code of a call would be generated for each of the four lists.

use std::collections::HashSet;
use std::time::Duration;

use switchboard_protocol::{DecodeError, ErrorCode, Page, Raw, RpcError};

use crate::client::cache;
use crate::client::call::ClientCall;
use crate::client::lists::{ListMethod, ListRetention, ListTruncation};
use crate::client::live_session::LiveSession;
use crate::request::{CallError, TimeoutKind};

/// Receives the pages of a list.
pub(super) trait PageSink: Send {
    /// Takes the list that another caller has fetched meanwhile, and returns whether there was one. If not, the fetch starts
    /// now.
    fn reuse_fresh(&mut self) -> bool;

    /// Resets to an empty list.
    fn start(&mut self);

    /// Adds the entries of a page, and returns its cursor and cache hints.
    fn add(&mut self, page: &Raw) -> Result<Page<()>, DecodeError>;

    /// Records why the list is incomplete.
    fn set_cut(&mut self, cut: ListTruncation);

    /// Completes the list, which is fresh for `lifetime`.
    fn finish(&mut self, lifetime: Option<Duration>, retention: ListRetention);
}

/// Fetches a list into `sink`. Holds `fetch_lock` meanwhile, so that concurrent callers share one fetch; waiting for the
/// lock counts towards the timeout.
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
        |_| CallError::TimedOut { kind: TimeoutKind::List, after: within, hint: live.link.hint() };
    fetched.await.map_err(timed_out)?
}

/// Fetches all pages; starts over once when the server rejects a cursor as stale.
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

/// Why a page could not be fetched.
enum PageError {
    StaleCursor,
    Failed(CallError),
}

/// Fetches all pages and returns the lifetime of the list.
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
        // The list lives as long as its shortest-lived page; a page without a lifetime does not count.
        lifetime = [lifetime, cache::lifetime(page_info.hints, limits)].into_iter().flatten().min();
        if page_info.is_cut {
            sink.set_cut(ListTruncation::Entries(limits.entries));
            break;
        }
        let Some(next) = page_info.next_cursor else { break };
        if !cursors.insert(next.clone()) {
            sink.set_cut(ListTruncation::RepeatedCursor { cursor: next });
            break;
        }
        if page == limits.pages {
            sink.set_cut(ListTruncation::Pages(limits.pages));
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
