//! The servers of another program's configuration file.

use std::path::{Path, PathBuf};

use crate::disk::{self, Owner};
use crate::document::{Node, Syntax};
use crate::error::{ConfigError, ConfigErrorKind};
use crate::import::dialect::Dialect;
use crate::import::field_translator::FieldTranslator;
use crate::import::{claude_code, claude_desktop, codex, cursor, gemini, opencode, vscode, windsurf, zed};
use crate::server_config::ServerConfig;
use crate::warning::Warning;

/// The servers of another program's file, translated.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImportedFile {
    /// The program.
    pub dialect: Dialect,
    /// The servers, in file order.
    pub servers: Vec<ImportedServer>,
    /// Fields and servers that were not imported.
    pub warnings: Vec<Warning>,
}

/// An imported server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImportedServer {
    /// The name.
    pub name: String,
    /// The translated configuration, or why it is invalid.
    pub entry: Result<ServerConfig, ConfigError>,
    /// The project it belongs to; `None` if it is for all projects.
    pub project: Option<PathBuf>,
    /// Variables that have to be set, because the other program prompted for their values.
    pub needs: Vec<RequiredVariable>,
}

/// A variable that replaces a value for which the other program prompted the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredVariable {
    /// The name of the variable.
    pub variable: String,
    /// The description in the other program.
    pub description: String,
}

impl ImportedFile {
    /// Reads a file and detects its program. A file directly in the home directory is for all projects.
    ///
    /// # Errors
    /// When the file does not exist, cannot be read, or belongs to no known program.
    pub fn open(path: &Path, home: Option<&Path>) -> Result<Self, ConfigError> {
        let text = disk::read(path, Owner::Shared, disk::MAX_FOREIGN_FILE_BYTES)?.ok_or_else(|| {
            let kind = std::io::ErrorKind::NotFound;
            ConfigError::new("", ConfigErrorKind::Io { doing: "read it", why: "no such file".into(), kind })
                .in_file(path)
        })?;
        let dialect = Dialect::detect(path, &text).ok_or_else(|| {
            let names = Dialect::ALL.map(Dialect::name).join(", ");
            let what = format!("no servers of a known program found; known programs are {names}");
            ConfigError::new("", ConfigErrorKind::Syntax { what }).in_file(path)
        })?;
        Self::read(dialect, ImportLocation { path, home }, &text)
    }

    /// Reads the text of a program's file. Its path determines the project and appears in errors.
    ///
    /// # Errors
    /// When the text as a whole cannot be read. An invalid server does not affect other servers.
    pub fn read(dialect: Dialect, place: ImportLocation<'_>, text: &str) -> Result<Self, ConfigError> {
        let ImportLocation { path, home } = place;
        let mut source = ForeignFile { path, home, text, servers: Vec::new(), warnings: Vec::new() };
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
        read(&mut source).map_err(|error| error.in_file(path))?;
        let ForeignFile { servers, warnings, .. } = source;
        let warnings = warnings.into_iter().map(|warning| warning.in_file(path)).collect();
        Ok(Self { dialect, servers, warnings })
    }
}

/// The path of an imported file, and the home directory.
#[derive(Clone, Copy, Debug)]
pub struct ImportLocation<'a> {
    /// The path of the file.
    pub path: &'a Path,
    /// The user's home directory, which is not a project.
    pub home: Option<&'a Path>,
}

/// A file of another program while it is imported.
pub(crate) struct ForeignFile<'a> {
    pub(crate) path: &'a Path,
    home: Option<&'a Path>,
    pub(crate) text: &'a str,
    servers: Vec<ImportedServer>,
    warnings: Vec<Warning>,
}

impl ForeignFile<'_> {
    /// Parses the text as JSON with comments.
    pub(crate) fn json(&self) -> Result<Node, ConfigError> {
        Node::parse(self.text, Syntax::Relaxed).map_err(|error| ConfigError::not_json(self.text, &error))
    }

    pub(crate) fn warn(&mut self, field: &str, text: &str) {
        self.warnings.push(Warning::new(field, text));
    }

    /// Returns the project whose hidden folder has the file.
    pub(crate) fn project_of_folder(&self, folder: &str) -> Option<PathBuf> {
        let parent = self.path.parent().filter(|parent| parent.ends_with(folder))?;
        self.unless_home(parent.parent()?)
    }

    /// Returns the project whose root has the file.
    pub(crate) fn project_of_root(&self) -> Option<PathBuf> {
        self.unless_home(self.path.parent()?)
    }

    fn unless_home(&self, folder: &Path) -> Option<PathBuf> {
        (Some(folder) != self.home && !folder.as_os_str().is_empty()).then(|| folder.to_owned())
    }

    /// Reads an object of servers of a project; does nothing without one. `at` is the path of the object, for errors.
    pub(crate) fn read_servers(
        &mut self,
        servers: Option<&Node>,
        at: &str,
        project: Option<&Path>,
        translate: &dyn Fn(&mut FieldTranslator),
    ) -> Result<(), ConfigError> {
        let Some(node) = servers else { return Ok(()) };
        // A tree that came from TOML has no positions.
        let text = if node.span.is_empty() { "" } else { self.text };
        let members = node.members().ok_or_else(|| ConfigError::not_an_object(at, node, text))?;
        for member in members {
            let path = format!("{at}.{}", member.key);
            let mut fields = FieldTranslator::new(&member.node);
            translate(&mut fields);
            let translated = fields.finish();
            self.warnings.extend(translated.warnings.into_iter().map(|warning| warning.under(&path)));
            if translated.is_skipped {
                continue;
            }
            let entry = ServerConfig::read(&translated.node, text).map(|read| read.entry);
            self.servers.push(ImportedServer {
                name: member.key.clone(),
                entry: entry.map_err(|error| error.under(&path).in_file(self.path)),
                project: project.map(Path::to_owned),
                needs: translated.needs,
            });
        }
        Ok(())
    }
}
