//! Forms and query strings of OAuth requests.

use form_urlencoded::Serializer;
use zeroize::Zeroizing;

/// The body of a form post, or the query of a URL.
#[derive(Default)]
pub(crate) struct Form {
    text: Zeroizing<String>,
}

impl Form {
    /// Adds a parameter.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        let parameter = Zeroizing::new(Serializer::new(String::new()).append_pair(name, value).finish());
        if !self.text.is_empty() {
            self.text.push('&');
        }
        self.text.push_str(&parameter);
    }

    /// Adds a parameter if it has a value.
    pub(crate) fn add_optional(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.add(name, value);
        }
    }

    /// Adds the parameters of another form.
    pub(crate) fn append(&mut self, other: &Self) {
        if !self.text.is_empty() && !other.text.is_empty() {
            self.text.push('&');
        }
        self.text.push_str(&other.text);
    }

    /// Returns the encoded form.
    pub(crate) fn finish(self) -> String {
        self.text.to_string()
    }

    /// Appends the parameters to a URL, which may have a query already.
    pub(crate) fn append_to(self, url: &str) -> String {
        let separator = match url.split_once('?') {
            None => "?",
            Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
            Some(_) => "&",
        };
        format!("{url}{separator}{}", self.text.as_str())
    }
}

/// Returns the first value of a parameter in a query string or form.
pub(crate) fn parameter(query: &str, name: &str) -> Option<String> {
    form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_appended_to_any_url() {
        let url = |base| {
            let mut form = Form::default();
            form.add("a", "b c&d");
            form.add_optional("e", None);
            form.add_optional("f", Some(""));
            form.append_to(base)
        };
        assert_eq!(url("https://a.example/x"), "https://a.example/x?a=b+c%26d");
        assert_eq!(url("https://a.example/x?p=1"), "https://a.example/x?p=1&a=b+c%26d");
        assert_eq!(url("https://a.example/x?"), "https://a.example/x?a=b+c%26d");
    }
}
