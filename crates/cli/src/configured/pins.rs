//! How the tools of a project's servers were defined when they were first seen, kept between commands.
//!
//! Kept with the user's files and by project, since two projects may call different servers by one name.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use switchboard::host::Pins;
use switchboard::host::config::Locations;

/// What is pinned, and where that is kept.
#[derive(Debug)]
pub(crate) struct PinFile {
    path: PathBuf,
    pins: Pins,
}

impl PinFile {
    /// Reads what was pinned; without a file, nothing was.
    ///
    /// # Errors
    /// When the file cannot be read, or is none of ours.
    pub(crate) fn open(at: &Locations) -> io::Result<Self> {
        let path = at.local_file.with_file_name("definitions.json");
        let pins = match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Pins::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { path, pins })
    }

    pub(crate) fn pins(&self) -> &Pins {
        &self.pins
    }

    /// Keeps these from now on.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(crate) fn keep(&mut self, pins: Pins) -> io::Result<()> {
        if pins == self.pins {
            return Ok(());
        }
        write(&self.path, &serde_json::to_vec_pretty(&pins)?)?;
        self.pins = pins;
        Ok(())
    }

    /// Forgets how the tools of a server were defined.
    ///
    /// # Errors
    /// When that cannot be written.
    pub(crate) fn forget(&mut self, server: &str) -> io::Result<()> {
        let mut servers: serde_json::Map<String, serde_json::Value> =
            serde_json::from_value(serde_json::to_value(&self.pins)?)?;
        servers.remove(server);
        self.keep(serde_json::from_value(servers.into())?)
    }
}

/// Writes a file that is nobody else's, whole or not at all.
fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let draft = path.with_extension(format!("new-{}", std::process::id()));
    let written = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft);
    let written = written.and_then(|mut file| file.write_all(text)).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // What failed is told; a draft that cannot be removed either would only hide it.
        _ = fs::remove_file(&draft);
    }
    written
}
