//! Which limits of a workload a design breaks.

use super::estimate::DesignEstimate;
use super::spread::Spread;
use super::workload::Workload;

impl Workload {
    /// Returns the limits that a design breaks with these writes, each in a sentence. `rows_read`
    /// has, for each question, the most rows that it reads.
    pub fn broken_limits(
        &self,
        rows_read: impl IntoIterator<Item = f64>,
        spread: &Spread,
    ) -> Vec<String> {
        let limits = self.limits();
        let mut broken = Vec::new();
        if let Some(max) = limits.rows_read {
            let questions = self.questions().iter().zip(rows_read);
            let too_many = questions.filter(|(_, rows)| *rows > max as f64);
            broken.extend(too_many.map(|(question, rows)| {
                format!(
                    "a question reads too many rows: question=`{question}`, rows={rows:.0}, \
                     max={max}"
                )
            }));
        }
        let share = spread.median() * 100.0;
        if let Some(max) = limits.region_share.map(|max| max * 100.0).filter(|max| share > *max) {
            broken.push(format!(
                "a region takes too many of the writes: share={share:.0} %, max={max:.0} %"
            ));
        }
        let writes = spread.median_of_servers() * self.writes_per_second();
        if let Some(max) = limits.server_writes.filter(|max| writes > *max) {
            broken.push(format!(
                "a server takes too many writes: rate={writes:.0}/s, max={max:.0}/s"
            ));
        }
        broken
    }
}

impl DesignEstimate {
    /// As [`Workload::broken_limits`] by the estimate, which knows the mean row count and not the
    /// greatest one.
    pub fn broken_limits(&self, workload: &Workload) -> Vec<String> {
        workload.broken_limits(self.questions.iter().map(|it| it.rows_real), &self.spread)
    }
}
