//! File of the pinned tool definitions of a project.
//!
//! One file per project among the user's files, because two projects may use one name for different servers.

use std::path::PathBuf;

use switchboard::host::PinFile;
use switchboard::host::config::{ConfigError, Locations};

/// Opens the pin file of a project.
///
/// # Errors
/// Returns an error if the file cannot be read or is not a pin file.
pub(crate) fn open(locations: &Locations) -> Result<PinFile, ConfigError> {
    PinFile::open(path(locations))
}

/// Returns the path of the pin file of a project.
pub(crate) fn path(locations: &Locations) -> PathBuf {
    locations.local_file.with_file_name("definitions.json")
}
