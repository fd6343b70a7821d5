//! Judges the validator: `schema-oracle suite DIR` runs the official JSON-Schema-Test-Suite, `schema-oracle agree COUNT`
//! compares it with the crate `jsonschema` on generated schemas and values.

mod agree;
mod generate;
mod suite;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["suite", folder] => suite::run(folder.as_ref()),
        ["agree", count] => {
            count.parse().map_err(|_| "COUNT is not a number".to_owned()).and_then(agree::run)
        }
        _ => Err("usage: schema-oracle suite DIR | agree COUNT".to_owned()),
    };
    match outcome {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
