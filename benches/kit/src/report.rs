//! The line that a client prints.

use crate::meter::Usage;

/// What a client has measured.
#[derive(Debug)]
pub(crate) struct Report {
    /// How long each call took, in tenths of a microsecond.
    pub(crate) times: Vec<u32>,
    pub(crate) wall_us: u64,
    pub(crate) own: Usage,
    pub(crate) server: Usage,
}

impl Report {
    pub(crate) fn line(mut self) -> String {
        self.times.sort_unstable();
        let calls = self.times.len();
        let at = |part: usize| self.times.get(calls * part / 100).map_or(0, |ticks| ticks.div_ceil(10));
        let (p50, p99) = (at(50), at(99));
        let own = self.own.text();
        let own = own.trim_start_matches('{').trim_end_matches('}');
        let (wall_us, server) = (self.wall_us, self.server.text());
        format!(
            r#"{{"calls":{calls},"wall_us":{wall_us},"p50_us":{p50},"p99_us":{p99},{own},"server":{server}}}"#
        )
    }
}
