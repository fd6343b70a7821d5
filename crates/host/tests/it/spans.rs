//! A subscriber that writes spans down, as an exporter would see them.

use std::fmt::{Debug, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Spans, each as one line of its fields.
#[derive(Clone, Default)]
pub(crate) struct Spans {
    lines: Arc<Mutex<Vec<String>>>,
    events: Arc<Mutex<Vec<String>>>,
    next: Arc<AtomicU64>,
}

impl Spans {
    /// All spans, then all events.
    pub(crate) fn taken(&self) -> Vec<String> {
        self.lines.lock().iter().chain(&*self.events.lock()).cloned().collect()
    }
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{}={value:?} ", field.name()).unwrap();
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        write!(self.0, "{}={value} ", field.name()).unwrap();
    }
}

impl Subscriber for Spans {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut line = format!("{} ", span.metadata().name());
        span.record(&mut Line(&mut line));
        self.lines.lock().push(line);
        Id::from_u64(self.next.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let at = usize::try_from(id.into_u64()).unwrap() - 1;
        values.record(&mut Line(&mut self.lines.lock()[at]));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = "event ".to_owned();
        event.record(&mut Line(&mut line));
        self.events.lock().push(line);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
