//! The secrets of one request, masked in what the server answers: some servers quote the request in their errors.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HeaderMap};
use zeroize::Zeroizing;

/// The parameters of a form that are secret.
const SECRET_PARAMETERS: [&str; 11] = [
    "code",
    "code_verifier",
    "refresh_token",
    "client_secret",
    "client_assertion",
    "assertion",
    "subject_token",
    "device_code",
    "token",
    "password",
    "state",
];
/// Shorter ones are no secrets: every letter of a message would be masked.
const SHORTEST: usize = 4;
const MASK: &str = "••••";

/// The secrets that were sent with a request.
#[derive(Default)]
pub(crate) struct SentSecrets(Vec<Zeroizing<String>>);

impl SentSecrets {
    /// Collects the secrets of a form or query and of the headers beside it.
    pub(crate) fn of(form: &str, headers: &HeaderMap) -> Self {
        let mut secrets = Self::default();
        for (name, value) in form_urlencoded::parse(form.as_bytes()) {
            if SECRET_PARAMETERS.contains(&&*name) {
                secrets.add(&value);
            }
        }
        for value in [headers.get(AUTHORIZATION), headers.get("dpop")].into_iter().flatten() {
            let text = value.to_str().unwrap_or_default();
            let credentials = text.split_once(' ').map_or(text, |(_, credentials)| credentials);
            secrets.add(credentials);
            // The secret of a client, which is form-encoded inside.
            if let Ok(decoded) = STANDARD.decode(credentials)
                && let Ok(decoded) = String::from_utf8(decoded).map(Zeroizing::new)
                && let Some((_, secret)) = decoded.split_once(':')
            {
                for (secret, _) in form_urlencoded::parse(secret.as_bytes()) {
                    secrets.add(&secret);
                }
            }
        }
        secrets
    }

    fn add(&mut self, secret: &str) {
        if secret.len() < SHORTEST {
            return;
        }
        let encoded: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        for form in [secret.to_owned(), encoded] {
            let form = Zeroizing::new(form);
            if !self.0.contains(&form) {
                self.0.push(form);
            }
        }
        // A secret that contains another one is masked as a whole.
        self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// Returns a text without these secrets.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK))
    }
}

impl std::fmt::Debug for SentSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SentSecrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t36_every_secret_of_a_request_is_masked() {
        let mut headers = HeaderMap::new();
        let basic = format!("Basic {}", STANDARD.encode("client:pa%24%24word+1"));
        headers.insert(AUTHORIZATION, basic.parse().unwrap());
        headers.insert("dpop", "pr00f.x.y".parse().unwrap());
        let form = "grant_type=refresh_token&refresh_token=r%2Fefresh1&code=c0de&code_verifier=ver1fier&scope=read&code=x";
        let secrets = SentSecrets::of(form, &headers);
        for (text, masked) in [
            ("token r/efresh1 is unknown", "token •••• is unknown"),
            ("token r%2Fefresh1", "token ••••"),
            ("c0de c0de ver1fier", "•••• •••• ••••"),
            ("secret pa$$word 1!", "secret ••••!"),
            ("proof pr00f.x.y", "proof ••••"),
            ("scope read of refresh_token", "scope read of refresh_token"),
        ] {
            assert_eq!(secrets.mask(text), masked);
        }
        let header = headers[AUTHORIZATION].to_str().unwrap();
        assert_eq!(secrets.mask(header), "Basic ••••");
        assert!(!format!("{secrets:?}").contains("c0de"));
    }
}
