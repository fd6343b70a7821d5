//! The fault rows F001 to F078: what a session does when the other side misbehaves.
//!
//! Each row is one or more named tests; [`index`] is the table. The program is its own shim and, by a variable, plays
//! the misbehaving server ([`faultd`]), an honest server on its own stdio, or a host about to be killed ([`part`]).

mod case;
mod faultd;
mod part;
mod sessions;

mod far;
mod framing;
mod lists;
mod progress;
mod semantics;
mod timing;

mod crowd;
mod lifecycle;
mod stop;

mod honest;
mod own_stdio;
mod served;
mod serving;

mod index;

use switchboard_testkit::Trial;

/// Plays the part that a variable names, and says whether there was one.
pub(crate) fn work_as_child() -> bool {
    if let Ok(fault) = std::env::var(faultd::FAULT) {
        faultd::play(&fault);
        return true;
    }
    if let Ok(part) = std::env::var(part::PART) {
        part::play(&part);
        return true;
    }
    false
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = [
        case::trials(),
        framing::trials(),
        lists::trials(),
        progress::trials(),
        semantics::trials(),
        timing::trials(),
        crowd::trials(),
        lifecycle::trials(),
        stop::trials(),
        own_stdio::trials(),
        served::trials(),
        serving::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
    trials.push(index::trial(&trials));
    trials
}
