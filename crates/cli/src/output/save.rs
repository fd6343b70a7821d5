//! Saves results as bytes: to a pipe, to the file the user named, or each part to its own file.
//!
//! Invariant: a server never chooses a path. File names are derived from its text without separators, and no existing
//! file in a directory is overwritten.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet};
use switchboard::protocol::{CallToolResult, Content, ResourceBody, ResourceContents};

use crate::error::{CommandError, ExitKind};
use crate::output::{Screen, format_size};
use crate::sanitize::one_line;

/// Padding is optional: servers send both forms.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// Maximum length of a file name derived from server text.
const MAX_NAME: usize = 80;

/// One part of a result as a file: its bytes, and a name derived from the server's text.
#[derive(Debug)]
pub(crate) struct ResultPart {
    /// File name without extension.
    stem: String,
    extension: Option<String>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_text: bool,
}

/// Returns the parts of a resource in order.
///
/// # Errors
/// Returns an error if a part is not valid base64.
pub(crate) fn resource_parts(contents: &[ResourceContents]) -> Result<Vec<ResultPart>, CommandError> {
    contents.iter().map(resource_part).collect()
}

/// Returns the parts of a tool's result in order, without links.
///
/// # Errors
/// Returns an error if a part is not valid base64.
pub(crate) fn result_parts(result: &CallToolResult) -> Result<Vec<ResultPart>, CommandError> {
    let mut parts = Vec::new();
    for content in &result.content {
        parts.push(match content {
            Content::Text(text) => text_part("text", "txt", &text.text),
            Content::Image(media) => media_part("image", &media.mime_type, &media.data)?,
            Content::Audio(media) => media_part("audio", &media.mime_type, &media.data)?,
            Content::Resource(embedded) => resource_part(&embedded.resource)?,
            _ => continue,
        });
    }
    if let (true, Some(structured)) = (parts.is_empty(), &result.structured_content) {
        parts.push(text_part("result", "json", structured.as_str()));
    }
    Ok(parts)
}

/// Writes the only part to a file, replacing an existing file as a shell redirection does.
///
/// # Errors
/// Returns an error if there is not exactly one part, or the file cannot be written.
pub(crate) fn save_one(parts: &[ResultPart], file: &Path, screen: &Screen) -> Result<(), CommandError> {
    let bytes = match parts {
        [part] => &part.bytes,
        [] => {
            return Err(CommandError::other("empty", "the result is empty: nothing to write"));
        }
        several => {
            return Err(CommandError::usage(format!(
                "the result has {} parts, and --output takes one",
                several.len()
            ))
            .hint("--save-dir DIR writes each part to a file of its own"));
        }
    };
    fs::write(file, bytes).map_err(|error| write_error(file, &error))?;
    report_saved(screen, bytes.len(), file);
    Ok(())
}

/// Writes each part for which `is_wanted` is true to its own file.
///
/// # Errors
/// Returns an error if the directory or a file cannot be written.
pub(crate) fn save_all(
    parts: &[ResultPart],
    folder: &Path,
    screen: &Screen,
    is_wanted: impl Fn(&ResultPart) -> bool,
) -> Result<(), CommandError> {
    fs::create_dir_all(folder).map_err(|error| write_error(folder, &error))?;
    for part in parts.iter().filter(|part| is_wanted(part)) {
        let (path, mut file) = create_new(folder, part)?;
        file.write_all(&part.bytes).map_err(|error| write_error(&path, &error))?;
        report_saved(screen, part.bytes.len(), &path);
    }
    Ok(())
}

fn report_saved(screen: &Screen, bytes: usize, path: &Path) {
    screen.say(&format!("wrote {} to {}", format_size(bytes as u64), one_line(&path.to_string_lossy())));
}

fn write_error(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::other("io", format!("cannot write {}: {error}", one_line(&path.to_string_lossy())))
}

/// Creates a new file for a part; appends a number to its name if necessary.
fn create_new(folder: &Path, part: &ResultPart) -> Result<(PathBuf, fs::File), CommandError> {
    let extension = part.extension.as_ref().map(|extension| format!(".{extension}")).unwrap_or_default();
    for number in 1..10_000 {
        let count = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{}{count}{extension}", part.stem));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(write_error(&path, &error)),
        }
    }
    Err(CommandError::other("io", format!("{} has too many files of the same name", folder.display())))
}

fn resource_part(part: &ResourceContents) -> Result<ResultPart, CommandError> {
    let (bytes, is_text) = match &part.body {
        ResourceBody::Text(text) => (text.clone().into_bytes(), true),
        ResourceBody::Blob(base64) => (decode(base64)?, false),
    };
    let path = part.uri.split(['?', '#']).next().unwrap_or_default();
    let last = path.rsplit(['/', ':']).find(|segment| !segment.is_empty()).unwrap_or("resource");
    let (stem, extension) = match last.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && extension.len() <= 8 => {
            (file_name(stem), Some(file_name(extension)))
        }
        _ => (file_name(last), part.mime_type.as_deref().and_then(extension_of).map(str::to_owned)),
    };
    Ok(ResultPart { stem, extension, bytes, is_text })
}

fn text_part(stem: &str, extension: &str, text: &str) -> ResultPart {
    let (stem, extension) = (stem.to_owned(), Some(extension.to_owned()));
    ResultPart { stem, extension, bytes: text.as_bytes().to_vec(), is_text: true }
}

fn media_part(kind: &str, mime: &str, base64: &str) -> Result<ResultPart, CommandError> {
    let bytes = decode(base64)?;
    let extension = extension_of(mime).map(str::to_owned);
    Ok(ResultPart { stem: kind.to_owned(), extension, bytes, is_text: false })
}

fn decode(text: &str) -> Result<Vec<u8>, CommandError> {
    let compact: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    BASE64.decode(compact).map_err(|error| {
        CommandError::new(ExitKind::Unreachable, "protocol", format!("the data is not valid base64: {error}"))
            .hint("--json shows the result as the server wrote it")
    })
}

/// Converts text to a file name: no separator, no leading dot, no character that a shell or terminal interprets.
fn file_name(word: &str) -> String {
    let plain = |char: char| if char.is_alphanumeric() || "-_+.".contains(char) { char } else { '_' };
    let name: String = word.chars().map(plain).take(MAX_NAME).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "resource".to_owned() } else { name.to_owned() }
}

/// Returns the usual extension of a media type.
fn extension_of(mime: &str) -> Option<&'static str> {
    let essence = mime.split(';').next().unwrap_or(mime).trim().to_ascii_lowercase();
    Some(match essence.as_str() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "image/bmp" => "bmp",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/ogg" => "ogg",
        "audio/flac" => "flac",
        "audio/mp4" => "m4a",
        "video/mp4" => "mp4",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "text/html" => "html",
        "text/markdown" => "md",
        "text/csv" => "csv",
        "text/plain" => "txt",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c6_file_names_stay_in_their_directory() {
        let name = |uri: &str| resource_part(&ResourceContents::text(uri, "x")).unwrap().stem;
        assert_eq!(name("file:///etc/passwd"), "passwd");
        assert_eq!(name("demo://a/../.."), "resource");
        assert_eq!(name("demo://a/%2e%2e%2fx y\u{1b}"), "_2e_2e_2fx_y_");
        assert_eq!(name("https://example.com/.bashrc"), "bashrc");
        assert_eq!(name(""), "resource");
    }
}
