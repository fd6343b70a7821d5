//! Routes of this area.

use super::handlers;
use crate::api::{BodyKind, Route};

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/traffic", handlers::list_frames),
        Route::get("/api/traffic/{frame}", handlers::payload),
        Route::post("/api/traffic/clear", handlers::clear),
        Route::post("/api/traffic/export", handlers::export),
        Route::post("/api/recordings", handlers::open_recording).with_body(BodyKind::Recording),
    ]
}
