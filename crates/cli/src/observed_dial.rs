//! Dial whose messages are passed to a callback: for `--trace`, and to look at the handshake. A program is traced by a tap of
//! its pipe instead, which also sees the lines that are no messages.

use std::sync::Arc;

use switchboard::transport::link::{ObservedDial, ObservedFrame, TrafficObserver, TrafficSource, TrafficTap};
use switchboard::transport::{Dial, Direction};

/// Callback for every message.
pub(crate) type MessageObserver = Arc<dyn Fn(Direction, &[u8]) + Send + Sync>;

/// Returns `dial` with links that report their messages to the callback, without headers, and the errors of exchanges.
pub(crate) fn observed_dial<D: Dial>(dial: D, observer: MessageObserver) -> ObservedDial<D> {
    ObservedDial::new(dial, TrafficTap::new(Arc::new(CallbackObserver(observer)), ""))
}

/// Observer that passes the text of each frame to a callback.
struct CallbackObserver(MessageObserver);

impl TrafficObserver for CallbackObserver {
    fn is_watching(&self) -> bool {
        true
    }

    fn observe(&self, _source: &TrafficSource<'_>, frame: &ObservedFrame<'_>) {
        (self.0)(frame.direction, frame.text().as_bytes());
    }
}
