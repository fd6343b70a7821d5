//! Routes of the catalog.

use std::sync::Arc;

use http::StatusCode;
use switchboard_json::Raw;

use super::permission_view::tool_permission;
use super::rows::{catalog_rows, tool_row};
use super::why::explain;
use crate::api::host_failure::{api_error, check_server};
use crate::api::{ApiRequest, ApiResponse, ApiRoute, ConsoleState};
use crate::contract::{ApiError, CatalogItemKind, Drift, ServerItem, ToolDetail};

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![
        ApiRoute::get("/api/catalog", catalog),
        ApiRoute::get("/api/tool", tool),
        ApiRoute::write("/api/tool/accept", accept),
        ApiRoute::get("/api/why", why),
    ]
}

async fn catalog(state: Arc<ConsoleState>, _: ApiRequest) -> Result<ApiResponse, ApiError> {
    ApiResponse::ok(&catalog_rows(&state.host, &state.value_mask()))
}

async fn tool(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let (server, name) = (request.required_query("server")?, request.required_query("name")?);
    ApiResponse::ok(&tool_detail(&state, server, name)?)
}

fn tool_detail(state: &ConsoleState, server: &str, name: &str) -> Result<ToolDetail, ApiError> {
    let catalog = state.host.catalog();
    let unknown = || unknown_tool(server, name);
    let listing = catalog.listing(server).ok_or_else(unknown)?;
    let (listed, withheld) = listing.tool(name).ok_or_else(unknown)?;
    let spec = state.host.spec(server).ok();
    let change = state.host.definition_change(server, name);
    let tool = listed.tool();
    let definition = Raw::encode(tool).unwrap_or_else(|_| Raw::null());
    let mask = state.value_mask();
    Ok(ToolDetail {
        row: tool_row(&listing, spec.as_ref(), (listed, withheld), change.is_some(), &mask),
        description: mask.mask(tool.description.clone().unwrap_or_default()),
        input_schema_json: tool.input_schema.as_str().to_owned(),
        output_schema_json: tool.output_schema.as_ref().map(|schema| schema.as_str().to_owned()),
        // Shown only: a call is built from the schema.
        definition_json: mask.mask(definition.as_str().to_owned()),
        permission: tool_permission(&state.host, server, tool),
        drift: change.map(|change| Drift {
            before_json: change.before_json.map(|json| mask.mask(json)),
            now_json: mask.mask(change.now_json),
        }),
    })
}

async fn accept(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let ServerItem { server, name } = request.json()?;
    check_server(&state.host, &server)?;
    if state.host.catalog().listing(&server).is_none_or(|listing| listing.tool(&name).is_none()) {
        return Err(unknown_tool(&server, &name));
    }
    state.host.accept_definition(&server, &name).map_err(|error| api_error(&error))?;
    Ok(ApiResponse::empty(StatusCode::OK))
}

async fn why(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let kind = request.required_query("kind")?;
    let invalid = |_| ApiError::bad_request("invalid_request", format!("`{kind}` is no kind of item"));
    let kind: CatalogItemKind = serde_json::from_value(kind.into()).map_err(invalid)?;
    ApiResponse::ok(&explain(&state, kind, request.query("server"), request.required_query("name")?))
}

fn unknown_tool(server: &str, name: &str) -> ApiError {
    ApiError::not_found("unknown_tool", format!("server `{server}` lists no tool `{name}`"))
        .with_next_step("look the tool up in the catalog; names are exact")
}
