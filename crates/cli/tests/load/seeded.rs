//! Reproducible randomness and the counts of the tests.

/// SplitMix64: a seed reproduces a run as far as the machine's timing allows.
#[derive(Debug, Clone)]
pub(crate) struct Seeded(u64);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number below a limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Returns the seed of this run: given, or of the clock.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("SWITCHBOARD_LOAD_SEED").ok().map(|seed| seed.parse().unwrap());
    given.unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        now.as_nanos() as u64
    })
}

/// Returns how many calls a test makes: few by default, all of them with `SWITCHBOARD_LONG=1`.
pub(crate) fn call_count(few: usize, all: usize) -> usize {
    if let Ok(given) = std::env::var("SWITCHBOARD_LOAD_CALLS") {
        return given.parse().unwrap();
    }
    let is_long = std::env::var_os("SWITCHBOARD_LONG").is_some_and(|value| value == "1");
    if is_long { all } else { few }
}
