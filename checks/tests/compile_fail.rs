//! Errors of the macros: each mistake is reported at the right token, all at once, with what to do.
//!
//! Run with `TRYBUILD=overwrite` to record the current messages; then review every message.

#[test]
fn mistakes_are_told_where_they_are() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

/// V10: a type that does not fit is one error, at the type, however many derives it lacks and wherever it is used. The
/// test above checks that these files are what the compiler says.
#[test]
fn v10_one_error_per_type() {
    let all = "`#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]`";
    let cases = [
        ("argument", "Opaque", all),
        ("argument_schema", "Query", all),
        ("argument_foreign", "Option<Instant>", "a type of another crate"),
        ("whole_argument", "Query", all),
        ("output", "Opaque", all),
        ("output_foreign", "std::time::Instant", "a type of another crate"),
        ("error_type", "std::io::Error", "`?` converts every `std::error::Error`"),
        ("error_option", "Failure", "`#[derive(ServiceError)]`"),
        ("event_type", "Tick", all),
        ("payload", "Tick", "`#[derive(serde::Serialize, schemars::JsonSchema)]`"),
    ];
    for (case, ty, advice) in cases {
        let path = format!("{}/tests/ui/{case}.stderr", env!("CARGO_MANIFEST_DIR"));
        let stderr = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let errors = stderr.lines().filter(|line| line.starts_with("error")).count();
        assert_eq!(errors, 1, "{path}:\n{stderr}");
        assert_eq!(marked(&stderr), Some(ty), "{path}:\n{stderr}");
        assert!(stderr.contains(advice), "{path} does not say {advice}:\n{stderr}");
        assert!(stderr.lines().count() <= 20, "{path} is long:\n{stderr}");
    }
}

/// Returns the source that the first carets mark.
fn marked(stderr: &str) -> Option<&str> {
    let (source, carets) =
        stderr.lines().zip(stderr.lines().skip(1)).find(|(_, below)| below.contains('^'))?;
    source.get(carets.find('^')?..=carets.rfind('^')?)
}
