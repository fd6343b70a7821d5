//! `${NAME}` and `${NAME:-default}` on the command line, filled in by the code that fills them in for configuration files.
//!
//! Invariants: a failure names the option and the variable, never a value; every value that was filled in is recorded, so
//! that a trace can mask it.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};

use switchboard::Stdio;
use switchboard::host::config::expand_variables;

use crate::args::Options;
use crate::environment::variable;
use crate::failure::Failure;

/// Fills in variables, and records their values.
#[derive(Default)]
pub(crate) struct Expander {
    values: RefCell<Vec<String>>,
}

impl Expander {
    /// Returns the text of an option with its variables filled in.
    ///
    /// # Errors
    /// Names the variable that is not set, or the reference that cannot be read.
    pub(crate) fn expand(&self, option: &str, text: &str) -> Result<String, Failure> {
        let lookup =
            |name: &str| variable(name).inspect(|value| self.values.borrow_mut().push(value.clone()));
        expand_variables(option, text, &lookup).map_err(|fault| Failure::usage(fault.to_string()))
    }

    /// As [`Self::expand`]; what is not UTF-8 stays as it is.
    ///
    /// # Errors
    /// As [`Self::expand`].
    pub(crate) fn expand_os(&self, option: &str, text: &OsStr) -> Result<OsString, Failure> {
        match text.to_str() {
            Some(text) => Ok(self.expand(option, text)?.into()),
            None => Ok(text.to_owned()),
        }
    }

    /// Returns the command of a program and its arguments. Variables are filled in everywhere but in the program, as in a
    /// file.
    ///
    /// # Errors
    /// As [`Self::expand`].
    pub(crate) fn command(&self, program: &OsStr, args: &[OsString]) -> Result<Stdio, Failure> {
        let args = args.iter().map(|arg| self.expand_os("argument", arg)).collect::<Result<Vec<_>, _>>()?;
        Ok(Stdio::new(program).args(args))
    }

    /// Returns the variables of `--env` with variables filled in.
    ///
    /// # Errors
    /// As [`Self::expand`].
    pub(crate) fn env(&self, env: &[(String, String)]) -> Result<Vec<(String, String)>, Failure> {
        let pair = |(name, value): &(String, String)| {
            Ok((name.clone(), self.expand(&format!("--env {name}"), value)?))
        };
        env.iter().map(pair).collect()
    }

    /// Returns the options with variables filled in, in those that go to a program.
    ///
    /// # Errors
    /// As [`Self::expand`].
    pub(crate) fn options(&self, options: &Options) -> Result<Options, Failure> {
        let cwd = options.cwd.as_ref().map(|cwd| self.expand_os("--cwd", cwd.as_os_str())).transpose()?;
        Ok(Options { env: self.env(&options.env)?, cwd: cwd.map(Into::into), ..options.clone() })
    }

    /// Returns the values that were filled in.
    pub(crate) fn into_values(self) -> Vec<String> {
        self.values.into_inner()
    }
}
