//! A request to the API that was admitted.

use std::str::FromStr;

use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::contract::ApiError;

/// A request to the API. Paths and queries are percent-decoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct ApiRequest {
    parameters: Vec<(&'static str, String)>,
    query: Vec<(String, String)>,
    body: Bytes,
}

impl ApiRequest {
    /// Creates a request.
    pub(crate) fn new(
        parameters: Vec<(&'static str, String)>,
        query: Vec<(String, String)>,
        body: Bytes,
    ) -> Self {
        Self { parameters, query, body }
    }

    /// Returns a parameter of the path; empty if the route has none of this name.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.parameters.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value)
    }

    /// Returns a number in the path.
    ///
    /// # Errors
    /// `404 not_found` if it is not a number.
    pub(crate) fn number(&self, name: &str) -> Result<u64, ApiError> {
        let text = self.parameter(name);
        text.parse()
            .map_err(|_| ApiError::not_found("not_found", format!("`{text}` is not a number of the API")))
    }

    /// Returns the first value of a query parameter.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns a query parameter.
    ///
    /// # Errors
    /// `400 invalid_request` if it is missing.
    pub(crate) fn required_query(&self, name: &str) -> Result<&str, ApiError> {
        let missing = || ApiError::bad_request("invalid_request", format!("the query has no `{name}`"));
        self.query(name).ok_or_else(missing)
    }

    /// Returns a query parameter of another type, such as a number.
    ///
    /// # Errors
    /// `400 invalid_request` if it is not of this type.
    pub(crate) fn parsed_query<T: FromStr>(&self, name: &str) -> Result<Option<T>, ApiError> {
        let parse = |text: &str| {
            let invalid =
                |_| ApiError::bad_request("invalid_request", format!("`{name}={text}` is not valid"));
            text.parse().map_err(invalid)
        };
        self.query(name).map(parse).transpose()
    }

    /// Returns whether a query parameter is `1`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.query(name) == Some("1")
    }

    /// Decodes the body.
    ///
    /// # Errors
    /// `400 invalid_request` if it is not JSON of this type.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        serde_json::from_slice(&self.body).map_err(|error| {
            ApiError::bad_request(
                "invalid_request",
                format!("the body is not what this request takes: {error}"),
            )
        })
    }

    /// Returns the body as it was sent.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }
}
