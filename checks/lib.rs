//! Tests whose dependencies are too heavy for `cargo test --workspace`; `cargo xtask ci` runs them.
