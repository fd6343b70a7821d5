//! What the servers offer, under names a model can use.

pub mod name;
pub mod profile;
