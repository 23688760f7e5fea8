//! Seeded randomness: numbers that depend on a seed and a position only, so that any row can be
//! made without those before it.

/// A random number sequence (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Begins a sequence that depends on all these numbers.
    pub(super) fn new(seeds: &[u64]) -> Self {
        let mut random = Self(0);
        for seed in seeds {
            random.0 = random.next().wrapping_add(*seed);
        }
        random
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.0)
    }

    /// Returns a number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        // The bias is below 2^-32 for the ends that occur here.
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// Returns a number from 0 to below 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Mixes a number's bits; different numbers have different results.
pub(super) fn mixed(number: u64) -> u64 {
    let mut bits = number;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// Returns the place that `index` has in a permutation of the numbers below `count`.
///
/// A Feistel network permutes the numbers below a power of four; numbers that fall outside the
/// range go through it again.
pub(super) fn permuted(index: u64, count: u64, seed: u64) -> u64 {
    let bits = (64 - (count.max(2) - 1).leading_zeros()).div_ceil(2);
    let mask = (1u64 << bits) - 1;
    let mut at = index;
    loop {
        let mut left = at >> bits;
        let mut right = at & mask;
        for round in 0..4 {
            let scrambled = mixed(right ^ seed.wrapping_add(round << 56)) & mask;
            (left, right) = (right, left ^ scrambled);
        }
        at = left << bits | right;
        if at < count {
            return at;
        }
    }
}

/// Draws from 1 to `count`, the number k with a probability in proportion to k^-skew.
///
/// Rejection-inversion (W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates
/// from monotone discrete distributions", 1996): it needs no table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zipf {
    count: f64,
    skew: f64,
    first: f64,
    last: f64,
    squeeze: f64,
}

impl Zipf {
    pub(super) fn new(count: u64, skew: f64) -> Self {
        let mut zipf = Self { count: count as f64, skew, first: 0.0, last: 0.0, squeeze: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(zipf.count + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.last + random.unit() * (self.first - self.last);
            let at = self.inverse(area);
            let rank = at.round().clamp(1.0, self.count);
            let is_under =
                rank - at <= self.squeeze || area >= self.integral(rank + 0.5) - self.density(rank);
            if is_under {
                return rank as u64;
            }
        }
    }

    fn density(&self, at: f64) -> f64 {
        at.powf(-self.skew)
    }

    /// The integral over the density, which for skew 1 is a logarithm.
    fn integral(&self, at: f64) -> f64 {
        let power = 1.0 - self.skew;
        if power.abs() < 1e-9 { at.ln() } else { (at.powf(power) - 1.0) / power }
    }

    fn inverse(&self, area: f64) -> f64 {
        let power = 1.0 - self.skew;
        if power.abs() < 1e-9 { area.exp() } else { (1.0 + area * power).powf(1.0 / power) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_permutation_has_every_number_once() {
        for count in [1, 2, 3, 5, 64, 1000] {
            let all: BTreeSet<_> = (0..count).map(|index| permuted(index, count, 7)).collect();
            assert_eq!(all, (0..count).collect());
        }
        assert_ne!(permuted(0, 1000, 7), permuted(0, 1000, 8));
    }

    #[test]
    fn ranks_have_the_shares_of_the_power_law() {
        for skew in [0.5, 1.0, 1.1, 2.0] {
            let count = 1000;
            let draws = 200_000;
            let zipf = Zipf::new(count, skew);
            let mut random = Random::new(&[1]);
            let mut counts = vec![0u32; count as usize + 1];
            (0..draws).for_each(|_| counts[zipf.draw(&mut random) as usize] += 1);
            let total: f64 = (1..=count).map(|rank| (rank as f64).powf(-skew)).sum();
            for rank in [1usize, 2, 10] {
                let expected = (rank as f64).powf(-skew) / total;
                let share = f64::from(counts[rank]) / f64::from(draws);
                assert!((share - expected).abs() < 0.1 * expected + 0.001, "{skew} {rank} {share}");
            }
        }
    }
}
