//! Policy documents in files of their own.

use std::io::Read;
use std::path::Path;

use switchboard::gateway::config::CompiledPolicy;
use switchboard::gateway::policy::PolicyError;

use crate::error::CommandError;
use crate::sanitize::one_line;

/// The largest document that is read; the policy itself names its limit.
const MAX_DOCUMENT_BYTES: u64 = 4 * 1024 * 1024;

/// Reads and compiles a document.
///
/// # Errors
/// Names the file, the line and the rule.
pub(crate) fn load_policy(path: &Path) -> Result<CompiledPolicy, CommandError> {
    Ok(read_policy(path)?.0)
}

/// Reads and compiles a document; returns its text, too.
///
/// # Errors
/// As [`load_policy`].
pub(crate) fn read_policy(path: &Path) -> Result<(CompiledPolicy, String), CommandError> {
    let name = one_line(&path.to_string_lossy());
    let cannot_read =
        |error: std::io::Error| CommandError::other("io", format!("cannot read {name}: {error}"));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(cannot_read)?;
    file.take(MAX_DOCUMENT_BYTES).read_to_string(&mut text).map_err(cannot_read)?;
    let compiled = CompiledPolicy::parse(&text).map_err(|error: PolicyError| {
        CommandError::usage(format!("{name}, {}", one_line(&error.to_string())))
            .hint("the rules are described in docs/gateway-policy.md")
    })?;
    Ok((compiled, text))
}
