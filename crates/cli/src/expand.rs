//! Expands `${NAME}` and `${NAME:-default}` in arguments, with the same code as in configuration files.
//!
//! Invariants: an error names the option and the variable, never a value; every expanded value is recorded, so that a
//! trace can mask it.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};

use switchboard::Stdio;
use switchboard::host::config::expand_variables;

use crate::args::SessionOptions;
use crate::environment::variable;
use crate::error::CommandError;

/// Expands variables and records their values.
#[derive(Default)]
pub(crate) struct Expander {
    values: RefCell<Vec<String>>,
}

impl Expander {
    /// Returns the text of an option with its variables expanded.
    ///
    /// # Errors
    /// Returns a usage error that names the unset variable or the invalid reference.
    pub(crate) fn expand(&self, option: &str, text: &str) -> Result<String, CommandError> {
        let lookup =
            |name: &str| variable(name).inspect(|value| self.values.borrow_mut().push(value.clone()));
        expand_variables(option, text, &lookup).map_err(|fault| CommandError::usage(fault.to_string()))
    }

    /// Like [`Self::expand`]; text that is not UTF-8 is returned unchanged.
    ///
    /// # Errors
    /// As [`Self::expand`].
    pub(crate) fn expand_os(&self, option: &str, text: &OsStr) -> Result<OsString, CommandError> {
        match text.to_str() {
            Some(text) => Ok(self.expand(option, text)?.into()),
            None => Ok(text.to_owned()),
        }
    }

    /// Returns the command of a program. Variables are expanded in its arguments but not in the program, as in
    /// configuration files.
    ///
    /// # Errors
    /// As [`Self::expand`].
    pub(crate) fn command(&self, program: &OsStr, args: &[OsString]) -> Result<Stdio, CommandError> {
        let args = args.iter().map(|arg| self.expand_os("argument", arg)).collect::<Result<Vec<_>, _>>()?;
        Ok(Stdio::new(program).args(args))
    }

    /// Expands the values of `--env`.
    ///
    /// # Errors
    /// As [`Self::expand`].
    pub(crate) fn env(&self, env: &[(String, String)]) -> Result<Vec<(String, String)>, CommandError> {
        let pair = |(name, value): &(String, String)| {
            Ok((name.clone(), self.expand(&format!("--env {name}"), value)?))
        };
        env.iter().map(pair).collect()
    }

    /// Expands the options that apply to a program.
    ///
    /// # Errors
    /// As [`Self::expand`].
    pub(crate) fn options(&self, options: &SessionOptions) -> Result<SessionOptions, CommandError> {
        let cwd = options.cwd.as_ref().map(|cwd| self.expand_os("--cwd", cwd.as_os_str())).transpose()?;
        Ok(SessionOptions { env: self.env(&options.env)?, cwd: cwd.map(Into::into), ..options.clone() })
    }

    /// Returns the expanded values.
    pub(crate) fn into_values(self) -> Vec<String> {
        self.values.into_inner()
    }
}
