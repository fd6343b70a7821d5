//! Arguments of `replay` and `test`.

use std::path::PathBuf;

use switchboard::protocol::Revision;
use switchboard_recording::IgnoredPath;

use super::HttpServerArgs;
use super::target::ServerTarget;
use super::value_parsers::revision;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Requests are matched by method and parameters, in any order. One that was
recorded several times gets its answers in order, then the last one again.

Examples:
  switchboard call add a=1 b=2 --record add.talk -- switchboard demo-server
  switchboard call add a=1 b=2 -- switchboard replay add.talk
  # over HTTP, for any client
  switchboard replay add.talk --http 127.0.0.1:8080")]
pub(crate) struct ReplayArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The server to be, if the recording has several
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Speak only this revision of the protocol; by default all of both eras, whichever was recorded
    #[arg(long, value_name = "REV", value_parser = revision)]
    pub(crate) revision: Option<Revision>,
    #[command(flatten)]
    pub(crate) http: HttpServerArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Sends the recorded requests one after the other, calls of tools included, and
answers questions as recorded. Ids, times and progress do not matter. Values
of the recording may be patterns: \"<any>\", \"<id:NAME>\", \"...\": true.

Examples:
  switchboard test add.talk -- switchboard demo-server
  switchboard test add.talk --url http://127.0.0.1:8080/mcp
  switchboard test add.talk --server files
  # a member that differs each time
  switchboard test time.talk --ignore 'result.content[0].text' -- CMD")]
pub(crate) struct TestArgs {
    /// The recording
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Leave this path out of the comparison, like result.content[0].text; * is any member. May be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) ignore: Vec<IgnoredPath>,
    /// The server in the recording, if it has several
    #[arg(long, value_name = "NAME")]
    pub(crate) recorded: Option<String>,
    #[command(flatten)]
    pub(crate) target: ServerTarget,
}
