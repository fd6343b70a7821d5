//! `switchboard key`: creates, lists and revokes the API keys of services.
//!
//! Invariant: a key is printed once, by the command that creates it; files and every other output have its hash or its
//! prefix.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use switchboard::auth::{ApiKeyEntry, ApiKeys, Scopes};
use switchboard::host::config::disk::{self, Owner};
use switchboard::host::config::update::update;
use switchboard::host::config::{ConfigError, ConfigErrorKind, Locations};

use crate::args::{KeyAction, KeyArgs, KeyCreateArgs, KeyRevokeArgs};
use crate::environment::variable;
use crate::error::CommandError;
use crate::login::duration_text;
use crate::output::{OutputStream, Screen, TextTable, encode, print_json};
use crate::sanitize::one_line;

/// The least number of characters of a prefix: `sbk_` and four digits.
const MIN_PREFIX: usize = 8;

pub(crate) fn run(args: &KeyArgs) -> Result<(), CommandError> {
    let options = args.action.file();
    let path = match &options.file {
        Some(path) => path.clone(),
        None => default_path()?,
    };
    match &args.action {
        KeyAction::Create(args) => create(args, &path),
        KeyAction::List(_) => list(&path, options.json),
        KeyAction::Revoke(args) => revoke(args, &path),
    }
}

fn default_path() -> Result<PathBuf, CommandError> {
    // The project does not matter for the user's own directory.
    let locations = Locations::standard(".", &variable).ok_or_else(|| {
        CommandError::other("no_home", "neither HOME nor XDG_CONFIG_HOME is set")
            .hint("set HOME to your home directory, or name the file with --file PATH")
    })?;
    Ok(locations.user_file.with_file_name("api-keys.json"))
}

fn create(args: &KeyCreateArgs, path: &Path) -> Result<(), CommandError> {
    let expires_at = args.expires.map(|validity| unix_now() + validity.as_secs());
    let scopes = Scopes::parse(&args.scope.join(" "));
    let created = update(path, Owner::User, ApiKeys::MAX_FILE_BYTES, |text| {
        let mut keys = parse(path, text)?;
        if keys.iter().any(|entry| entry.name == args.name) {
            return Ok((text.unwrap_or_default().to_owned(), None));
        }
        let key = keys.create(&args.name, scopes.clone(), expires_at);
        let entry = keys.iter().last().cloned();
        Ok((keys.to_json() + "\n", entry.map(|entry| (key, entry))))
    })?;
    let Some((key, entry)) = created else {
        return Err(CommandError::other("key_exists", format!("a key named {:?} exists", args.name))
            .hint("choose another name, or revoke it first: `switchboard key revoke NAME`"));
    };
    let out = OutputStream::stdout();
    if args.file.json {
        let mut shown = entry_json(&entry);
        shown["key"] = json!(key.expose());
        shown["file"] = json!(path.display().to_string());
        return print_json(&out, &encode(&shown)?);
    }
    let stored = one_line(&path.display().to_string());
    Screen::new().say(&format!(
        "created {}, {}; only its hash is stored in {stored}, so keep the key now:",
        one_line(&entry.name),
        expiry_text(&entry, "it expires in ")
    ));
    Ok(out.print(&format!("{}\n", key.expose()))?)
}

fn list(path: &Path, is_json: bool) -> Result<(), CommandError> {
    let text = disk::read(path, Owner::User, ApiKeys::MAX_FILE_BYTES)?;
    let keys = parse(path, text.as_deref())?;
    let out = OutputStream::stdout();
    if is_json {
        let all: Vec<Value> = keys.iter().map(entry_json).collect();
        return print_json(&out, &encode(&all)?);
    }
    if keys.iter().next().is_none() {
        let path = one_line(&path.display().to_string());
        Screen::new().say(&format!("{path} has no keys; create one with `switchboard key create NAME`"));
        return Ok(());
    }
    let mut table = TextTable::new(&["NAME", "PREFIX", "SCOPES", "CREATED", "EXPIRES"]);
    for entry in keys.iter() {
        let age = Duration::from_secs(unix_now().saturating_sub(entry.created_at));
        table.push_row([
            one_line(&entry.name),
            one_line(&entry.prefix()),
            one_line(&entry.scopes.to_string()),
            format!("{} ago", duration_text(age)),
            expiry_text(entry, "in "),
        ]);
    }
    Ok(out.print(&table.render(&out))?)
}

