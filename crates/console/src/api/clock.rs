//! Times as the page reads them.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::contract::UnixMs;

/// Returns the current time.
pub(crate) fn unix_ms_now() -> UnixMs {
    unix_ms(SystemTime::now())
}

/// Returns a time of the monotonic clock as wall-clock time.
pub(crate) fn unix_ms_of(instant: Instant) -> UnixMs {
    let (now, system) = (Instant::now(), SystemTime::now());
    match instant.checked_duration_since(now) {
        Some(ahead) => unix_ms(system + ahead),
        None => unix_ms(system - now.duration_since(instant)),
    }
}

fn unix_ms(time: SystemTime) -> UnixMs {
    as_ms(time.duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn as_ms(duration: Duration) -> UnixMs {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Parses a time such as `2026-07-28T10:30:00.250Z`; `None` if it is not one.
pub(crate) fn parse_timestamp(text: &str) -> Option<UnixMs> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let mut date = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let zone_at = time.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = time.split_at(zone_at);
    let mut parts = time.splitn(3, ':');
    let (hour, minute) = (parts.next()?.parse::<i64>().ok()?, parts.next()?.parse::<i64>().ok()?);
    let second: f64 = parts.next()?.parse().ok()?;
    let offset = match zone.as_bytes().first()? {
        b'+' | b'-' => {
            let (hours, minutes) = zone[1..].split_once(':')?;
            let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
        _ => 0,
    };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0.0..61.0).contains(&second) {
        return None;
    }
    // Days since the epoch, by the algorithm of Howard Hinnant for the proleptic Gregorian calendar.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days =
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    let minutes = (days * 24 + hour) * 60 + minute - offset;
    u64::try_from(minutes * 60_000 + (second * 1000.0) as i64).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_of_tasks_are_read() {
        assert_eq!(parse_timestamp("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(parse_timestamp("2026-07-28T10:30:00.250Z"), Some(1_785_234_600_250));
        assert_eq!(parse_timestamp("2024-02-29T23:59:59+02:00"), Some(1_709_243_999_000));
        for text in ["", "yesterday", "2026-07-28", "2026-13-01T00:00:00Z", "2026-07-28T10:30:00"] {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_ahead_is_later() {
        let ahead = Instant::now() + Duration::from_secs(60);
        assert!(unix_ms_of(ahead) > unix_ms_now() + 50_000);
    }
}
