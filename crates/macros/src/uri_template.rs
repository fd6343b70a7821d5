//! Parses the variables of a resource URI: `{id}`, `{+path}`, `{?limit,tag*}`.

/// A variable of a URI.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UriVariable {
    pub(crate) name: String,
    pub(crate) in_query: bool,
}

/// Returns the variables of a URI, in order.
///
/// # Errors
/// Returns the message for the author.
pub(crate) fn parse_variables(uri: &str) -> Result<Vec<UriVariable>, String> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.');
    if !scheme.starts_with(|first: char| first.is_ascii_alphabetic()) || !scheme.chars().all(is_allowed) {
        return Err("a URI starts with a scheme, like `doc://`".into());
    }
    let check_literal = |text: &str| match text.find(['?', '#']) {
        Some(index) if text[index..].starts_with('#') => Err("the URI of a resource has no `#`".to_owned()),
        Some(_) => Err("a query is written `{?city}`, not `?city={city}`".to_owned()),
        None => Ok(()),
    };
    let mut variables: Vec<UriVariable> = Vec::new();
    let mut rest = uri;
    while let Some(open) = rest.find(['{', '}']) {
        let unbalanced = || "unbalanced `{` or `}`".to_owned();
        check_literal(&rest[..open])?;
        let inside = rest[open..].strip_prefix('{').ok_or_else(unbalanced)?;
        let (expression, after) = inside.split_once('}').ok_or_else(unbalanced)?;
        let (names, in_query) = match expression.strip_prefix('?') {
            Some(query) => (query, true),
            None => (expression.strip_prefix('+').unwrap_or(expression), false),
        };
        if in_query && !after.is_empty() {
            return Err("the query must be at the end of the URI".into());
        }
        for name in names.split(',') {
            let name = if in_query { name.strip_suffix('*').unwrap_or(name) } else { name };
            let is_allowed = |letter: char| letter.is_alphanumeric() || letter == '_';
            if name.is_empty() || !name.chars().all(is_allowed) {
                return Err(format!(
                    "`{{{expression}}}` is not of the form `{{x}}`, `{{+x}}` or `{{?x,y*}}`"
                ));
            }
            if variables.iter().any(|known| known.name == name) {
                return Err(format!("the variable `{name}` occurs twice"));
            }
            variables.push(UriVariable { name: name.to_owned(), in_query });
        }
        if !in_query && after.starts_with('{') && !after.starts_with("{?") {
            return Err("two variables need text between them".into());
        }
        rest = after;
    }
    check_literal(rest)?;
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_in_path_and_query() {
        let found = parse_variables("doc://{id}/pages/{+rest}{?limit,tag*}").unwrap();
        let names: Vec<_> =
            found.iter().map(|variable| (variable.name.as_str(), variable.in_query)).collect();
        assert_eq!(names, [("id", false), ("rest", false), ("limit", true), ("tag", true)]);
    }

    #[test]
    fn invalid_templates_are_rejected_with_a_reason() {
        for (uri, expected) in [
            ("documents", "scheme"),
            ("doc://{id", "unbalanced"),
            ("doc://id}", "unbalanced"),
            ("doc://{}", "not of the form"),
            ("doc://{a}/{a}", "twice"),
            ("doc://{a}{b}", "text between"),
            ("doc://x{?a}/y", "query must be at the end"),
            ("doc://x?a={a}", "a query is written"),
            ("doc://{a}?b", "a query is written"),
            ("doc://x#y", "no `#`"),
        ] {
            let error = parse_variables(uri).unwrap_err();
            assert!(error.contains(expected), "{uri}: {error}");
        }
    }
}
