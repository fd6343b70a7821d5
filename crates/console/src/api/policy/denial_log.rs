//! The last denials.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::contract::{ConsoleEvent, Denial};
use crate::events::EventLog;

/// Denials that are kept.
const MAX_DENIALS: usize = 200;

/// The last denials, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct DenialLog {
    // Held for a copy or a change, never across an await.
    denials: Mutex<VecDeque<Denial>>,
}

impl DenialLog {
    /// Records a denial and announces it.
    pub(crate) fn record(&self, denial: Denial, events: &EventLog) {
        let event = ConsoleEvent::Denial { denial: Box::new(denial.clone()) };
        let mut denials = self.denials.lock();
        if denials.len() >= MAX_DENIALS {
            denials.pop_front();
        }
        denials.push_back(denial);
        drop(denials);
        events.publish(event);
    }

    /// Returns the denials, the newest first.
    pub(super) fn newest_first(&self) -> Vec<Denial> {
        self.denials.lock().iter().rev().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::DenialOutcome;

    #[test]
    fn the_last_denials_are_kept() {
        let (log, events) = (DenialLog::default(), EventLog::default());
        for number in 0..=MAX_DENIALS {
            let denial = Denial {
                at_ms: 0,
                principal: None,
                server: Some("files".to_owned()),
                kind: "tool".to_owned(),
                name: number.to_string(),
                outcome: DenialOutcome::Denied,
                rule: None,
                reason: "a deny rule matches".to_owned(),
            };
            log.record(denial, &events);
        }
        let kept = log.newest_first();
        assert_eq!((kept.len(), kept[0].name.as_str()), (MAX_DENIALS, "200"));
        assert_eq!(kept.last().unwrap().name, "1");
        assert_eq!(events.sequence(), 201);
    }
}
