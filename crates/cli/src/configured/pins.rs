//! Where the definitions of a project's tools are pinned, as they were first seen.
//!
//! Kept with the user's files and by project, since two projects may call different servers by one name.

use switchboard::host::PinFile;
use switchboard::host::config::{ConfigError, Locations};

/// Opens the pins of a project.
///
/// # Errors
/// When the file cannot be read, or is not one of pins.
pub(crate) fn open(at: &Locations) -> Result<PinFile, ConfigError> {
    PinFile::open(at.local_file.with_file_name("definitions.json"))
}
