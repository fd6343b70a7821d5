//! Machine and compiler of a run, to decide whether figures are comparable.

use std::fmt;
use std::path::Path;
use std::process::Command;

use super::json::Json;
use crate::command::{self, TaskError};

/// The compiler, from its version output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Compiler {
    pub(super) release: String,
    pub(super) host: String,
}

#[derive(Debug)]
pub(super) struct Machine {
    cores: usize,
    kernel: String,
    pub(super) compiler: Compiler,
}

impl Compiler {
    /// Returns the compiler used in this directory.
    pub(super) fn find(at: &Path) -> Result<Self, TaskError> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = command::output(Command::new(rustc).arg("-vV").current_dir(at))?;
        Self::parse(&output).ok_or_else(|| TaskError::new(format!("rustc -vV output {output:?}")))
    }

    fn parse(output: &str) -> Option<Self> {
        let line = |name: &str| Some(output.lines().find_map(|line| line.strip_prefix(name))?.to_owned());
        Some(Self { release: line("release: ")?, host: line("host: ")? })
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.release, self.host)
    }
}

impl Machine {
    pub(super) fn find(at: &Path) -> Result<Self, TaskError> {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease");
        Ok(Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: kernel.map_or_else(|_| "unknown".into(), |kernel| short(&kernel)),
            compiler: Compiler::find(at)?,
        })
    }

    pub(super) fn json(&self) -> Json {
        Json::object([
            ("cores", Json::Number(self.cores as f64)),
            ("kernel", self.kernel.as_str().into()),
            ("rustc", self.compiler.to_string().into()),
        ])
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cores, kernel {}, rustc {}", self.cores, self.kernel, self.compiler)
    }
}

/// Returns the first two numbers of a version; the rest is not relevant.
fn short(version: &str) -> String {
    version.trim().split(['.', '-']).take(2).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_known_by_two_numbers() {
        assert_eq!(short("6.18.44-of-somebody\n"), "6.18");
        assert_eq!(short("6"), "6");
    }

    #[test]
    fn the_compiler_is_known_by_release_and_host() {
        let output = "rustc 1.95.0 (x)\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        assert_eq!(Compiler::parse(output).unwrap().to_string(), "1.95.0 x86_64-unknown-linux-gnu");
        assert_eq!(Compiler::parse("rustc 1.95.0"), None);
    }
}
