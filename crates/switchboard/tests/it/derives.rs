//! Forms as users are asked them, and errors that are the same variant on both sides of the wire.
#![cfg(feature = "service-client")]

use std::fmt;

use switchboard::service::InvalidParams;
use switchboard::service::prelude::*;
use switchboard::{Client, InProcess};

#[derive(Debug, Deserialize, PartialEq, FormChoice)]
#[serde(rename_all = "snake_case")]
enum Language {
    /// Python 3
    Python,
    #[form(title = "JavaScript (Node)")]
    JavaScript,
}

#[derive(Debug, Deserialize, PartialEq, Form)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "only its form is looked at")]
struct Consent {
    /// Really run it?
    really_run: bool,
    #[form(title = "Why", min_length = 1, max_length = 80)]
    reason: Option<String>,
    #[form(min = 1, max = 9, default = 3)]
    times: u8,
    #[form(format = "email")]
    mail: String,
    share: f64,
    #[form(default = "python")]
    language: Language,
    also: Vec<Language>,
    #[serde(default)]
    more: i64,
    #[serde(skip)]
    seen: u32,
}

#[test]
fn a_struct_is_the_form_that_its_fields_say() {
    let form = serde_json::to_value(<Consent as switchboard::service::Form>::form()).unwrap();
    let languages = json!([{"const": "python", "title": "Python 3"}, {"const": "java_script", "title": "JavaScript (Node)"}]);
    assert_eq!(
        form,
        json!({
            "type": "object",
            "properties": {
                "reallyRun": {"type": "boolean", "description": "Really run it?"},
                "reason": {"type": "string", "title": "Why", "minLength": 1, "maxLength": 80},
                "times": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
                "mail": {"type": "string", "format": "email"},
                "share": {"type": "number"},
                "language": {"type": "string", "oneOf": languages, "default": "python"},
                "also": {"type": "array", "items": {"anyOf": languages}},
                "more": {"type": "integer"},
            },
            "required": ["reallyRun", "times", "mail", "share", "language", "also"],
        })
    );
}

#[derive(Debug, ServiceError)]
enum MapError {
    #[not_found]
    NotFound { city: String, near: Option<String> },
    #[tool_error("closed")]
    #[message("Closed for {0} hours")]
    Closed(u32),
    #[invalid_params]
    Unreadable(String),
    #[rpc(-32001)]
    Quota { name: String },
    #[rpc(-32050)]
    Away,
    #[other]
    Other(Error),
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { city, .. } => write!(f, "No such city: {city}"),
            Self::Quota { name } => write!(f, "The quota of {name} is used up"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// Maps.
#[service(version = "1.0.0", error = MapError)]
trait Maps {
    /// Fails as it is told to.
    #[tool]
    async fn fail(&self, how: String) -> Result<u32>;
    /// Fails as it is told to.
    #[resource("map://{how}")]
    async fn place(&self, how: String) -> Result<u32>;
}

struct Svc;

fn failure(how: &str) -> MapError {
    match how {
        "not_found" => MapError::NotFound { city: "Oslo".into(), near: None },
        "closed" => MapError::Closed(3),
        "unreadable" => MapError::Unreadable("not a city".into()),
        "quota" => MapError::Quota { name: "me".into() },
        "away" => MapError::Away,
        _ => MapError::Other(Error::internal("a secret")),
    }
}

impl Maps for Svc {
    async fn fail(&self, how: String) -> Result<u32, MapError> {
        Err(failure(&how))
    }
    async fn place(&self, how: String) -> Result<u32, MapError> {
        Err(failure(&how))
    }
}

const WAYS: [&str; 5] = ["not_found", "closed", "unreadable", "quota", "away"];

#[test]
fn every_variant_comes_back_from_what_it_is_told_as() {
    use switchboard::service::ServiceError;
    for way in WAYS {
        let expected = format!("{:?}", failure(way));
        assert_eq!(format!("{:?}", MapError::from_error(failure(way).into_error())), expected);
    }
    assert_eq!(
        MapError::from_error(failure("closed").into_error()).into_error().to_string(),
        "Closed for 3 hours"
    );
    assert!(matches!(MapError::from_error(Error::Timeout), MapError::Other(Error::Timeout)));
    // Issues are more than the variant can hold, so the whole is kept.
    let detailed =
        InvalidParams::from_issues(vec![switchboard::service::design::Issue::for_member("city", "is empty")]);
    assert!(matches!(
        MapError::from(Error::InvalidParams(detailed)),
        MapError::Other(Error::InvalidParams(_))
    ));
}

#[tokio::test]
async fn a_typed_client_gets_the_same_variant() {
    let server = MapsServer::builder(Svc).build().unwrap();
    let maps = MapsClient::new(Client::new().connect(InProcess::new(&server)).await.unwrap());
    for way in WAYS {
        let expected = format!("{:?}", failure(way));
        assert_eq!(format!("{:?}", maps.fail(way.into()).await.unwrap_err()), expected);
    }
    for way in ["not_found", "unreadable", "quota", "away"] {
        // V4: a resource fails with the same variants as a tool.
        let expected = format!("{:?}", failure(way));
        assert_eq!(format!("{:?}", maps.place(way.into()).await.unwrap_err()), expected);
    }
    let hidden = maps.fail("other".into()).await.unwrap_err();
    assert!(!format!("{hidden:?}").contains("secret"), "{hidden:?}");
}
