//! Verdicts in sentences. The web pages write the same in Chinese.

use std::fmt;

use super::{
    BusiestServer, HotPrefix, LoadCause, LoadVerdict, MissingEvidence, Remedy, RemedyKind,
};

/// Bounds of regions that are listed.
const BOUNDS_LISTED: usize = 3;

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

impl fmt::Display for LoadVerdict {
    /// Writes the judgement in one or several sentences.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = percent(self.share);
        match &self.cause {
            LoadCause::Unknown(missing) => return self.write_unknown(missing, f),
            LoadCause::Even => write!(f, "The load is spread over the keys")?,
            LoadCause::OneRow { text, .. } => {
                write!(f, "One row has {share} of the load: {text}")?;
            }
            LoadCause::Growing { field, is_falling } => {
                let place = if *is_falling { "before" } else { "after" };
                write!(f, "{share} of the load is at new keys, {place} those of the time before")?;
                if let Some(field) = field {
                    write!(f, ": `{field}` grows")?;
                }
            }
            LoadCause::FewValues { field, values } => {
                let count = values.len();
                let plural = if count == 1 { "" } else { "s" };
                let values = values.join(", ");
                write!(
                    f,
                    "{share} of the load is at {count} value{plural} of `{field}`, the first \
                     field: {values}"
                )?;
            }
            LoadCause::HotPrefix { prefix } => write!(f, "{share} of the load is at {prefix}")?,
            LoadCause::Burst { prefix, length_millis, share_then } => write!(
                f,
                "A burst: {share} of the load is at {prefix}, most of it within {} s, in which it \
                 is {} of the load",
                (length_millis + 999) / 1_000,
                percent(*share_then)
            )?,
            LoadCause::UnfitBounds { start, stop } => write!(
                f,
                "The load is spread over the keys, but {share} of it is in one region, from \
                 {start} to {stop}: the bounds of regions do not fit the keys"
            )?,
            LoadCause::Placement { server } => write!(
                f,
                "The load is spread over the regions, but {share} of it is on one region server, \
                 {server}: its regions are the cause, not the key"
            )?,
        }
        write!(f, " (confidence {}).", percent(self.confidence))?;
        self.write_regions(f)?;
        self.write_remedies(f)
    }
}

impl LoadVerdict {
    fn write_unknown(&self, missing: &MissingEvidence, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match missing {
            MissingEvidence::Requests { count, needed } => {
                return write!(f, "Cannot judge yet: requests={count}, needed={needed}.");
            }
            MissingEvidence::Sample => write!(
                f,
                "Cannot judge: most of these requests were measured by an earlier version, \
                 without a sample of their keys."
            )?,
            MissingEvidence::SampleSize { count, needed } => {
                write!(f, "Cannot judge yet: requests in the sample={count}, needed={needed}.")?;
            }
            MissingEvidence::Keys => write!(
                f,
                "Cannot judge the key: the servers count requests by region, without keys and \
                 times."
            )?,
            MissingEvidence::Certainty { cause, count } => write!(
                f,
                "Cannot judge yet: a sample of {count} requests does not tell an even load from \
                 this cause: {}.",
                cause.replace('_', " ")
            )?,
        }
        self.write_regions(f)
    }

    fn write_regions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.region_share, self.regions) {
            (None, _) => {}
            (Some(_), 1) => write!(f, " The table has one region.")?,
            (Some(share), regions) => {
                let share = percent(share);
                write!(f, " The busiest of {regions} regions has {share} of the load.")?;
            }
        }
        match &self.server {
            Some(BusiestServer { address, share, servers }) => {
                let share = percent(*share);
                write!(f, " The busiest of {servers} region servers, {address}, has {share}.")
            }
            None => Ok(()),
        }
    }

    fn write_remedies(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.remedies.iter().try_for_each(|remedy| write!(f, " {remedy}"))?;
        match &self.cause {
            LoadCause::OneRow { .. } => write!(
                f,
                " No key spreads a row: divide it into several, or gather its changes before they \
                 are written."
            ),
            LoadCause::Even | LoadCause::Unknown(_) => Ok(()),
            _ if self.remedies.is_empty() => {
                write!(f, " No bucket of a field and no bounds of regions spread this load.")
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for HotPrefix {
    /// Writes the field with its value, or the beginning of the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field} = {}", self.value),
            None => write!(f, "keys that begin with {}", self.value),
        }
    }
}

impl fmt::Display for Remedy {
    /// Writes the remedy in a sentence, with what it costs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = percent(self.share_before);
        let after = percent(self.share_after);
        match &self.kind {
            RemedyKind::Split { texts, .. } => {
                let listed = texts.iter().take(BOUNDS_LISTED).cloned().collect::<Vec<_>>();
                let more = if texts.len() > BOUNDS_LISTED { " and so on" } else { "" };
                write!(
                    f,
                    "Regions that begin at {}{more} spread it: the busiest share falls from \
                     {before} to {after}, and queries cost what they cost now.",
                    listed.join("; ")
                )
            }
            RemedyKind::Move { texts, .. } => {
                let count = texts.len();
                let plural = if count == 1 { "" } else { "s" };
                let listed = texts.iter().take(BOUNDS_LISTED).cloned().collect::<Vec<_>>();
                let more = if count > BOUNDS_LISTED { " and so on" } else { "" };
                write!(
                    f,
                    "Moving {count} region{plural} to less busy servers spreads it, those that \
                     begin at {}{more}: the busiest server's share falls from {before} to {after}, \
                     and queries cost what they cost now. `move` and the balancer do that.",
                    listed.join("; ")
                )
            }
            RemedyKind::Key { template, field, buckets } => write!(
                f,
                "This key spreads it: {template}; the busiest share falls from {before} to \
                 {after}. A query that does not fix `{field}` then reads {buckets} ranges; \
                 rowhouse simulate, or advise in the shell, says what that costs."
            ),
        }
    }
}
