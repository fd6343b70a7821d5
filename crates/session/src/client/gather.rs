//! Fetching a list page by page, whatever it holds.
//!
//! What waits is here, once. What depends on the kind of entry is behind [`Filling`] and never waits: else each of the
//! four lists would be a copy of everything that a call takes.

use std::collections::HashSet;
use std::time::Duration;

use switchboard_protocol::{DecodeError, ErrorCode, Page, Raw, RpcError};

use crate::client::cache;
use crate::client::call::Call;
use crate::client::lists::{Cut, Holding, ListMethod};
use crate::client::live::Live;
use crate::request::{CallError, TimeoutKind};

/// A list that is being filled.
pub(super) trait Filling: Send {
    /// Whether somebody else has fetched the list meanwhile, which is then taken. If not, the fetch begins now.
    fn is_filled(&mut self) -> bool;

    /// Starts from an empty list.
    fn start(&mut self);

    /// Adds the entries of a page, and gives what else it says.
    fn add(&mut self, page: &Raw) -> Result<Page<()>, DecodeError>;

    /// The list is not whole.
    fn cut(&mut self, cut: Cut);

    /// The list is done, and good for so long.
    fn finish(&mut self, lifetime: Option<Duration>, holding: Holding);
}

/// Fills a list. `turn` is held meanwhile, so that many callers cost one fetch; waiting for it counts as waiting for the
/// list.
pub(super) async fn gather(
    live: &Live,
    what: &ListMethod,
    turn: &tokio::sync::Mutex<()>,
    filling: &mut dyn Filling,
) -> Result<(), CallError> {
    let within = live.limits().list;
    let gathered = tokio::time::timeout(within, async {
        let _turn = turn.lock().await;
        if filling.is_filled() { Ok(()) } else { fetch(live, what, filling).await }
    });
    let late = |_| CallError::TimedOut { phase: TimeoutKind::List, after: within, hint: live.link.hint() };
    gathered.await.map_err(late)?
}

/// Fetches all pages; starts over once when a cursor is no longer good.
async fn fetch(live: &Live, what: &ListMethod, filling: &mut dyn Filling) -> Result<(), CallError> {
    for _ in 0..2 {
        filling.start();
        match pages(live, what, filling).await {
            Ok(lifetime) => {
                filling.finish(lifetime, live.holding(what));
                return Ok(());
            }
            Err(Stumble::Failed(error)) => return Err(error),
            Err(Stumble::StaleCursor) => {}
        }
    }
    Err(CallError::Remote(RpcError::invalid_params("the server refuses its own cursors")))
}

enum Stumble {
    StaleCursor,
    Failed(CallError),
}

/// How long the list is good, once all its pages are in.
async fn pages(
    live: &Live,
    what: &ListMethod,
    filling: &mut dyn Filling,
) -> Result<Option<Duration>, Stumble> {
    let limits = live.limits();
    let mut cursors = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut lifetime: Option<Duration> = None;
    for page in 1.. {
        let raw = one_page(live, what, cursor.as_deref()).await?;
        let found =
            filling.add(&raw).map_err(|error| Stumble::Failed(CallError::protocol(what.method, error)))?;
        // The list is good for as long as its shortest-lived page; one without a word is no shorter.
        lifetime = [lifetime, cache::lifetime(found.hints, limits)].into_iter().flatten().min();
        if found.is_cut {
            filling.cut(Cut::Entries(limits.entries));
            break;
        }
        let Some(next) = found.next_cursor else { break };
        if !cursors.insert(next.clone()) {
            filling.cut(Cut::RepeatedCursor { cursor: next });
            break;
        }
        if page == limits.pages {
            filling.cut(Cut::Pages(limits.pages));
            break;
        }
        cursor = Some(next);
    }
    Ok(lifetime)
}

async fn one_page(live: &Live, what: &ListMethod, cursor: Option<&str>) -> Result<Raw, Stumble> {
    let params = match cursor.map(Raw::encode).transpose() {
        Ok(None) => "{}".to_owned(),
        Ok(Some(cursor)) => format!(r#"{{"cursor":{}}}"#, cursor.as_str()),
        Err(error) => return Err(Stumble::Failed(error.into())),
    };
    let call = Call::new(what.method, params).within(live.limits().page);
    match live.call_boxed(call).await {
        Ok(raw) => Ok(raw),
        Err(CallError::Remote(error)) if cursor.is_some() && error.code == ErrorCode::INVALID_PARAMS => {
            Err(Stumble::StaleCursor)
        }
        Err(error) => Err(Stumble::Failed(error)),
    }
}
