//! Completion of arguments of prompts and resource templates.

use std::sync::Arc;

use switchboard_protocol::{CompleteParams, Reference};

use crate::api::host_failure::{api_error, check_server};
use crate::api::{ApiRequest, ApiResponse, ConsoleState};
use crate::contract::{ApiError, CompleteAnswer, CompleteRequest, CompletionReference};

/// `POST /api/complete`.
pub(super) async fn complete(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let CompleteRequest { server, reference, argument, value, context } = request.json()?;
    check_server(&state.host, &server)?;
    let reference = match reference {
        CompletionReference::Prompt { name } => Reference::prompt(name),
        CompletionReference::Template { uri_template } => Reference::resource(uri_template),
    };
    let mut params = CompleteParams::new(reference, argument, value);
    if !context.is_empty() {
        params = params.with_filled(context.into_iter().collect());
    }
    let completed = state.host.complete(&server, params).await.map_err(|error| api_error(&error))?;
    let completion = completed.completion;
    let mask = state.value_mask();
    ApiResponse::ok(&CompleteAnswer {
        has_more: completion.has_more == Some(true),
        total: completion.total,
        values: completion.values.into_iter().map(|value| mask.mask(value)).collect(),
    })
}
