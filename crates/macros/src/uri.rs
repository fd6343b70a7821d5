//! The variables of a resource's URI: `{id}`, `{+path}`, `{?limit,tag*}`.

/// A variable in a URI.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) in_query: bool,
}

/// The variables of a URI, in order.
///
/// # Errors
/// What is wrong with the URI, in words.
pub(crate) fn variables(uri: &str) -> Result<Vec<Variable>, String> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.');
    if !scheme.starts_with(|first: char| first.is_ascii_alphabetic()) || !scheme.chars().all(legal) {
        return Err("a URI begins with a scheme, like `doc://`".into());
    }
    let plain = |text: &str| match text.find(['?', '#']) {
        Some(place) if text[place..].starts_with('#') => Err("the URI of a resource has no `#`".to_owned()),
        Some(_) => Err("a query is written `{?city}`, not `?city={city}`".to_owned()),
        None => Ok(()),
    };
    let mut variables: Vec<Variable> = Vec::new();
    let mut rest = uri;
    while let Some(open) = rest.find(['{', '}']) {
        let unbalanced = || "a `{` or `}` has no partner".to_owned();
        plain(&rest[..open])?;
        let inside = rest[open..].strip_prefix('{').ok_or_else(unbalanced)?;
        let (expression, after) = inside.split_once('}').ok_or_else(unbalanced)?;
        let (names, in_query) = match expression.strip_prefix('?') {
            Some(query) => (query, true),
            None => (expression.strip_prefix('+').unwrap_or(expression), false),
        };
        if in_query && !after.is_empty() {
            return Err("nothing may follow the query".into());
        }
        for name in names.split(',') {
            let name = if in_query { name.strip_suffix('*').unwrap_or(name) } else { name };
            let legal = |letter: char| letter.is_alphanumeric() || letter == '_';
            if name.is_empty() || !name.chars().all(legal) {
                return Err(format!("`{{{expression}}}` is none of `{{x}}`, `{{+x}}`, `{{?x,y*}}`"));
            }
            if variables.iter().any(|known| known.name == name) {
                return Err(format!("the variable `{name}` stands twice"));
            }
            variables.push(Variable { name: name.to_owned(), in_query });
        }
        if !in_query && after.starts_with('{') && !after.starts_with("{?") {
            return Err("two variables need text between them".into());
        }
        rest = after;
    }
    plain(rest)?;
    Ok(variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_in_path_and_query() {
        let found = variables("doc://{id}/pages/{+rest}{?limit,tag*}").unwrap();
        let names: Vec<_> =
            found.iter().map(|variable| (variable.name.as_str(), variable.in_query)).collect();
        assert_eq!(names, [("id", false), ("rest", false), ("limit", true), ("tag", true)]);
    }

    #[test]
    fn what_is_no_pattern_is_told_why() {
        for (uri, says) in [
            ("documents", "scheme"),
            ("doc://{id", "no partner"),
            ("doc://id}", "no partner"),
            ("doc://{}", "none of"),
            ("doc://{a}/{a}", "twice"),
            ("doc://{a}{b}", "text between"),
            ("doc://x{?a}/y", "follow the query"),
            ("doc://x?a={a}", "a query is written"),
            ("doc://{a}?b", "a query is written"),
            ("doc://x#y", "no `#`"),
        ] {
            let error = variables(uri).unwrap_err();
            assert!(error.contains(says), "{uri}: {error}");
        }
    }
}
