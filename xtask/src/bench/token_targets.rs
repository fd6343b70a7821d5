//! Targets of the verification of tokens.

use super::host::HostFigure::{BareSignature, CachedToken, UncachedToken};
use super::setup::Era::{Legacy, Modern};
use super::setup::Form::Protected;
use super::setup::Side::Server;
use super::setup::{Make, Road, Setup};
use super::target::{Measure, Quantity, Target};
use super::targets::{instructions, most, target};

/// A1 to A3: what the verification of tokens costs.
pub(super) fn all() -> Vec<Target> {
    let cached = most(2.0, "µs", Measure::Plain(Quantity::Host(CachedToken)));
    let uncached = Measure::Ratio(Quantity::Host(UncachedToken), Quantity::Host(BareSignature));
    let mut targets = vec![
        target("A1.cached", "verifying a token of 1 kB that is cached", cached, None),
        target("A2.uncached", "verifying an ES256 token that is not", most(1.3, "× ring", uncached), None),
    ];
    for era in [Legacy, Modern] {
        let server = Setup::echo(Server, Road::Http).era(era).by(Make::Auth);
        let measure = instructions(server.form(Protected), server);
        let what = format!("instructions per HTTP call, server, with a token of 1 kB, {era}");
        targets.push(target(&format!("A3.{era}"), &what, most(1.15, "× open", measure), None));
    }
    targets
}
