//! The diagnoses that run.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::contract::ApiError;

/// The largest number of diagnoses that run at once.
const MAX_RUNNING: usize = 8;

/// The diagnoses that run, by server.
#[derive(Debug, Default)]
pub(crate) struct DoctorRuns {
    // Held for a lookup or a change, never across an await.
    table: Mutex<RunTable>,
}

#[derive(Debug, Default)]
struct RunTable {
    last: u64,
    running: BTreeMap<String, u64>,
}

impl DoctorRuns {
    /// Adds a diagnosis and returns its number.
    ///
    /// # Errors
    /// `409 already_running` if one of this server runs, or too many do.
    pub(super) fn begin(&self, server: &str) -> Result<u64, ApiError> {
        let mut table = self.table.lock();
        if table.running.contains_key(server) {
            return Err(ApiError::conflict("already_running", format!("`{server}` is being examined")));
        }
        if table.running.len() >= MAX_RUNNING {
            let message = format!("{MAX_RUNNING} servers are being examined");
            return Err(ApiError::conflict("already_running", message).with_next_step("wait for one of them"));
        }
        table.last += 1;
        let run = table.last;
        table.running.insert(server.to_owned(), run);
        Ok(run)
    }

    /// Removes a diagnosis that has ended.
    pub(super) fn end(&self, server: &str) {
        self.table.lock().running.remove(server);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_diagnosis_per_server_and_a_limited_number_in_all() {
        let runs = DoctorRuns::default();
        assert_eq!(runs.begin("a").unwrap(), 1);
        assert_eq!(runs.begin("a").unwrap_err().code, "already_running");
        runs.end("a");
        for number in 0..MAX_RUNNING {
            runs.begin(&number.to_string()).unwrap();
        }
        assert!(runs.begin("a").is_err());
    }
}