fn revoke(args: &KeyRevokeArgs, path: &Path) -> Result<(), CommandError> {
    if !path.exists() {
        return Err(ambiguous(args, &[]));
    }
    let outcome = update(path, Owner::User, ApiKeys::MAX_FILE_BYTES, |text| {
        let mut keys = parse(path, text)?;
        let matching: Vec<ApiKeyEntry> =
            keys.iter().filter(|entry| matches(entry, &args.key)).cloned().collect();
        match <[ApiKeyEntry; 1]>::try_from(matching) {
            Ok([entry]) => {
                keys.revoke(&entry.id);
                Ok((keys.to_json() + "\n", Ok(entry)))
            }
            Err(matching) => Ok((text.unwrap_or_default().to_owned(), Err(matching))),
        }
    })?;
    let entry = outcome.map_err(|matching| ambiguous(args, &matching))?;
    let out = OutputStream::stdout();
    if args.file.json {
        let mut shown = entry_json(&entry);
        shown["revoked"] = json!(true);
        return print_json(&out, &encode(&shown)?);
    }
    Ok(out.print(&format!(
        "revoked {} ({}): running services reject it within a second\n",
        one_line(&entry.name),
        one_line(&entry.prefix())
    ))?)
}

/// Returns whether an entry has this name, or its key begins like this. A whole key is accepted, too.
fn matches(entry: &ApiKeyEntry, text: &str) -> bool {
    let prefix = entry.prefix();
    let is_prefix =
        text.len() >= MIN_PREFIX && (prefix.starts_with(text) || text.starts_with(&format!("{prefix}_")));
    entry.name == text || is_prefix
}

fn ambiguous(args: &KeyRevokeArgs, matching: &[ApiKeyEntry]) -> CommandError {
    // The argument may be a key.
    let shown = one_line(&args.key.chars().take("sbk_0123456789ab".len()).collect::<String>());
    if matching.is_empty() {
        return CommandError::other("unknown_key", format!("no key is named {shown:?} or begins with it"))
            .hint("`switchboard key list` lists the keys; --file PATH names another file");
    }
    let prefixes: Vec<String> = matching.iter().map(|entry| one_line(&entry.prefix())).collect();
    CommandError::other("ambiguous_key", format!("{} keys fit {shown:?}", matching.len()))
        .hint(format!("name one of them: {}", prefixes.join(", ")))
}

fn parse(path: &Path, text: Option<&str>) -> Result<ApiKeys, ConfigError> {
    let Some(text) = text else { return Ok(ApiKeys::default()) };
    ApiKeys::parse(text).map_err(|reason| {
        let what = format!("it is not a file of API keys: {reason}; name another one with --file PATH");
        ConfigError::new("", ConfigErrorKind::Syntax { what }).in_file(path)
    })
}

fn entry_json(entry: &ApiKeyEntry) -> Value {
    json!({
        "id": entry.id,
        "name": entry.name,
        "prefix": entry.prefix(),
        "scopes": entry.scopes.iter().collect::<Vec<_>>(),
        "createdAt": entry.created_at,
        "expiresAt": entry.expires_at,
        "expired": entry.expires_at.is_some_and(|expires_at| expires_at <= unix_now()),
    })
}

/// Returns when a key expires, in words; `prefix` precedes a time that is left.
fn expiry_text(entry: &ApiKeyEntry, prefix: &str) -> String {
    match entry.expires_at {
        None => "never expires".to_owned(),
        Some(expires_at) => match expires_at.checked_sub(unix_now()) {
            None | Some(0) => "expired".to_owned(),
            Some(left) => format!("{prefix}{}", duration_text(Duration::from_secs(left))),
        },
    }
}

fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
