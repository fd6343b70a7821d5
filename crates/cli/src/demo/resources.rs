//! Resources of the demo server: static texts in small pages, a clock that changes, and a template for cities.

use std::time::{SystemTime, UNIX_EPOCH};

use switchboard::protocol::{
    ErrorCode, ListResourceTemplatesResult, ListResourcesResult, PageParams, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, RpcError,
};
use switchboard::server::Reply;

/// Page size; small, so that clients must paginate.
const PAGE: usize = 3;
/// The resource that changes every second.
pub(crate) const CLOCK: &str = "demo://clock";
pub(crate) const TEMPLATE: &str = "demo://city/{name}";
pub(crate) const CITIES: [&str; 6] = ["oslo", "osaka", "rome", "tokyo", "toronto", "trondheim"];

/// URI, name, description and text.
const TEXTS: [(&str, &str, &str, &str); 6] = [
    (
        "demo://readme",
        "readme",
        "What this server is",
        "This is the demo server of switchboard.\nEverything it says is made up.",
    ),
    ("demo://menu", "menu", "What there is to eat", "Pizza.\nPizza, spicy."),
    ("demo://notes/1", "note 1", "A note", "Buy olives."),
    ("demo://notes/2", "note 2", "Another note", "Feed the cat."),
    ("demo://notes/3", "note 3", "A note in another script", "覚え書き: 猫に餌をやる"),
    (
        "demo://poem",
        "poem",
        "Four lines",
        "A line was drawn, a call came through,\na word went out, an answer too;\nand who had asked and who had told\nwas written down, or so I'm told.",
    ),
];

fn all_resources() -> Vec<Resource> {
    let text = |(uri, name, about, body): (&str, &str, &str, &str)| {
        let resource = Resource::new(uri, name).with_description(about).with_mime_type("text/plain");
        resource.with_size(body.len() as u64)
    };
    let clock = Resource::new(CLOCK, "clock")
        .with_description("The time; changes every second")
        .with_mime_type("text/plain");
    TEXTS.into_iter().map(text).chain([clock]).collect()
}

pub(crate) fn list(page: &PageParams) -> Reply {
    let start = match &page.cursor {
        None => 0,
        Some(cursor) => match cursor.strip_prefix("from-").and_then(|start| start.parse().ok()) {
            Some(start) => start,
            None => return Err(RpcError::invalid_params(format!("Unknown cursor: {cursor}"))),
        },
    };
    let all = all_resources();
    let next = start + PAGE;
    let more = (next < all.len()).then(|| format!("from-{next}"));
    let mut result = ListResourcesResult::new(all.into_iter().skip(start).take(PAGE).collect::<Vec<_>>());
    result.next_cursor = more;
    Ok(result.into())
}

pub(crate) fn templates() -> ListResourceTemplatesResult {
    let city = ResourceTemplate::new(TEMPLATE, "city")
        .with_description("A few words on a city")
        .with_mime_type("text/plain");
    ListResourceTemplatesResult::new([city])
}

pub(crate) fn read(uri: &str) -> Reply {
    let text = resource_text(uri)?;
    Ok(ReadResourceResult::new([ResourceContents::text(uri, text).with_mime_type("text/plain")]).into())
}

/// Checks that a resource exists.
pub(crate) fn check_exists(uri: &str) -> Result<(), RpcError> {
    resource_text(uri).map(drop)
}

fn resource_text(uri: &str) -> Result<String, RpcError> {
    if uri == CLOCK {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let (hours, minutes, seconds) = (now / 3600 % 24, now / 60 % 60, now % 60);
        return Ok(format!("{hours:02}:{minutes:02}:{seconds:02} UTC"));
    }
    if let Some((.., body)) = TEXTS.iter().find(|(known, ..)| *known == uri) {
        return Ok((*body).to_owned());
    }
    match uri.strip_prefix("demo://city/").filter(|name| CITIES.contains(name)) {
        Some(name) => Ok(format!("{name} has {} letters and no other secrets.", name.len())),
        None => Err(RpcError::new(ErrorCode::RESOURCE_NOT_FOUND, format!("No such resource: {uri}"))),
    }
}
