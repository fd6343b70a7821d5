//! Checks that tokens are an object for `serde_json::json!`: string keys, each with a value.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// Checks the tokens between the braces. Values can be any expression, as in `json!`.
pub(crate) fn check_object(tokens: &TokenStream, span: Span) -> syn::Result<()> {
    let mut tokens = tokens.clone().into_iter().peekable();
    while tokens.peek().is_some() {
        let key = tokens.next();
        match &key {
            Some(TokenTree::Literal(key)) if key.to_string().starts_with('"') => {}
            other => return Err(error_at(other.as_ref(), span, "a JSON key is a string in quotes")),
        }
        match tokens.next() {
            Some(TokenTree::Punct(colon)) if colon.as_char() == ':' => {}
            _ => return Err(error_at(key.as_ref(), span, "a JSON key is followed by `:` and a value")),
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
            [] => return Err(error_at(key.as_ref(), span, "the `:` of a JSON key is followed by a value")),
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Brace => {
                check_object(&group.stream(), group.span())?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn error_at(token: Option<&TokenTree>, span: Span, message: &str) -> syn::Error {
    syn::Error::new(token.map_or(span, TokenTree::span), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(text: &str) -> String {
        let tokens: TokenStream = text.parse().expect("tokens");
        match check_object(&tokens, Span::call_site()) {
            Ok(()) => "ok".into(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn objects_are_accepted_and_others_rejected() {
        for valid in ["", r#""a": 1"#, r#""a": -1, "b": [1, {"c": null}],"#, r#""a": {"b": "c"}"#] {
            assert_eq!(outcome(valid), "ok", "{valid}");
        }
        assert_eq!(outcome("a: 1"), "a JSON key is a string in quotes");
        assert_eq!(outcome(r#""a" 1"#), "a JSON key is followed by `:` and a value");
        assert_eq!(outcome(r#""a": , "b": 1"#), "the `:` of a JSON key is followed by a value");
        assert_eq!(outcome(r#""a": { b: 1 }"#), "a JSON key is a string in quotes");
    }
}
