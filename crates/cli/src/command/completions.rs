//! `switchboard completions` and `switchboard man`: generate completion scripts and manual pages.

use std::path::Path;

use crate::args::{CompletionsArgs, ManArgs, command_line};
use crate::error::CommandError;
use crate::output::{OutputStream, Screen};

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "switchboard", &mut script);
    Ok(OutputStream::stdout().print_bytes(&script)?)
}

pub(crate) fn man(args: &ManArgs) -> Result<(), CommandError> {
    let command = command_line();
    let Some(folder) = &args.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        return Ok(OutputStream::stdout().print_bytes(&page)?);
    };
    let failed = |path: &Path, error: &std::io::Error| {
        CommandError::other("io", format!("cannot write {}: {error}", path.display()))
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    clap_mangen::generate_to(command, folder).map_err(|error| failed(folder, &error))?;
    Screen::new().say(&format!("wrote the manual pages to {}", folder.display()));
    Ok(())
}
