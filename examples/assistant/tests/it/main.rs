//! The assistant from outside: every scenario, its programs, its documents, and what a service promises.
//!
//! The program is also its own child, which it must decide before any thread: hence its own harness. With it `#[test]`
//! does nothing; a test is a function that its module lists in `trials!`.

/// Trials named after the functions they run.
#[macro_export]
macro_rules! trials {
    ($($test:ident),* $(,)?) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            let trial = |name: &str, test: fn()| {
                libtest_mimic::Trial::test(name, move || {
                    test();
                    Ok(())
                })
            };
            vec![$(trial(stringify!($test), $test)),*]
        }
    };
}

mod cli;
mod documents;
mod promises;
mod scenarios;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if let Some(code) = scenarios::work_as_child() {
        return code;
    }
    let mut trials = match scenarios::all() {
        Ok(trials) => trials,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    trials.extend(cli::trials().into_iter().chain(documents::trials()).chain(promises::trials()));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
