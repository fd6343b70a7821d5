//! What the programs that are no client print: one object of named numbers.

use std::fmt::Write as _;
use std::process::ExitCode;

use bench_kit::Fail;

/// Named numbers, in the order they were found.
#[derive(Debug, Default)]
pub struct Figures(Vec<(&'static str, f64)>);

impl Figures {
    /// Adds a figure.
    pub fn add(&mut self, name: &'static str, value: f64) {
        self.0.push((name, value));
    }

    fn line(&self) -> String {
        let mut line = String::from("{");
        for (index, (name, value)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            // Writing to a `String` does not fail.
            let _ = write!(line, "{comma}\"{name}\":{value:.3}");
        }
        line + "}"
    }
}

/// The middle of these.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The `main` of a program: prints its figures, or says what went wrong.
pub fn run<F: Future<Output = Result<Figures, Fail>>>(work: impl FnOnce() -> F) -> ExitCode {
    let found = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Fail::from)
        .and_then(|runtime| runtime.block_on(work()));
    match found {
        Ok(figures) => {
            println!("{}", figures.line());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
