//! What a process has used: time of the processor, and memory.

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

use crate::Fail;

/// What a process has used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    pub cpu_us: u64,
    pub rss_kb: u64,
    pub peak_kb: u64,
}

impl Usage {
    /// Of this process.
    pub fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self::from_status(cpu_us(ClockId::CLOCK_PROCESS_CPUTIME_ID), &status)
    }

    /// Of another process, all its threads together, but not its children.
    pub fn of(process: i32) -> Result<Self, Fail> {
        let clock = clock_getcpuclockid(Pid::from_raw(process))?;
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        Ok(Self::from_status(cpu_us(clock), &status))
    }

    fn from_status(cpu_us: u64, status: &str) -> Self {
        let line = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.map(first_number).unwrap_or_default()
        };
        Self { cpu_us, rss_kb: line("VmRSS:"), peak_kb: line("VmHWM:") }
    }

    /// As the tool `usage` answers it.
    pub fn text(&self) -> String {
        let Self { cpu_us, rss_kb, peak_kb } = self;
        format!(r#"{{"cpu_us":{cpu_us},"rss_kb":{rss_kb},"peak_kb":{peak_kb}}}"#)
    }

    /// Reads what the tool `usage` answered, whether its quotes are escaped or not.
    pub fn read(text: &str) -> Result<Self, Fail> {
        let number = |name: &str| -> Result<u64, Fail> {
            let at = text.find(name).ok_or_else(|| format!("the answer to usage has no {name}"))?;
            Ok(first_number(&text[at + name.len()..]))
        };
        Ok(Self { cpu_us: number("cpu_us")?, rss_kb: number("rss_kb")?, peak_kb: number("peak_kb")? })
    }

    /// Together with what another process has used.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            cpu_us: self.cpu_us + other.cpu_us,
            rss_kb: self.rss_kb + other.rss_kb,
            peak_kb: self.peak_kb + other.peak_kb,
        }
    }
}

fn first_number(text: &str) -> u64 {
    let digits = text.bytes().skip_while(|byte| !byte.is_ascii_digit()).take_while(u8::is_ascii_digit);
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// User and system time on the clock of a process; 0 for one that has ended.
fn cpu_us(clock: ClockId) -> u64 {
    let Ok(time) = clock_gettime(clock) else { return 0 };
    time.tv_sec().unsigned_abs() * 1_000_000 + time.tv_nsec().unsigned_abs() / 1_000
}

fn own_cpu_us() -> u64 {
    cpu_us(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// A moment, to measure from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    at: Instant,
    cpu_us: u64,
}

impl Mark {
    pub(crate) fn now() -> Self {
        Self { at: Instant::now(), cpu_us: own_cpu_us() }
    }

    /// The time on the wall and of the processor since then, in microseconds.
    pub(crate) fn spent(self) -> (u64, u64) {
        let cpu = own_cpu_us() - self.cpu_us;
        (self.at.elapsed().as_micros().try_into().unwrap_or(u64::MAX), cpu)
    }
}

/// How long a call took, as it is kept: in tenths of a microsecond, which last for seven minutes.
pub fn ticks(time: Duration) -> u32 {
    (time.as_secs() as u32).wrapping_mul(10_000_000).wrapping_add(time.subsec_nanos() / 100)
}
