//! Medians, and ratios as medians of per-round ratios: a disturbance of a round affects both of its figures.

/// Returns the median; `None` for no values.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => None,
        1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Returns the median of the per-round ratios, or the ratio of the medians if the rounds differ.
pub(super) fn ratio(of: &[f64], to: &[f64]) -> Option<f64> {
    if of.len() != to.len() {
        return Some(median(of)? / median(to)?);
    }
    let ratios: Vec<f64> = of.iter().zip(to).map(|(of, to)| of / to).collect();
    median(&ratios)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_found_in_any_order() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }

    #[test]
    fn a_disturbed_round_disturbs_no_ratio() {
        // The third round was slow for both.
        assert_eq!(ratio(&[1.0, 1.1, 10.0], &[2.0, 2.2, 20.0]), Some(0.5));
        assert_eq!(ratio(&[3.0], &[1.0, 2.0, 3.0]), Some(1.5));
        assert_eq!(ratio(&[], &[]), None);
    }
}
