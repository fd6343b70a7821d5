//! Mistakes in a design, and what their author is told: each on the right token, all at once, with what to do.
//!
//! Run with `TRYBUILD=overwrite` to write down what is told now; then read every message as a newcomer would.

#[test]
fn mistakes_are_told_where_they_are() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
