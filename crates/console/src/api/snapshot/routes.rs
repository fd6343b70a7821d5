//! Routes of this area.

use crate::api::Route;

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<Route> {
    Vec::new()
}
