//! Formats byte counts for people.

/// Formats a number of bytes for people: `1 byte`, `3.0 KiB`.
pub fn format_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = "bytes";
    for next in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    match (unit, bytes) {
        ("bytes", 1) => "1 byte".to_owned(),
        ("bytes", _) => format!("{bytes} {unit}"),
        _ => format!("{value:.1} {unit}"),
    }
}
