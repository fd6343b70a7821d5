//! `switchboard completions` and `switchboard man`: what a shell and `man` know of the command line.

use std::path::Path;

use crate::args::{CompletionsArgs, ManArgs, command_line};
use crate::failure::{Failure, Status};
use crate::output::{Paper, Screen};

pub(crate) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "switchboard", &mut script);
    Ok(Paper::stdout().print_bytes(&script)?)
}

pub(crate) fn man(args: &ManArgs) -> Result<(), Failure> {
    let command = command_line();
    let Some(folder) = &args.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        return Ok(Paper::stdout().print_bytes(&page)?);
    };
    let failed = |path: &Path, error: &std::io::Error| {
        Failure::new(Status::Other, "io", format!("cannot write {}: {error}", path.display()))
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    clap_mangen::generate_to(command, folder).map_err(|error| failed(folder, &error))?;
    Screen::new().say(&format!("wrote the manual pages to {}", folder.display()));
    Ok(())
}
