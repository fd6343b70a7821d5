//! The resources of the fixture, and the one template.

use switchboard::service::prelude::*;

use crate::media;

/// Things to read.
#[switchboard::service]
pub(crate) trait Library {
    /// A text that never changes.
    #[resource(uri = "test://static-text", name = "static_text", title = "Static text", mime = "text/plain")]
    async fn static_text(&self) -> Result<String>;

    /// A picture that never changes.
    #[resource(
        uri = "test://static-binary",
        name = "static_picture",
        title = "Static picture",
        mime = "image/png"
    )]
    async fn static_binary(&self) -> Result<Contents>;

    /// A text that can be subscribed to.
    #[resource(
        uri = "test://watched-resource",
        name = "watched_resource",
        title = "Watched resource",
        mime = "text/plain",
        watch
    )]
    async fn watched(&self) -> Result<String>;

    /// The data of an id.
    #[resource(
        uri = "test://template/{id}/data",
        name = "data_by_id",
        title = "Data by id",
        mime = "application/json"
    )]
    async fn data(&self, id: String) -> Result<Data>;
}

/// Some data.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Data {
    id: String,
    template_test: bool,
    data: String,
}

pub(crate) struct Fixture;

impl Library for Fixture {
    async fn static_text(&self) -> Result<String> {
        Ok("This is the content of the static text resource.".into())
    }

    async fn static_binary(&self) -> Result<Contents> {
        Ok(Contents::default().blob("test://static-binary", media::PNG, "image/png"))
    }

    async fn watched(&self) -> Result<String> {
        Ok("This is the content of the watched resource.".into())
    }

    async fn data(&self, id: String) -> Result<Data> {
        Ok(Data { data: format!("Data for ID: {id}"), id, template_test: true })
    }
}
