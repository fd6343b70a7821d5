//! Routes of this area.

use super::handlers;
use crate::api::{ApiRoute, BodyKind};

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![
        ApiRoute::get("/api/traffic", handlers::list_frames),
        ApiRoute::get("/api/traffic/{frame}", handlers::payload),
        ApiRoute::post("/api/traffic/clear", handlers::clear),
        ApiRoute::post("/api/traffic/export", handlers::export),
        ApiRoute::post("/api/recordings", handlers::open_recording).with_body(BodyKind::Recording),
    ]
}
