//! Results as bytes: written to a pipe as they are, to the file the user named, or each part to a file of its own.
//!
//! Invariant: a server never chooses a path. Names of files are made from its words, without separators, and no file that
//! exists is overwritten in a directory.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use switchboard::CallToolResult;
use switchboard::protocol::{Content, ResourceBody, ResourceContents};

use crate::failure::{Failure, Status};
use crate::output::{Screen, size};
use crate::sanitize::one_line;

/// Padding may be there or not: servers write both.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// The longest name of a file that is made from a server's words.
const NAME: usize = 80;

/// One part of a result.
#[derive(Debug)]
pub(crate) struct Part {
    /// The name of its file, without its extension.
    stem: String,
    extension: Option<String>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_text: bool,
}

/// The parts of a resource, in their order.
///
/// # Errors
/// When a part is not valid base64.
pub(crate) fn parts_of(contents: &[ResourceContents]) -> Result<Vec<Part>, Failure> {
    contents.iter().map(resource_part).collect()
}

/// The parts of a tool's result, in their order; links are not data and left out.
///
/// # Errors
/// When a part is not valid base64.
pub(crate) fn result_parts(result: &CallToolResult) -> Result<Vec<Part>, Failure> {
    let mut parts = Vec::new();
    for content in &result.content {
        parts.push(match content {
            Content::Text(text) => Part {
                stem: "text".to_owned(),
                extension: Some("txt".to_owned()),
                bytes: text.text.clone().into_bytes(),
                is_text: true,
            },
            Content::Image(media) => media_part("image", &media.mime_type, &media.data)?,
            Content::Audio(media) => media_part("audio", &media.mime_type, &media.data)?,
            Content::Resource(embedded) => resource_part(&embedded.resource)?,
            _ => continue,
        });
    }
    if let (true, Some(structured)) = (parts.is_empty(), &result.structured_content) {
        parts.push(Part {
            stem: "result".to_owned(),
            extension: Some("json".to_owned()),
            bytes: structured.as_str().as_bytes().to_vec(),
            is_text: true,
        });
    }
    Ok(parts)
}

/// Writes the only part to a file, replacing it as a shell would.
///
/// # Errors
/// When there are several parts, or the file cannot be written.
pub(crate) fn save_one(parts: &[Part], file: &Path, screen: &Screen) -> Result<(), Failure> {
    let bytes = match parts {
        [part] => &part.bytes,
        [] => return Err(Failure::new(Status::Other, "empty", "the result is empty: nothing to write")),
        several => {
            return Err(Failure::usage(format!(
                "the result has {} parts, and --output takes one",
                several.len()
            ))
            .hint("--save-dir DIR writes each part to a file of its own"));
        }
    };
    fs::write(file, bytes).map_err(|error| unwritable(file, &error))?;
    told(screen, bytes.len(), file);
    Ok(())
}

/// Writes each part that `is_wanted` to a file of its own.
///
/// # Errors
/// When the directory or a file cannot be written.
pub(crate) fn save_all(
    parts: &[Part],
    folder: &Path,
    screen: &Screen,
    is_wanted: impl Fn(&Part) -> bool,
) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    for part in parts.iter().filter(|part| is_wanted(part)) {
        let (path, mut file) = create_new(folder, part)?;
        file.write_all(&part.bytes).map_err(|error| unwritable(&path, &error))?;
        told(screen, part.bytes.len(), &path);
    }
    Ok(())
}

fn told(screen: &Screen, bytes: usize, path: &Path) {
    screen.say(&format!("wrote {} to {}", size(bytes as u64), one_line(&path.to_string_lossy())));
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Status::Other, "io", format!("cannot write {}: {error}", one_line(&path.to_string_lossy())))
}

/// A new file for a part; its name is counted up until it is free.
fn create_new(folder: &Path, part: &Part) -> Result<(PathBuf, fs::File), Failure> {
    let extension = part.extension.as_ref().map(|extension| format!(".{extension}")).unwrap_or_default();
    for number in 1..10_000 {
        let count = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{}{count}{extension}", part.stem));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unwritable(&path, &error)),
        }
    }
    Err(Failure::new(Status::Other, "io", format!("{} is full of files of the same name", folder.display())))
}

fn resource_part(part: &ResourceContents) -> Result<Part, Failure> {
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
    Ok(Part { stem, extension, bytes, is_text })
}

fn media_part(kind: &str, mime: &str, base64: &str) -> Result<Part, Failure> {
    let bytes = decode(base64)?;
    let extension = extension_of(mime).map(str::to_owned);
    Ok(Part { stem: kind.to_owned(), extension, bytes, is_text: false })
}

fn decode(text: &str) -> Result<Vec<u8>, Failure> {
    let compact: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    BASE64.decode(compact).map_err(|error| {
        Failure::new(Status::Unreachable, "protocol", format!("the data is not valid base64: {error}"))
            .hint("--json shows the result as the server wrote it")
    })
}

/// A word as the name of a file: no separator, no leading dot, nothing a shell or a terminal would act on.
fn file_name(word: &str) -> String {
    let plain = |char: char| if char.is_alphanumeric() || "-_+.".contains(char) { char } else { '_' };
    let name: String = word.chars().map(plain).take(NAME).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "resource".to_owned() } else { name.to_owned() }
}

/// The usual extension of a media type.
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
    fn c6_names_of_files_stay_in_their_directory() {
        let name = |uri: &str| resource_part(&ResourceContents::text(uri, "x")).unwrap().stem;
        assert_eq!(name("file:///etc/passwd"), "passwd");
        assert_eq!(name("demo://a/../.."), "resource");
        assert_eq!(name("demo://a/%2e%2e%2fx y\u{1b}"), "_2e_2e_2fx_y_");
        assert_eq!(name("https://example.com/.bashrc"), "bashrc");
        assert_eq!(name(""), "resource");
    }
}
