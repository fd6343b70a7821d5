//! Files that lead to the page: only this user can read them, and they are removed after use.
//!
//! A browser is started with the path of such a file. The address with its one-time token is inside, so it is in no
//! argument list, which every user of the machine can read.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use switchboard::host::config::Locations;

/// Returns the folder for such files: that of the user's session, or else among the user's state files.
pub(super) fn runtime_folder(locations: &Locations) -> PathBuf {
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    match session.filter(|folder| folder.is_absolute() && folder.is_dir()) {
        Some(folder) => folder.join("switchboard"),
        None => locations.permissions.with_file_name("console"),
    }
}

/// A file with a one-time token; removed on drop.
#[derive(Debug)]
pub(super) struct RedirectFile {
    path: PathBuf,
}

impl RedirectFile {
    /// Creates an HTML page that leads to an address.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub(super) fn page(folder: &Path, address: &str) -> io::Result<Self> {
        // An address has no character that HTML gives a meaning.
        let text = format!(
            "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n<title>Switchboard</title>\n\
             <p><a href=\"{address}\">Open the console</a></p>\n"
        );
        Self::create(folder, "html", &text)
    }

    /// Creates a file with a token for a program.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub(super) fn token(folder: &Path, token: &str) -> io::Result<Self> {
        Self::create(folder, "token", token)
    }

    /// Returns the path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn create(folder: &Path, extension: &str, text: &str) -> io::Result<Self> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let path = folder.join(format!("console-{}.{extension}", random_name()?));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let created = Self { path };
        file.write_all(text.as_bytes())?;
        Ok(created)
    }
}

impl Drop for RedirectFile {
    fn drop(&mut self) {
        // It may be gone: a runtime directory is emptied when the user logs out.
        _ = std::fs::remove_file(&self.path);
    }
}

fn random_name() -> io::Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{:016x}", u64::from_le_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_the_user_can_read_the_file_and_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("switchboard");
        let file = RedirectFile::page(&below, "http://127.0.0.1:1/#token=t").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(file.path()), mode(&below)), (0o600, 0o700));
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert!(text.contains("url=http://127.0.0.1:1/#token=t\""), "{text}");
        let path = file.path().to_owned();
        assert!(!path.to_string_lossy().contains("token=t"));
        drop(file);
        assert!(!path.exists());
    }
}
