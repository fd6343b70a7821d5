//! Masks credentials that a server repeats in its challenge, so that no error or log shows them.

use http::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};

use crate::authorize::Credentials;

/// Shorter values are no secrets, and may stand in a challenge by chance.
const SHORTEST_SECRET: usize = 4;

/// Replaces the values of credentials in `WWW-Authenticate` headers.
pub(crate) fn mask_echoed(headers: &mut HeaderMap, credentials: &Credentials) {
    if !headers.contains_key(WWW_AUTHENTICATE) {
        return;
    }
    let secrets: Vec<&str> = credentials
        .headers()
        .iter()
        .filter_map(|(_, value)| std::str::from_utf8(value.as_bytes()).ok())
        // Without the scheme, which challenges name, too.
        .map(|value| value.split_once(' ').map_or(value, |(_, secret)| secret))
        .filter(|secret| secret.len() >= SHORTEST_SECRET)
        .collect();
    let masked: Vec<HeaderValue> =
        headers.get_all(WWW_AUTHENTICATE).iter().map(|value| mask(value, &secrets)).collect();
    headers.remove(WWW_AUTHENTICATE);
    for value in masked {
        headers.append(WWW_AUTHENTICATE, value);
    }
}

fn mask(value: &HeaderValue, secrets: &[&str]) -> HeaderValue {
    let Ok(text) = value.to_str() else { return value.clone() };
    match secrets.iter().any(|secret| text.contains(secret)) {
        true => {
            let masked = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "****"));
            HeaderValue::from_str(&masked).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
        }
        false => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use http::header::AUTHORIZATION;

    use super::*;

    #[test]
    fn a_token_that_is_repeated_is_masked_and_the_rest_is_kept() {
        let credentials =
            Credentials::none().with_header(AUTHORIZATION, HeaderValue::from_static("Bearer s3cret-token"));
        let mut headers = HeaderMap::new();
        headers.append(
            WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer error_description=\"bad: s3cret-token\""),
        );
        headers.append(WWW_AUTHENTICATE, HeaderValue::from_static("DPoP algs=\"ES256\""));
        mask_echoed(&mut headers, &credentials);
        let values: Vec<&HeaderValue> = headers.get_all(WWW_AUTHENTICATE).iter().collect();
        assert_eq!(values, ["Bearer error_description=\"bad: ****\"", "DPoP algs=\"ES256\""]);
        let mut none = HeaderMap::new();
        mask_echoed(&mut none, &credentials);
        assert!(none.is_empty());
    }
}
