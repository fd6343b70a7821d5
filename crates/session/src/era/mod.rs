//! The seam.
mod belongs;
pub(crate) use belongs::belongs;
