//! Records the messages of a command's sessions to a file, for `--record`.
//!
//! Invariant: secrets are masked before a frame is kept, and the file appears complete or not at all. Frames are kept in
//! memory until the command ends, up to the size limit of recordings.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use switchboard::host::{ObservedFrame, TrafficObserver, TrafficSource};
use switchboard::transport::Direction;
use switchboard_recording::{MAX_RECORDING_BYTES, RecordedFrame, Recording, SecretMask};

use crate::args::SessionOptions;
use crate::error::CommandError;
use crate::output::Screen;
use crate::sanitize::one_line;

/// Space for the header.
const HEADER_BYTES: usize = 64 * 1024;

/// Records frames until the command ends.
pub(crate) struct SessionRecorder {
    file: PathBuf,
    /// The file that is renamed when it is complete, in the same directory.
    partial: PathBuf,
    overwrite: bool,
    started: Instant,
    // Held for a push, never across an await.
    state: Mutex<RecorderState>,
}

#[derive(Default)]
struct RecorderState {
    mask: SecretMask,
    frames: Vec<RecordedFrame>,
    bytes: usize,
    is_full: bool,
    /// The partial file, until it is written.
    out: Option<File>,
}

impl SessionRecorder {
    /// Starts recording if the options say so.
    ///
    /// # Errors
    /// Returns an error if the file exists and may not be replaced, or cannot be created.
    pub(crate) fn start(options: &SessionOptions) -> Result<Option<Arc<Self>>, CommandError> {
        let Some(file) = options.record.clone() else { return Ok(None) };
        if !options.overwrite && fs::symlink_metadata(&file).is_ok() {
            return Err(exists(&file));
        }
        let name =
            file.file_name().ok_or_else(|| io_error(&file, &io::Error::from(ErrorKind::IsADirectory)))?;
        let partial = format!(".{}.{}.partial", name.to_string_lossy(), std::process::id());
        let partial = file.with_file_name(partial);
        // Created first: a recording that cannot be kept is not started.
        let out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial);
        let out = out.map_err(|error| io_error(&file, &error))?;
        let mut mask = SecretMask::default();
        mask.extend(options.env.iter().map(|(_, value)| value.as_str()));
        mask.extend(options.inherit_env.iter().filter_map(|name| std::env::var(name).ok()));
        let state = Mutex::new(RecorderState { mask, out: Some(out), ..RecorderState::default() });
        let overwrite = options.overwrite;
        Ok(Some(Arc::new(Self { file, partial, overwrite, started: Instant::now(), state })))
    }

    /// Masks these values from now on.
    pub(crate) fn add_secrets(&self, values: impl IntoIterator<Item = impl Into<String>>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).mask.extend(values);
    }

    /// Records a frame.
    pub(crate) fn record(&self, server: &str, direction: Direction, frame: &[u8]) {
        let at_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_full {
            return;
        }
        let text = String::from_utf8_lossy(frame);
        let text = state.mask.mask(text.trim_end_matches(['\r', '\n'])).into_owned();
        let frame = RecordedFrame::new(server, direction.into(), at_ms, text);
        let bytes = frame.written_len();
        if state.bytes + bytes > MAX_RECORDING_BYTES - HEADER_BYTES {
            state.is_full = true;
            return;
        }
        state.bytes += bytes;
        state.frames.push(frame);
    }

    /// Writes the file, and passes on the result of the command.
    ///
    /// # Errors
    /// Returns the error of the command; else, if the file cannot be written, that error.
    pub(crate) fn finish<T>(
        recorder: Option<Arc<Self>>,
        used: Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let Some(recorder) = recorder else { return used };
        let screen = Screen::new();
        match (recorder.write(), used) {
            (Ok(note), used) => {
                screen.say(&screen.out.dim(&note));
                used
            }
            (Err(error), Ok(_)) => Err(error),
            (Err(_), Err(error)) => {
                screen
                    .warn(&format!("the recording could not be written to {}", one_line(&recorder.shown())));
                Err(error)
            }
        }
    }

    fn shown(&self) -> String {
        self.file.display().to_string()
    }

    fn write(&self) -> Result<String, CommandError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (frames, is_full) = (std::mem::take(&mut state.frames), state.is_full);
        // Nothing is recorded any more.
        state.is_full = true;
        let Some(mut out) = state.out.take() else { return Ok(String::new()) };
        drop(state);
        let count = frames.len();
        let title = format!("Recorded by switchboard {}", env!("CARGO_PKG_VERSION"));
        let mut recording = Recording::new(frames).with_title(&title);
        recording.detect_revisions();
        let failed = |error: io::Error| io_error(&self.file, &error);
        out.write_all(recording.write().as_bytes()).map_err(failed)?;
        out.sync_all().map_err(failed)?;
        self.persist()?;
        let full = if is_full { "; the rest exceeds the size limit of recordings" } else { "" };
        Ok(format!("recorded {count} messages in {}{full}", one_line(&self.shown())))
    }

    /// Gives the complete file its name.
    fn persist(&self) -> Result<(), CommandError> {
        let failed = |error: io::Error| io_error(&self.file, &error);
        if self.overwrite {
            return fs::rename(&self.partial, &self.file).map_err(failed);
        }
        // Unlike a rename, a link never replaces a file that was created in the meantime.
        match fs::hard_link(&self.partial, &self.file) {
            Ok(()) => fs::remove_file(&self.partial).map_err(failed),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists(&self.file)),
            // A file system without links.
            Err(_) if fs::symlink_metadata(&self.file).is_err() => {
                fs::rename(&self.partial, &self.file).map_err(failed)
            }
            Err(error) => Err(failed(error)),
        }
    }
}

/// Removes what was not completed.
impl Drop for SessionRecorder {
    fn drop(&mut self) {
        // Gone already if the recording was completed.
        _ = fs::remove_file(&self.partial);
    }
}

/// Records the sessions of a host.
impl TrafficObserver for SessionRecorder {
    fn is_watching(&self) -> bool {
        true
    }

    fn observe(&self, source: &TrafficSource<'_>, frame: &ObservedFrame<'_>) {
        self.record(source.server.unwrap_or_default(), frame.direction, frame.text().as_bytes());
    }
}

fn exists(file: &Path) -> CommandError {
    CommandError::usage(format!("{} exists already", one_line(&file.display().to_string())))
        .hint("record to another file, or pass --overwrite to replace it")
}

fn io_error(file: &Path, error: &io::Error) -> CommandError {
    CommandError::other("io", format!("cannot record to {}: {error}", one_line(&file.display().to_string())))
        .hint("give a file in a directory that exists and that you may write")
}
