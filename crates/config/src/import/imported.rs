//! What was found in another program's file.

use std::path::{Path, PathBuf};

use crate::disk::{self, Owner};
use crate::document::{Node, Position, Syntax};
use crate::fault::{Fault, Problem};
use crate::import::dialect::Dialect;
use crate::import::sheet::Sheet;
use crate::import::{claude_code, claude_desktop, codex, cursor, gemini, opencode, vscode, windsurf, zed};
use crate::read::Warning;
use crate::server_config::ServerConfig;

/// The servers of another program's file, in our form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Imported {
    /// Whose file it is.
    pub dialect: Dialect,
    /// The servers, in their order.
    pub servers: Vec<ImportedServer>,
    /// What could not be carried over.
    pub warnings: Vec<Warning>,
}

/// One server of another program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImportedServer {
    /// Its name.
    pub name: String,
    /// The server in our form, or why there is none.
    pub entry: Result<ServerConfig, Fault>,
    /// The one project it is for, if it is not for all.
    pub project: Option<PathBuf>,
    /// Values the other program asked for, and which now have to be set.
    pub needs: Vec<Need>,
}

/// A value the other program asked the user for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The variable that stands for it now.
    pub variable: String,
    /// What the other program said it is.
    pub what: String,
}

impl Imported {
    /// Reads a file, whosever it is. What stands below the home directory itself is for all projects.
    ///
    /// # Errors
    /// When there is no such file, it cannot be read, or nobody we know wrote it.
    pub fn open(path: &Path, home: Option<&Path>) -> Result<Self, Fault> {
        let text = disk::read(path, Owner::Shared, disk::LARGEST_FOREIGN)?.ok_or_else(|| {
            let kind = std::io::ErrorKind::NotFound;
            Fault::new("", Problem::File { doing: "read it", why: "there is no such file".into(), kind })
                .in_file(path)
        })?;
        let dialect = Dialect::detect(path, &text).ok_or_else(|| {
            let names = Dialect::ALL.map(Dialect::name).join(", ");
            let what = format!("no servers of a known program are here; known are {names}");
            Fault::new("", Problem::Syntax { what }).in_file(path)
        })?;
        Self::read(dialect, Place { path, home }, &text)
    }

    /// Reads a text as a program's file. Its place tells the project, and is named in faults.
    ///
    /// # Errors
    /// When the text as a whole cannot be read. One server that cannot be harms no other.
    pub fn read(dialect: Dialect, place: Place<'_>, text: &str) -> Result<Self, Fault> {
        let Place { path, home } = place;
        let mut source = Source { path, home, text, servers: Vec::new(), warnings: Vec::new() };
        let read = match dialect {
            Dialect::ClaudeDesktop => claude_desktop::read,
            Dialect::ClaudeCode => claude_code::read,
            Dialect::VsCode => vscode::read,
            Dialect::Cursor => cursor::read,
            Dialect::Codex => codex::read,
            Dialect::Gemini => gemini::read,
            Dialect::Zed => zed::read,
            Dialect::OpenCode => opencode::read,
            Dialect::Windsurf => windsurf::read,
        };
        read(&mut source).map_err(|fault| fault.in_file(path))?;
        let Source { servers, warnings, .. } = source;
        let warnings = warnings.into_iter().map(|warning| warning.in_file(path)).collect();
        Ok(Self { dialect, servers, warnings })
    }
}

/// Where a file stands.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Its path.
    pub path: &'a Path,
    /// The user's home directory, which is no project.
    pub home: Option<&'a Path>,
}

/// A file while it is read.
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    home: Option<&'a Path>,
    pub(crate) text: &'a str,
    servers: Vec<ImportedServer>,
    warnings: Vec<Warning>,
}

/// Where an object of servers stands, and how each is turned into ours.
pub(crate) struct Group<'a> {
    /// The way to it, for faults.
    pub(crate) at: &'a str,
    /// The project it is for.
    pub(crate) project: Option<PathBuf>,
    /// Turns one into ours.
    pub(crate) translate: &'a dyn Fn(&mut Sheet),
}

impl Source<'_> {
    /// The text as JSON, with comments where editors write them.
    pub(crate) fn json(&self) -> Result<Node, Fault> {
        Node::parse(self.text, Syntax::Relaxed).map_err(|malformed| Fault::malformed(self.text, &malformed))
    }

    pub(crate) fn warn(&mut self, field: &str, text: &str) {
        self.warnings.push(Warning::new(field, text));
    }

    /// The project a file in one of its hidden folders belongs to.
    pub(crate) fn project(&self, folder: &str) -> Option<PathBuf> {
        let parent = self.path.parent().filter(|parent| parent.ends_with(folder))?;
        self.unless_home(parent.parent()?)
    }

    /// The project a file in its root belongs to.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.unless_home(self.path.parent()?)
    }

    fn unless_home(&self, folder: &Path) -> Option<PathBuf> {
        (Some(folder) != self.home && !folder.as_os_str().is_empty()).then(|| folder.to_owned())
    }

    /// Reads an object of servers; nothing, if there is none.
    pub(crate) fn group(&mut self, servers: Option<&Node>, group: &Group<'_>) -> Result<(), Fault> {
        let Some(node) = servers else { return Ok(()) };
        // Positions are of the text the tree was parsed from; what came from TOML has none.
        let text = if node.span.is_empty() { "" } else { self.text };
        let members = node.members().ok_or_else(|| {
            let position = (!text.is_empty()).then(|| Position::of(text, node.span.start));
            let problem = Problem::Mismatch { expected: "an object", found: node.kind() };
            Fault::new(group.at, problem).at(position)
        })?;
        for member in members {
            let path = format!("{}.{}", group.at, member.key);
            let mut sheet = Sheet::new(&member.node);
            (group.translate)(&mut sheet);
            let done = sheet.finish();
            self.warnings.extend(done.warnings.into_iter().map(|warning| warning.under(&path)));
            if done.is_skipped {
                continue;
            }
            let entry = ServerConfig::read(&done.node, text).map(|read| read.entry);
            self.servers.push(ImportedServer {
                name: member.key.clone(),
                entry: entry.map_err(|fault| fault.under(&path).in_file(self.path)),
                project: group.project.clone(),
                needs: done.needs,
            });
        }
        Ok(())
    }
}
