//! Arguments of `completions` and `man`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  source <(switchboard completions bash)
  switchboard completions fish > ~/.config/fish/completions/switchboard.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  switchboard man | man -l -
  switchboard man --dir ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write the manual pages of all commands to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
