//! Files of other programs that have servers to import.

use std::path::{Path, PathBuf};

use switchboard::host::config::import::{Dialect, ImportedFile};

use crate::configured_servers::files::ConfigFiles;
use crate::environment::variable;

/// A file of another program with servers.
pub(crate) struct ImportSourceFile {
    /// The name of the program.
    pub(crate) program: &'static str,
    /// The program as the argument of `switchboard import`.
    pub(crate) id: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) servers: usize,
}

/// Returns the files of other programs that have servers. Files that cannot be read are left out.
pub(crate) fn find_sources(files: &ConfigFiles) -> Vec<ImportSourceFile> {
    let Some(home) = variable("HOME").map(PathBuf::from) else { return Vec::new() };
    let source = |(dialect, path): (Dialect, PathBuf)| {
        let imported = ImportedFile::open(&path, Some(&home)).ok()?;
        let servers = imported.servers.len();
        (servers > 0).then(|| ImportSourceFile { program: dialect.name(), id: dialect.id(), path, servers })
    };
    standard_paths(&Dialect::ALL, &home, files).into_iter().filter_map(source).collect()
}

/// Returns the files of these programs that exist.
pub(crate) fn standard_paths(
    dialects: &[Dialect],
    home: &Path,
    files: &ConfigFiles,
) -> Vec<(Dialect, PathBuf)> {
    let project = &files.locations.project;
    let paths = dialects.iter().flat_map(|dialect| {
        dialect.config_paths(home, project).into_iter().map(move |path| (*dialect, path))
    });
    // The project file is our own, although another program reads it too.
    paths.filter(|(_, path)| *path != files.locations.project_file && path.is_file()).collect()
}
