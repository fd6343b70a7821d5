//! What the programs of the benchmark share, so that each make differs only in how it speaks.

mod args;
mod drive;
mod entry;
pub mod fixture;
mod meter;
mod report;
mod stdin;

pub use args::{
    Binding, ClientArgs, Era, GatewayArgs, InsideArgs, ServerArgs, ServerNames, Target, Threads, Watched,
    Work,
};
pub use drive::{Calls, Session, spread};
pub use entry::{client, gateway, inside, server};
pub use meter::{Usage, ticks};
pub use stdin::stdin_ended;

/// What went wrong, as a sentence for standard error.
pub type Fail = Box<dyn std::error::Error + Send + Sync>;
