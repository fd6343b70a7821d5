//! Consent screens: every field of a server that influences what runs, what it receives and where data goes, verbatim
//! and one line per field. The changed definition of a tool is shown in the same way.
//!
//! Invariants: two configurations that would run or reach something different have different lines; nothing that
//! influences execution is masked. Only the literal value of a header whose name looks secret is masked, and a digest
//! beside it distinguishes values. Control, bidirectional and invisible characters are escaped, so the lines can
//! be printed as they are.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use switchboard_http::Secret;

use crate::canonical::to_hex;
use crate::escape::{is_invisible, push_escaped};
use crate::json_lines::json_lines;
use crate::mask::{MASK, is_secret_name, mask_literals};
use crate::oauth::OAuthConfig;
use crate::server_config::{ServerConfig, TransportConfig};

/// Above this many pairs of lines a diff does not search for the longest common subsequence.
const MAX_LINE_PAIRS: usize = 4_000_000;

/// The lines shown to a user who approves a server or the changed definition of a tool.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConsentScreen(Vec<String>);

/// A line of a diff between two consent screens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsentLine<'a> {
    /// The line is on both screens.
    Same(&'a str),
    /// The line is only on the earlier screen.
    Before(&'a str),
    /// The line is only on the current screen.
    Now(&'a str),
}

impl ConsentScreen {
    /// Returns the screen of a server.
    pub fn of_server(config: &ServerConfig) -> Self {
        let mut lines = Lines(Vec::new());
        lines.put("type", config.transport.type_name());
        match &config.transport {
            TransportConfig::Stdio { command, args, env, inherit_env, cwd } => {
                lines.put("command", command);
                lines.put_all("arg", args);
                cwd.iter().for_each(|cwd| lines.put("cwd", cwd));
                lines.put_pairs("env", "=", env, |_, value| literal(value));
                lines.put_all("inherits env", inherit_env);
            }
            TransportConfig::Http { url, headers, allow_http, .. } => {
                lines.put("url", url);
                lines.put_pairs("header", ": ", headers, header_value);
                if *allow_http {
                    lines.put("allowHttp", "true");
                }
            }
            TransportConfig::Sdk { name } => lines.put("name", name),
            TransportConfig::Proxy { url, id } => {
                lines.put("url", url);
                lines.put("id", id);
            }
        }
        if let Some(helper) = &config.headers_helper {
            lines.put("headersHelper", &helper.command);
            lines.put_pairs("headersHelper env", "=", &helper.env, |_, value| literal(value));
            lines.put_all("headersHelper inherits env", &helper.inherit_env);
            if let Some(timeout) = helper.timeout {
                lines.put("headersHelper timeout", &timeout.as_millis().to_string());
            }
        }
        if let Some(oauth) = &config.oauth {
            lines.oauth(oauth);
        }
        lines.put_all("allowTools", &config.settings.allow_tools);
        lines.put_all("denyTools", &config.settings.deny_tools);
        // Settings about when it runs and for how long.
        const SETTINGS: [&str; 9] = [
            "disabled",
            "required",
            "lazy",
            "trust",
            "timeout",
            "startupTimeout",
            "restart",
            "share",
            "idleTimeout",
        ];
        let plain = ServerConfig::new(config.transport.clone()).with_settings(config.settings.clone());
        for (key, value) in plain.fields() {
            if SETTINGS.contains(&key.as_str()) {
                lines.put(&key, value.as_str().map_or_else(|| value.to_string(), str::to_owned).as_str());
            }
        }
        Self(lines.0)
    }

    /// Returns the screen of a tool's definition, which is JSON text.
    pub fn of_definition(text: &str) -> Self {
        Self(json_lines(text))
    }

    /// Returns the lines; they can be printed verbatim.
    pub fn lines(&self) -> &[String] {
        &self.0
    }

    /// Returns the line diff from an earlier screen to this one.
    pub fn diff<'a>(&'a self, before: &'a Self) -> Vec<ConsentLine<'a>> {
        let (old, new) = (&before.0[..], &self.0[..]);
        let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let rest = old.len().min(new.len()) - start;
        let end =
            old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
        let (old_middle, new_middle) = (&old[start..old.len() - end], &new[start..new.len() - end]);
        let same = |lines: &'a [String]| lines.iter().map(|line| ConsentLine::Same(line));
        let mut changes: Vec<_> = same(&new[..start]).collect();
        changes.extend(diff_middle(old_middle, new_middle));
        changes.extend(same(&new[new.len() - end..]));
        changes
    }
}

/// Hides the lines, which may contain secrets.
impl fmt::Debug for ConsentScreen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConsentScreen([{} lines])", self.0.len())
    }
}

