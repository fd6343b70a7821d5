//! Approvals of project servers.
//!
//! Invariants: an approval is of one exact configuration, under one name, in one project; any change of what would be
//! run or reached needs a new one. Approvals are stored with the user's files, so no project can approve itself.
//!
//! An approval covers all fields that determine what runs, where it runs, what it receives, where it is reached and which
//! of its tools are shown, as written. It does not cover `disabled`, `required`, `lazy`, `timeout`, `startupTimeout`,
//! `idleTimeout` and `restart`, which change when a server runs and not what it is; `trust`, which no project can set; and unknown
//! fields, which have no effect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::canonical::{canonical_digest, to_hex};
use crate::consent::ConsentScreen;
use crate::disk::{self, Owner};
use crate::error::{ConfigError, ConfigErrorKind};
use crate::server_config::ServerConfig;
use crate::update::update;

/// Size limit of the file, which includes consent screens.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Fields that an approval does not cover.
const UNCOVERED_FIELDS: [&str; 8] =
    ["disabled", "required", "lazy", "timeout", "startupTimeout", "idleTimeout", "restart", "trust"];

/// The approval status of a server's exact configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum Approval {
    /// It was approved.
    Approved,
    /// No configuration under this name was approved.
    New,
    /// Another configuration under this name was approved.
    Changed(Box<PreviousApproval>),
}

/// An earlier approved configuration.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PreviousApproval {
    /// The configuration, masked.
    pub masked: Value,
    /// The consent screen on which it was approved.
    pub consent: ConsentScreen,
}

/// The stored approvals of one user.
#[derive(Clone, Debug)]
pub struct Approvals {
    path: PathBuf,
    /// By project, then by name.
    projects: Projects,
}

type Projects = BTreeMap<String, BTreeMap<String, ApprovalRecord>>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ApprovalRecord {
    hash: String,
    /// The masked configuration, for lists.
    shown: Value,
    /// The consent screen, for diffs.
    #[serde(default)]
    consent: ConsentScreen,
}

#[derive(Serialize, Deserialize)]
struct ApprovalsFile {
    projects: Projects,
}

impl Approvals {
    /// Reads a file of approvals; a missing file is empty.
    ///
    /// # Errors
    /// When the file cannot be read, could have been written by others, or is not a file of approvals.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        let path = path.into();
        let projects = parse(&path, disk::read(&path, Owner::User, MAX_FILE_BYTES)?.as_deref())?;
        Ok(Self { path, projects })
    }

    /// Returns approvals without entries and without a file.
    pub fn empty() -> Self {
        Self { path: PathBuf::new(), projects: Projects::new() }
    }

    /// Returns whether this exact entry was approved under this name in this project.
    pub fn approval_of(&self, project: &Path, name: &str, entry: &ServerConfig) -> Approval {
        match self.projects.get(&key(project)).and_then(|servers| servers.get(name)) {
            None => Approval::New,
            Some(record) if record.hash == Self::fingerprint(project, name, entry) => Approval::Approved,
            Some(record) => Approval::Changed(Box::new(PreviousApproval {
                masked: record.shown.clone(),
                consent: record.consent.clone(),
            })),
        }
    }

    /// Approves this exact entry. Pass the entry that was shown, not one that was read since.
    ///
    /// # Errors
    /// When it cannot be stored; then nothing is approved.
    pub fn approve(&mut self, project: &Path, name: &str, entry: &ServerConfig) -> Result<(), ConfigError> {
        let record = ApprovalRecord {
            hash: Self::fingerprint(project, name, entry),
            shown: entry.masked(),
            consent: ConsentScreen::of_server(entry),
        };
        self.change(|projects| {
            projects.entry(key(project)).or_default().insert(name.to_owned(), record.clone());
        })
    }

    /// Revokes the approval of a server.
    ///
    /// # Errors
    /// When the change cannot be stored.
    pub fn revoke(&mut self, project: &Path, name: &str) -> Result<(), ConfigError> {
        self.change(|projects| {
            if let Some(servers) = projects.get_mut(&key(project)) {
                servers.remove(name);
            }
            projects.retain(|_, servers| !servers.is_empty());
        })
    }

    /// Returns the fingerprint that an approval is bound to, in hexadecimal, for approval without a prompt.
    pub fn fingerprint(project: &Path, name: &str, entry: &ServerConfig) -> String {
        let mut known = entry.clone();
        known.unknown.clear();
        known.oauth.iter_mut().for_each(|oauth| oauth.unknown.clear());
        let fields = known.fields().into_iter();
        let fields = fields.filter(|(key, _)| !UNCOVERED_FIELDS.contains(&key.as_str()));
        // As bytes: a lossy conversion could make two paths equal.
        let project = project.as_os_str().as_encoded_bytes();
        let fields: serde_json::Map<_, _> = fields.collect();
        to_hex(&canonical_digest(&json!({"project": project, "name": name, "entry": fields})))
    }

    fn change(&mut self, change: impl Fn(&mut Projects)) -> Result<(), ConfigError> {
        self.projects = update(&self.path, Owner::User, MAX_FILE_BYTES, |stored| {
            let mut projects = parse(&self.path, stored)?;
            change(&mut projects);
            let text = serde_json::to_string_pretty(&ApprovalsFile { projects: projects.clone() })
                .map_err(|error| disk::io_error(&self.path, "write it", &error.into()))?;
            Ok((text + "\n", projects))
        })?;
        Ok(())
    }
}

fn parse(path: &Path, text: Option<&str>) -> Result<Projects, ConfigError> {
    let Some(text) = text else { return Ok(Projects::new()) };
    let stored: Result<ApprovalsFile, _> = serde_json::from_str(text);
    let stored = stored.map_err(|error| {
        let what = format!("this is not a file of approvals ({error}); move it away to start over");
        ConfigError::new("", ConfigErrorKind::Syntax { what }).in_file(path)
    })?;
    Ok(stored.projects)
}

fn key(project: &Path) -> String {
    project.to_string_lossy().into_owned()
}
