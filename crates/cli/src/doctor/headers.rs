//! Step of a header helper: runs it, and reports the names of the headers it prints.

use std::time::Instant;

use http::header::{HeaderName, HeaderValue};
use switchboard::transport::http::client::HeaderHelper;

use crate::doctor::report::{DoctorReport, StepError, StepFailed};
use crate::error::ExitKind;
use crate::sanitize::one_line;

/// Runs a header helper and returns what it printed.
///
/// # Errors
/// Returns an error after the step that failed.
pub(crate) async fn check_headers(
    report: &mut DoctorReport,
    helper: &HeaderHelper,
) -> Result<Vec<(HeaderName, HeaderValue)>, StepFailed> {
    let began = Instant::now();
    match helper.run().await {
        Ok(printed) => {
            let names: Vec<&str> = printed.iter().map(|(name, _)| name.as_str()).collect();
            let names = if names.is_empty() { "no headers".to_owned() } else { names.join(", ") };
            report.passed("headers", began.elapsed(), format!("its helper prints {names}"));
            Ok(printed)
        }
        Err(error) => {
            let next = "run the command of `headersHelper` by itself: it must print one JSON object and nothing else";
            let mut failure = StepError::new(ExitKind::Other, one_line(&error.to_string()), next);
            failure.stderr = Some(error.stderr).filter(|stderr| !stderr.is_empty());
            Err(report.failed("headers", began, failure))
        }
    }
}