/// Returns the diff of the lines between the common prefix and the common suffix, by longest common subsequence.
fn diff_middle<'a>(old: &'a [String], new: &'a [String]) -> Vec<ConsentLine<'a>> {
    let width = new.len() + 1;
    let mut common =
        vec![0_usize; if old.len() * new.len() <= MAX_LINE_PAIRS { (old.len() + 1) * width } else { 0 }];
    if !common.is_empty() {
        for (row, old) in old.iter().enumerate().rev() {
            for (column, new) in new.iter().enumerate().rev() {
                common[row * width + column] = match old == new {
                    true => common[(row + 1) * width + column + 1] + 1,
                    false => common[(row + 1) * width + column].max(common[row * width + column + 1]),
                };
            }
        }
    }
    let length = |row: usize, column: usize| common.get(row * width + column).copied().unwrap_or(0);
    let (mut row, mut column, mut changes) = (0, 0, Vec::new());
    while row < old.len() || column < new.len() {
        match (old.get(row), new.get(column)) {
            (Some(before), Some(now)) if before == now => {
                changes.push(ConsentLine::Same(now));
                (row, column) = (row + 1, column + 1);
            }
            (Some(before), now) if now.is_none() || length(row + 1, column) >= length(row, column + 1) => {
                changes.push(ConsentLine::Before(before));
                row += 1;
            }
            (_, Some(now)) => {
                changes.push(ConsentLine::Now(now));
                column += 1;
            }
            (_, None) => break,
        }
    }
    changes
}

struct Lines(Vec<String>);

impl Lines {
    fn put(&mut self, label: &str, value: &str) {
        self.0.push(format!("{label} {}", literal(value)));
    }

    fn put_all(&mut self, label: &str, values: &[String]) {
        values.iter().for_each(|value| self.put(label, value));
    }

    fn put_pairs(
        &mut self,
        label: &str,
        between: &str,
        pairs: &BTreeMap<String, Secret>,
        shown: impl Fn(&str, &str) -> String,
    ) {
        for (name, value) in pairs {
            let shown = shown(name, value.expose());
            let name = if name.contains(['=', ':']) { quoted(name) } else { literal(name) };
            self.0.push(format!("{label} {name}{between}{shown}"));
        }
    }
}

impl Lines {
    /// Adds every setting of a login, one line each: they decide where secrets go.
    fn oauth(&mut self, oauth: &OAuthConfig) {
        let fields = oauth.known_fields();
        if fields.is_empty() {
            self.put("oauth", "{}");
        }
        for (key, value) in fields {
            self.json(&format!("oauth {key}"), &value);
        }
    }

    /// Adds a value: a line for each member and item, or one for a text or number.
    fn json(&mut self, label: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    self.json(&format!("{label} {}", quoted(name)), value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.json(label, item)),
            Value::String(text) => self.put(label, text),
            other => self.put(label, &other.to_string()),
        }
    }
}

/// Returns the value of a header, with its literal parts masked and a digest appended if its name looks secret.
fn header_value(name: &str, value: &str) -> String {
    let shown = mask_literals(value);
    if !is_secret_name(name) || shown == value {
        return literal(value);
    }
    let digest = to_hex(&Sha256::digest(value)[..8]);
    format!("{} (sha256 {digest})", literal(&shown))
}

