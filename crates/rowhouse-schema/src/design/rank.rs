//! The score by which designs are ranked.

/// Rounds a score to two digits: smaller differences are chance.
///
/// ```
/// use rowhouse_schema::two_digits;
///
/// assert_eq!(two_digits(12_345.0), 12_000.0);
/// assert_eq!(two_digits(0.0), 0.0);
/// ```
pub fn two_digits(score: f64) -> f64 {
    if score <= 0.0 || !score.is_finite() {
        return score;
    }
    let step = 10f64.powf(score.log10().floor() - 1.0);
    (score / step).round() * step
}
