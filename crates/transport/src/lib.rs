//! Placeholder, filled in the next step.
