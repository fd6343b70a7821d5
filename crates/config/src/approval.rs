//! Which servers of which projects somebody has approved.
//!
//! Invariants: an approval is of one exact configuration, under one name, in one project; any change to what would be
//! run or reached needs another. Approvals are kept with the user's files, never in the project, so no project can
//! approve itself.
//!
//! What counts is everything that says what is run, where it runs, what it is given, where it is reached and which of
//! its tools are shown, as written. What does not: `disabled`, `required`, `lazy`, `timeout`, `startupTimeout` and
//! `restart`, which change when a server runs and not what it is; `trust`, which no project can set; and unknown
//! fields, which nothing reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::canonical::{digest, hexadecimal};
use crate::consent::Consent;
use crate::disk::{self, Owner};
use crate::fault::{Fault, Problem};
use crate::server_config::ServerConfig;
use crate::update::update;

/// Consent screens are kept, so that changes can be shown.
const LARGEST: u64 = 16 * 1024 * 1024;
/// Fields that are not part of what is approved.
const ASIDE: [&str; 7] = ["disabled", "required", "lazy", "timeout", "startupTimeout", "restart", "trust"];

/// Whether a server's exact configuration was approved.
#[derive(Clone, Debug, PartialEq)]
pub enum Approval {
    /// It was.
    Approved,
    /// None under this name was.
    New,
    /// Another one under this name was.
    Changed(Box<Previous>),
}

/// A configuration that was approved before.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Previous {
    /// The configuration, masked.
    pub masked: Value,
    /// The screen it was approved on.
    pub consent: Consent,
}

/// The approvals of one user, as stored.
#[derive(Clone, Debug)]
pub struct Approvals {
    path: PathBuf,
    /// By project, then by name.
    projects: Projects,
}

type Projects = BTreeMap<String, BTreeMap<String, Record>>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    hash: String,
    /// The configuration, masked, for lists.
    shown: Value,
    /// The consent screen, for telling what changed.
    #[serde(default)]
    consent: Consent,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    projects: Projects,
}

impl Approvals {
    /// Reads the approvals kept there; a missing file is empty.
    ///
    /// # Errors
    /// When the file cannot be read, could have been written by others, or is not one of approvals.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Fault> {
        let path = path.into();
        let projects = load(&path)?;
        Ok(Self { path, projects })
    }

    /// No approvals, and nowhere to keep any.
    pub fn none() -> Self {
        Self { path: PathBuf::new(), projects: Projects::new() }
    }

    /// Whether this exact entry was approved under this name in this project.
    pub fn of(&self, project: &Path, name: &str, entry: &ServerConfig) -> Approval {
        match self.projects.get(&key(project)).and_then(|servers| servers.get(name)) {
            None => Approval::New,
            Some(record) if record.hash == Self::fingerprint(project, name, entry) => Approval::Approved,
            Some(record) => Approval::Changed(Box::new(Previous {
                masked: record.shown.clone(),
                consent: record.consent.clone(),
            })),
        }
    }

    /// Approves this exact entry: give the one that was shown, not one that was read since.
    ///
    /// # Errors
    /// When it cannot be stored; then nothing is approved.
    pub fn approve(&mut self, project: &Path, name: &str, entry: &ServerConfig) -> Result<(), Fault> {
        let record = Record {
            hash: Self::fingerprint(project, name, entry),
            shown: entry.masked(),
            consent: Consent::of(entry),
        };
        self.change(|projects| {
            projects.entry(key(project)).or_default().insert(name.to_owned(), record.clone());
        })
    }

    /// Takes the approval of a server back.
    ///
    /// # Errors
    /// When that cannot be stored.
    pub fn revoke(&mut self, project: &Path, name: &str) -> Result<(), Fault> {
        self.change(|projects| {
            if let Some(servers) = projects.get_mut(&key(project)) {
                servers.remove(name);
            }
            projects.retain(|_, servers| !servers.is_empty());
        })
    }

    /// What an approval is of, in hexadecimal: for those who approve by naming it, where nobody can be asked.
    pub fn fingerprint(project: &Path, name: &str, entry: &ServerConfig) -> String {
        let unknown = |key: &str| entry.unknown.iter().any(|(name, _)| name == key);
        let fields =
            entry.fields().into_iter().filter(|(key, _)| !ASIDE.contains(&key.as_str()) && !unknown(key));
        // A path that is no UTF-8 must not pass for another one that looks like it.
        let project = project.as_os_str().as_encoded_bytes();
        let fields: serde_json::Map<_, _> = fields.collect();
        hexadecimal(&digest(&json!({"project": project, "name": name, "entry": fields})))
    }

    fn change(&mut self, change: impl Fn(&mut Projects)) -> Result<(), Fault> {
        self.projects = update(&self.path, Owner::User, LARGEST, |stored| {
            let mut projects = parse(&self.path, stored)?;
            change(&mut projects);
            let text = serde_json::to_string_pretty(&Stored { projects: projects.clone() })
                .map_err(|error| disk::failed(&self.path, "write it", &error.into()))?;
            Ok((text + "\n", projects))
        })?;
        Ok(())
    }
}

fn load(path: &Path) -> Result<Projects, Fault> {
    parse(path, disk::read(path, Owner::User, LARGEST)?.as_deref())
}

fn parse(path: &Path, text: Option<&str>) -> Result<Projects, Fault> {
    let Some(text) = text else { return Ok(Projects::new()) };
    let stored: Result<Stored, _> = serde_json::from_str(text);
    let stored = stored.map_err(|error| {
        let what = format!("this is not a file of approvals ({error}); move it away to begin anew");
        Fault::new("", Problem::Syntax { what }).in_file(path)
    })?;
    Ok(stored.projects)
}

fn key(project: &Path) -> String {
    project.to_string_lossy().into_owned()
}
