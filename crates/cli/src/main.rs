//! The `switchboard` program; its code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    switchboard_cli::main()
}
