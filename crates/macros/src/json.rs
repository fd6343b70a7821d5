//! Whether tokens are an object as `serde_json::json!` reads it: keys that are texts, each with a value.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// Checks the inside of the braces. Values may be any expression, as in `json!`.
pub(crate) fn check_object(tokens: &TokenStream, span: Span) -> syn::Result<()> {
    let mut tokens = tokens.clone().into_iter().peekable();
    while tokens.peek().is_some() {
        let key = tokens.next();
        match &key {
            Some(TokenTree::Literal(key)) if key.to_string().starts_with('"') => {}
            other => return Err(wrong(other.as_ref(), span, "a key of JSON is a text in quotes")),
        }
        match tokens.next() {
            Some(TokenTree::Punct(colon)) if colon.as_char() == ':' => {}
            _ => return Err(wrong(key.as_ref(), span, "a `:` and a value follow a key of JSON")),
        }
        let mut value = Vec::new();
        loop {
            match tokens.next() {
                Some(TokenTree::Punct(comma)) if comma.as_char() == ',' => break,
                Some(token) => value.push(token),
                None => break,
            }
        }
        match value.as_slice() {
            [] => return Err(wrong(key.as_ref(), span, "a value follows the `:` of a key of JSON")),
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => {
                check_object(&group.stream(), group.span())?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn wrong(token: Option<&TokenTree>, span: Span, message: &str) -> syn::Error {
    syn::Error::new(token.map_or(span, TokenTree::span), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> String {
        let tokens: TokenStream = text.parse().expect("tokens");
        match check_object(&tokens, Span::call_site()) {
            Ok(()) => "fine".into(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn objects_pass_and_what_is_none_is_told() {
        for fine in ["", r#""a": 1"#, r#""a": -1, "b": [1, {"c": null}],"#, r#""a": {"b": "c"}"#] {
            assert_eq!(says(fine), "fine", "{fine}");
        }
        assert_eq!(says("a: 1"), "a key of JSON is a text in quotes");
        assert_eq!(says(r#""a" 1"#), "a `:` and a value follow a key of JSON");
        assert_eq!(says(r#""a": , "b": 1"#), "a value follows the `:` of a key of JSON");
        assert_eq!(says(r#""a": { b: 1 }"#), "a key of JSON is a text in quotes");
    }
}