/// Returns the text verbatim if it is unambiguous, otherwise quoted.
fn literal(text: &str) -> String {
    let is_plain = |char: char| {
        (char.is_ascii_graphic() || char.is_alphanumeric() || MASK.contains(char))
            && !matches!(char, '"' | '\\')
            && !is_invisible(char)
    };
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// Returns the text in quotes, with control and invisible characters escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            char => push_escaped(&mut out, char),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::Approvals;

    fn read(value: Value) -> ServerConfig {
        serde_json::from_value(value).unwrap()
    }

    fn text(value: Value) -> String {
        ConsentScreen::of_server(&read(value)).lines().join("\n")
    }

    #[test]
    fn s2_nothing_that_influences_execution_is_masked() {
        let shown = text(
            json!({"command": "sh", "args": ["-c", "token=x; touch /tmp/owned"], "cwd": "sub dir",
            "env": {"PATH": ".bin:/usr/bin", "LD_PRELOAD": "./evil.so", "TOKEN": "${TOKEN}", "KEY": "s3cr3t"}}),
        );
        assert_eq!(
            shown,
            "type stdio\ncommand sh\narg -c\narg \"token=x; touch /tmp/owned\"\ncwd \"sub dir\"\nenv KEY=s3cr3t\n\
             env LD_PRELOAD=./evil.so\nenv PATH=.bin:/usr/bin\nenv TOKEN=${TOKEN}"
        );
        let address = "https://u:p@example.com/mcp?key=s3";
        let http =
            text(json!({"url": address, "headers": {"Authorization": "Bearer s3cr3t", "X-Team": "blue",
            "Cookie": "${COOKIE}"}}));
        assert!(http.contains(address) && http.contains("header X-Team: blue"), "{http}");
        assert!(http.contains("header Cookie: ${COOKIE}") && !http.contains("s3cr3t"), "{http}");
        let other =
            text(json!({"url": address, "headers": {"Authorization": "Bearer s3cr3T", "X-Team": "blue",
            "Cookie": "${COOKIE}"}}));
        assert_ne!(http, other, "another secret is visible as another");
    }

    #[test]
    fn s2_a_change_is_a_literal_diff() {
        let before = ConsentScreen::of_server(&read(
            json!({"command": "x", "args": ["a", "b", "c"], "env": {"LD_PRELOAD": "./evil.so"}}),
        ));
        let now = ConsentScreen::of_server(&read(
            json!({"command": "x", "args": ["b", "c"], "env": {"LD_PRELOAD": "./worse.so"}}),
        ));
        use ConsentLine::{Before, Now, Same};
        assert_eq!(
            now.diff(&before),
            [
                Same("type stdio"),
                Same("command x"),
                Before("arg a"),
                Same("arg b"),
                Same("arg c"),
                Before("env LD_PRELOAD=./evil.so"),
                Now("env LD_PRELOAD=./worse.so"),
            ]
        );
    }

    /// Characters that a screen could hide, confuse or obey, among ordinary ones.
    fn word() -> impl Strategy<Value = String> {
        let chars = prop::sample::select(
            "ab=:\"\\ \n\t\r\u{1b}\u{7}\u{202e}\u{200b}\u{feff}\u{a0}\u{3000}\u{e0041}•é${}-/n0u"
                .chars()
                .collect::<Vec<_>>(),
        );
        prop::collection::vec(prop_oneof![chars, any::<char>()], 0..6)
            .prop_map(|chars| chars.into_iter().collect())
    }

    fn word_list() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec(word(), 0..3)
    }

    fn pairs() -> impl Strategy<Value = BTreeMap<String, String>> {
        let name = prop_oneof![word(), Just("Authorization".to_owned()), Just("PATH".to_owned())];
        prop::collection::btree_map(name, word(), 0..3)
    }

    fn config() -> impl Strategy<Value = ServerConfig> {
        let stdio = (word(), word_list(), pairs(), word_list(), prop::option::of(word())).prop_map(
            |(command, args, env, inherit, cwd)| {
                let env = env.into_iter().map(|(name, value)| (name, value.into())).collect();
                ServerConfig::new(TransportConfig::Stdio { command, args, env, inherit_env: inherit, cwd })
            },
        );
        let http =
            (word(), pairs(), any::<bool>(), any::<bool>()).prop_map(|(url, headers, sse, allow_http)| {
                let headers = headers.into_iter().map(|(name, value)| (name, value.into())).collect();
                let binding = if sse { crate::Binding::Sse } else { crate::Binding::Streamable };
                ServerConfig::new(TransportConfig::Http { url, headers, binding, allow_http })
            });
        let sdk = word().prop_map(ServerConfig::sdk);
        let proxy =
            (word(), word()).prop_map(|(url, id)| ServerConfig::new(TransportConfig::Proxy { url, id }));
        let settings = (word_list(), word_list(), any::<bool>());
        let login = (prop::option::of(word()), prop::option::of(word()), word_list(), pairs());
        (prop_oneof![4 => stdio, 3 => http, 1 => sdk, 1 => proxy], settings, prop::option::of(login))
            .prop_map(|(mut config, settings, login)| {
                if let Some((client_id, command, scopes, authorize_parameters)) = login {
                    let oauth = OAuthConfig { client_id, scopes, authorize_parameters, ..OAuthConfig::new() };
                    config.oauth = Some(Box::new(oauth));
                    config.headers_helper = command.map(crate::HeadersHelperConfig::new);
                }
                (config.settings.allow_tools, config.settings.deny_tools, config.settings.trust) = settings;
                config
            })
    }

    /// The configuration with one field changed by one character, by the order of its fields.
    fn nudged(config: &ServerConfig, at: usize, by: char) -> ServerConfig {
        fn texts(transport: &mut TransportConfig) -> Vec<&mut String> {
            match transport {
                TransportConfig::Stdio { command, args, inherit_env, cwd, .. } => {
                    std::iter::once(command).chain(args).chain(inherit_env).chain(cwd).collect()
                }
                TransportConfig::Http { url, .. } => vec![url],
                TransportConfig::Sdk { name } => vec![name],
                TransportConfig::Proxy { url, id } => vec![url, id],
            }
        }
        let mut config = config.clone();
        let map = match &mut config.transport {
            TransportConfig::Stdio { env, .. } => Some(env),
            TransportConfig::Http { headers, .. } => Some(headers),
            _ => None,
        };
        if let Some(map) = map.filter(|map| !map.is_empty() && at.is_multiple_of(2)) {
            let value = map.values_mut().nth(at / 2 % 3).filter(|_| true);
            if let Some(value) = value {
                *value = format!("{}{by}", value.expose()).into();
                return config;
            }
        }
        let mut texts = texts(&mut config.transport);
        let place = at % texts.len();
        let text = &mut *texts[place];
        let cut = text.char_indices().nth(at % 7).map_or(text.len(), |(cut, _)| cut);
        text.insert(cut, by);
        config
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn s2_every_byte_that_changes_what_runs_changes_what_is_shown(
            one in config(), other in config(), at in 0_usize..1000, by in word(),
        ) {
            let project = std::path::Path::new("/shop");
            let by = by.chars().next().unwrap_or('\u{200d}');
            let near = nudged(&one, at, by);
            for second in [&other, &near] {
                let is_same = Approvals::fingerprint(project, "s", &one) == Approvals::fingerprint(project, "s", second)
                    && one.settings.trust == second.settings.trust;
                prop_assert_eq!(ConsentScreen::of_server(&one) == ConsentScreen::of_server(second), is_same, "{:?}", ConsentScreen::of_server(second).lines());
            }
            for line in ConsentScreen::of_server(&one).lines() {
                prop_assert!(!line.contains(is_invisible), "{:?}", line);
            }
        }
    }
}
