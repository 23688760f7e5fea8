//! How counts grow with a table, from the counts in two samples.

/// A number that differs by a smaller part between the two samples does not grow.
const SAME: f64 = 0.05;
/// A median over so many rows is no chance: if it is the same in both samples, nothing grows.
const TYPICAL: f64 = 20.0;

/// How numbers in the larger sample grow with the table: a part of each is a constant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// The part of each number that stays as it is; infinite if nothing grows.
    constant: f64,
    /// The rows in the larger sample.
    rows: f64,
}

impl Growth {
    /// Returns the growth for numbers that are these in samples with these sizes.
    pub(super) fn between(sizes: [f64; 2], numbers: [&[f64]; 2]) -> Self {
        let is_same = |few: f64, many: f64| many - few <= SAME * many;
        let [few, many] = numbers.map(mean);
        let medians = numbers.map(median);
        // Ranges with a fixed length end early at the table's end, which means show.
        let is_fixed = medians[1] >= TYPICAL && is_same(medians[0], medians[1]);
        let is_same = !many.is_finite() || sizes[1] <= sizes[0] || is_same(few, many) || is_fixed;
        let constant = if is_same {
            f64::INFINITY
        } else {
            (many - (many - few) * sizes[1] / (sizes[1] - sizes[0])).max(0.0)
        };
        Self { constant, rows: sizes[1] }
    }

    /// Returns a number from the larger sample as it is in a table with so many rows: at most the
    /// rows that exist there, if it is at most those in the sample.
    pub(super) fn at(self, number: f64, rows: f64) -> f64 {
        if number <= self.constant {
            return number;
        }
        self.constant + (number - self.constant) * rows / self.rows
    }
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

fn median(numbers: &[f64]) -> f64 {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}
