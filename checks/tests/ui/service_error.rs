//! Errors that could not come back as what they were.

use switchboard::service::prelude::*;

#[derive(Debug, ServiceError)]
enum Unsaid {
    #[tool_error("not_found")]
    NotFound,
    #[tool_error("not_found")]
    Missing,
    Busy,
    #[rpc("quota")]
    Quota,
    #[rpc(-32602)]
    Wrong,
    #[invalid_params]
    Bad { field: String, count: u32 },
    #[tool_error]
    Nameless,
}

#[derive(ServiceError)]
struct Single;

fn main() {}
