//! Lists with invalid entries.

use switchboard_protocol::{
    CacheHints, CacheScope, DecodeError, Page, Raw, Resource, Tool, decode_entries, read_entries,
};

fn tools(text: &str) -> Result<Page<Tool>, DecodeError> {
    read_entries(&Raw::parse(text.to_owned()).unwrap(), "tools", 100)
}

#[test]
fn valid_entries_survive_invalid_ones() {
    let page = tools(
        r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b"},7,
            {"name":"c","inputSchema":null},{"name":"d","inputSchema":{},"title":null,"icons":null}],
            "nextCursor":"","ttlMs":5,"cacheScope":"public"}"#,
    )
    .unwrap();
    assert_eq!(page.items.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["a", "d"]);
    let rejected: Vec<_> =
        page.rejected.iter().map(|bad| (bad.index, bad.name.as_deref(), bad.error.path())).collect();
    assert_eq!(
        rejected,
        [(1, Some("b"), "tools[1]"), (2, None, "tools[2]"), (3, Some("c"), "tools[3].inputSchema")]
    );
    assert_eq!(page.next_cursor.as_deref(), Some(""), "the empty string is a cursor");
    assert_eq!(page.hints, CacheHints::new(5, CacheScope::Public));
}

#[test]
fn a_null_cursor_ends_the_list() {
    assert_eq!(tools(r#"{"tools":[],"nextCursor":null}"#).unwrap().next_cursor, None);
}

#[test]
fn a_malformed_list_is_an_error_with_its_path() {
    for text in ["{}", r#"{"tools":null}"#, r#"{"tools":{}}"#] {
        assert_eq!(tools(text).unwrap_err().path(), "tools", "{text}");
    }
    assert!(tools("[]").is_err());
    assert_eq!(tools(r#"{"tools":[],"nextCursor":5}"#).unwrap_err().path(), "nextCursor");
}

#[test]
fn any_type_of_entry_can_be_listed() {
    let raw = Raw::parse(r#"{"resources":[{"uri":"file:///a","name":"a","size":-1}]}"#).unwrap();
    let page: Page<Resource> = decode_entries(&raw, "resources").unwrap();
    assert_eq!(page.items[0].size, None, "a size that makes no sense is no size");
}
