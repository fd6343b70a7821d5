//! Number comparison by value: 1.0 equals 1, integers beyond 2^53 are compared exactly, multiples use decimal arithmetic.

use std::cmp::Ordering;

use serde_json::Number;

/// Returns whether a number has no fraction, in any notation.
pub(super) fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

pub(super) fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        (Some(one), None) => compare_mixed(one, other.as_f64()?),
        (None, Some(other)) => compare_mixed(other, one.as_f64()?).map(Ordering::reverse),
        (None, None) => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// Compares without rounding the integer.
fn compare_mixed(whole: i128, float: f64) -> Option<Ordering> {
    // Integers of JSON have at most 64 bits; casting a larger float saturates, which keeps the order.
    let floor = float.floor();
    if floor.is_nan() {
        return None;
    }
    Some(whole.cmp(&(floor as i128)).then(if float > floor { Ordering::Less } else { Ordering::Equal }))
}

pub(super) fn equal(one: &Number, other: &Number) -> bool {
    compare(one, other) == Some(Ordering::Equal)
}

/// Returns a key that is equal for equal numbers, for hashing.
pub(super) fn normal(number: &Number) -> (bool, i128, u64) {
    if let Some(whole) = number.as_i128() {
        return (true, whole, 0);
    }
    let float = number.as_f64().unwrap_or_default();
    // Larger integers are never parsed as integers, so the float is their only representation.
    if float.fract() == 0.0 && float.abs() < 1e30 {
        (true, float as i128, 0)
    } else {
        (false, 0, float.to_bits())
    }
}

/// `mantissa` × 10^`exponent`: the shortest decimal that reads back as the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    mantissa: u128,
    exponent: i32,
}

impl Decimal {
    /// Converts the absolute value; the sign is irrelevant for divisibility.
    pub(super) fn new(number: &Number) -> Option<Self> {
        if let Some(whole) = number.as_i128() {
            return Some(Self { mantissa: whole.unsigned_abs(), exponent: 0 });
        }
        let text = format!("{:e}", number.as_f64()?.abs());
        let (digits, exponent) = text.split_once('e')?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mantissa = format!("{whole}{fraction}").parse().ok()?;
        Some(Self { mantissa, exponent: exponent.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()? })
    }

    pub(super) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    pub(super) fn is_multiple_of(self, step: Self) -> bool {
        if self.mantissa == 0 || step.mantissa == 0 {
            return self.mantissa == 0;
        }
        let shift = i64::from(self.exponent) - i64::from(step.exponent);
        if shift >= 0 {
            // Mantissas have at most 20 digits: the products below fit 128 bits when the step has at most 64 bits.
            let Ok(modulus) = u64::try_from(step.mantissa) else { return false };
            let modulus = u128::from(modulus);
            ((self.mantissa % modulus) * power_of_ten(shift as u64, modulus)).is_multiple_of(modulus)
        } else {
            let factor = 10_u128.checked_pow(u32::try_from(-shift).unwrap_or(u32::MAX));
            let divisor = factor.and_then(|factor| step.mantissa.checked_mul(factor));
            divisor.is_some_and(|divisor| self.mantissa.is_multiple_of(divisor))
        }
    }
}

fn power_of_ten(mut exponent: u64, modulus: u128) -> u128 {
    let (mut base, mut power) = (10 % modulus, 1 % modulus);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power * base % modulus;
        }
        base = base * base % modulus;
        exponent >>= 1;
    }
    power
}
