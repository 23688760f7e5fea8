//! The score by which designs are ranked.

/// Returns a design's score; the least is the best: the cost in rows per second times the share of
/// the writes that the busiest region takes.
///
/// Twice the cost is worth half the share. A share below an even part of the servers is worth no
/// more: no server has less to do for it. A cost below one row per second counts as one.
///
/// ```
/// use rowhouse_schema::design_score;
///
/// assert_eq!(design_score(1000.0, 1.0, 4), 1000.0);
/// assert_eq!(design_score(1000.0, 0.5, 4), 500.0);
/// assert_eq!(design_score(1000.0, 0.1, 4), design_score(1000.0, 0.2, 4));
/// ```
pub fn score(cost: f64, share: f64, servers: usize) -> f64 {
    cost.max(1.0) * share.max(1.0 / servers.max(1) as f64)
}

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
