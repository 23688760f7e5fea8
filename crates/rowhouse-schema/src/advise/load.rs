//! Judges a table's load: whether it falls on few rows, which key field makes it so, and which key
//! would spread it.

use std::collections::BTreeMap;
use std::fmt;

use rowhouse_model::{Bytes, HeatBucket, HeatReport, HotRow, RowRange, escape};

use crate::KeySchema;
use crate::value::Quoted;

/// The load on the keys from `start` to the next range's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeLoad {
    /// The first key; empty for the table's beginning.
    pub start: Bytes,
    /// Requests.
    pub load: u64,
}

/// A row, and the requests that it received at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLoad {
    /// The row.
    pub row: Bytes,
    /// Requests.
    pub load: u64,
}

/// A table's load over some time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadProfile {
    /// For each time interval, oldest first, the load by key ranges in key order.
    pub intervals: Vec<Vec<RangeLoad>>,
    /// The busiest rows in the last minutes, the busiest first.
    pub rows: Vec<RowLoad>,
    /// The load on all rows in these minutes.
    pub rows_total: u64,
    /// The table's regions, in key order.
    pub regions: Vec<RowRange>,
}

/// A request kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadKind {
    /// Rows read.
    Reads,
    /// Mutations.
    Writes,
}

impl LoadKind {
    /// Returns the requests with this kind.
    pub fn of(self, bucket: &HeatBucket) -> u64 {
        match self {
            Self::Reads => bucket.reads,
            Self::Writes => bucket.writes,
        }
    }
}

/// What a table's load looks like.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LoadCause {
    /// There are too few requests to say.
    TooLittle,
    /// The load is spread over the keys.
    Even,
    /// One row has a large share.
    OneRow {
        /// The row.
        row: Bytes,
    },
    /// In each interval the load is beyond the previous interval's keys: the keys grow, or fall.
    Growing {
        /// The field whose values grow, if the table has a template.
        field: Option<String>,
        /// True if new keys come before the older ones.
        is_falling: bool,
    },
    /// The first key field has few values.
    FewValues {
        /// The field.
        field: String,
        /// The values that have most of the load.
        count: usize,
    },
    /// One first-field value has a large share.
    OneValue {
        /// The field.
        field: String,
        /// The value, as text.
        value: String,
        /// True if the share is for a short time only.
        is_burst: bool,
    },
}

/// A judgement about a table's load.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoadVerdict {
    /// What the load looks like.
    pub cause: LoadCause,
    /// The load share, between 0 and 1, that the cause accounts for.
    pub share: f64,
    /// The share of the region with the most load.
    pub region_share: f64,
    /// A template that spreads the load, if one does.
    pub cure: Option<String>,
}

/// The longest time over which hot rows are counted.
const HOT_ROW_MILLIS: i64 = 10 * 60 * 1000;
/// Requests below which there is no judgement.
const LOAD_MIN: u64 = 1_000;
/// The share that makes a row hot.
const ROW_SHARE: f64 = 0.1;
/// Keys grow if at least this load share is beyond the previous interval's keys. Keys that do not
/// grow have 5 % there.
const GROWING_SHARE: f64 = 0.5;
/// The part of an interval's load before the key with which later keys are compared.
const BEFORE_SHARE: f64 = 0.95;
/// The share that makes a first-field value hot.
const VALUE_SHARE: f64 = 0.3;
/// How many first-field values count as few, and the share that they have.
const FEW_VALUES: usize = 4;
const FEW_VALUES_SHARE: f64 = 0.8;
/// A value is busy for a short time if this much load is within a quarter of the intervals.
const BURST_SHARE: f64 = 0.8;
/// Buckets in a proposed template.
const BUCKETS: u32 = 16;

impl LoadProfile {
    /// Returns the profile for a report's reads or writes.
    pub fn of_heat(report: &HeatReport, kind: LoadKind, regions: Vec<RowRange>) -> Self {
        let range = |it: &HeatBucket| RangeLoad { start: it.start.clone(), load: kind.of(it) };
        let intervals: Vec<Vec<_>> = report
            .columns
            .iter()
            .map(|column| column.buckets.iter().map(range).collect())
            .collect();
        let row = |it: &HotRow| {
            let load = match kind {
                LoadKind::Reads => it.reads,
                LoadKind::Writes => it.writes,
            };
            RowLoad { row: it.row.clone(), load: load.saturating_sub(it.overestimate) }
        };
        let mut rows: Vec<_> = report.hot_rows.iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.load));
        let end = report.columns.iter().map(|it| it.start_millis + it.length_millis).max();
        let since = end.unwrap_or(0) - HOT_ROW_MILLIS;
        let recent = report.columns.iter().zip(&intervals);
        let recent = recent.filter(|(column, _)| column.start_millis >= since);
        let rows_total = recent.map(|(_, ranges)| load(ranges)).sum();
        Self { intervals, rows, rows_total, regions }
    }

    /// Judges the load. `schema` is the table's template, if it has one.
    pub fn judge(&self, schema: Option<&KeySchema>) -> LoadVerdict {
        let total: u64 = self.intervals.iter().flatten().map(|range| range.load).sum();
        let region_share = self.region_share(total);
        let verdict = |cause, share| {
            let cure = schema.and_then(|schema| cure(&cause, schema));
            LoadVerdict { cause, share, region_share, cure }
        };
        if total < LOAD_MIN {
            return verdict(LoadCause::TooLittle, 0.0);
        }
        if let Some(hot) = self.rows.first().filter(|_| self.rows_total >= LOAD_MIN) {
            let share = (hot.load as f64 / self.rows_total.max(1) as f64).min(1.0);
            if share >= ROW_SHARE {
                return verdict(LoadCause::OneRow { row: hot.row.clone() }, share);
            }
        }
        if let Some((cause, share)) = self.growing(schema) {
            return verdict(cause, share);
        }
        if let Some((cause, share)) = schema.and_then(|schema| self.few_values(schema, total)) {
            return verdict(cause, share);
        }
        verdict(LoadCause::Even, region_share)
    }

    /// Returns the share of the region with the most load.
    fn region_share(&self, total: u64) -> f64 {
        let mut loads = vec![0; self.regions.len()];
        for range in self.intervals.iter().flatten() {
            let region = self.regions.partition_point(|region| region.start <= range.start);
            if let Some(load) = loads.get_mut(region.saturating_sub(1)) {
                *load += range.load;
            }
        }
        loads.into_iter().max().unwrap_or(0) as f64 / total.max(1) as f64
    }

    /// Returns the cause if keys grow or fall, and the load share at new keys.
    fn growing(&self, schema: Option<&KeySchema>) -> Option<(LoadCause, f64)> {
        let mut beyond = 0u64;
        let mut below = 0u64;
        let mut all = 0u64;
        // A key from an interval, and a key from the next one.
        let mut pair = None;
        let busy = self.intervals.iter().filter(|ranges| load(ranges) > 0);
        for two in busy.collect::<Vec<_>>().windows(2) {
            let [before, after] = two else { continue };
            let low = quantile(before, 1.0 - BEFORE_SHARE);
            let high = quantile(before, BEFORE_SHARE);
            all += load(after);
            beyond += after.iter().filter(|it| it.start >= high).map(|it| it.load).sum::<u64>();
            let ends = after.iter().zip(after.iter().skip(1)).filter(|(_, next)| next.start <= low);
            below += ends.map(|(range, _)| range.load).sum::<u64>();
            pair = Some((quantile(before, 0.5), quantile(after, 0.5)));
        }
        let share = |part: u64| part as f64 / all.max(1) as f64;
        let is_falling = below > beyond;
        let share = share(below.max(beyond));
        if share < GROWING_SHARE {
            return None;
        }
        let field = schema.zip(pair).and_then(|(schema, (from, to))| differing(schema, &from, &to));
        Some((LoadCause::Growing { field, is_falling }, share))
    }

    /// Returns the cause if few first-field values have most of the load.
    fn few_values(&self, schema: &KeySchema, total: u64) -> Option<(LoadCause, f64)> {
        let mut field = None;
        let mut loads: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for (interval, ranges) in self.intervals.iter().enumerate() {
            for range in ranges.iter().filter(|range| range.load > 0) {
                let prefix = schema.read_prefix(&range.start);
                let Some((name, value)) = prefix.values().first() else { continue };
                field.get_or_insert_with(|| name.clone());
                let of_value = loads.entry(Quoted(value).to_string());
                of_value.or_insert_with(|| vec![0; self.intervals.len()])[interval] += range.load;
            }
        }
        let field = field?;
        let mut sums: Vec<(u64, &String)> =
            loads.iter().map(|(value, loads)| (loads.iter().sum(), value)).collect();
        sums.sort_unstable_by(|a, b| b.cmp(a));
        let share = |load: u64| load as f64 / total as f64;
        let few: u64 = sums.iter().take(FEW_VALUES).map(|(load, _)| load).sum();
        let (most, value) = *sums.first()?;
        // A value that is the only one is the whole table; the few are judged first.
        if share(most) < VALUE_SHARE || sums.len() <= FEW_VALUES {
            let count = sums.len().min(FEW_VALUES);
            let cause = LoadCause::FewValues { field, count };
            return (share(few) >= FEW_VALUES_SHARE).then_some((cause, share(few)));
        }
        let mut of_value = loads.get(value)?.clone();
        of_value.sort_unstable_by(|a, b| b.cmp(a));
        let quarter = of_value.len().div_ceil(4);
        let in_quarter: u64 = of_value.iter().take(quarter).sum();
        let is_burst = self.intervals.len() > 1 && in_quarter as f64 >= most as f64 * BURST_SHARE;
        Some((LoadCause::OneValue { field, value: value.clone(), is_burst }, share(most)))
    }
}

fn load(ranges: &[RangeLoad]) -> u64 {
    ranges.iter().map(|range| range.load).sum()
}

/// Returns the start of the range in which this load share is reached.
fn quantile(ranges: &[RangeLoad], share: f64) -> Bytes {
    let target = load(ranges) as f64 * share;
    let mut sum = 0;
    let reached = ranges.iter().find(|range| {
        sum += range.load;
        sum as f64 >= target
    });
    reached.or(ranges.last()).map(|range| range.start.clone()).unwrap_or_default()
}

/// Returns the first field whose values differ in two keys.
fn differing(schema: &KeySchema, a: &[u8], b: &[u8]) -> Option<String> {
    let a = schema.read_prefix(a);
    let b = schema.read_prefix(b);
    let differs = b.values().iter().find(|(name, value)| {
        !a.values().iter().any(|(other, same)| other == name && same == value)
    });
    let first = || schema.fields().first().map(|field| field.name().to_owned());
    differs.map(|(name, _)| name.clone()).or_else(first)
}

/// Returns a template that spreads the load, where changing the key does.
fn cure(cause: &LoadCause, schema: &KeySchema) -> Option<String> {
    let others = |hot: &str| -> Vec<&str> {
        schema.fields().iter().map(|field| field.name()).filter(|name| *name != hot).collect()
    };
    let spread_by = match cause {
        LoadCause::Growing { field: Some(field), .. } => {
            // A bucket by a field that does not grow keeps the field's rows together.
            others(field).first().copied().unwrap_or(field)
        }
        LoadCause::FewValues { field, .. } | LoadCause::OneValue { field, .. } => {
            *others(field).first()?
        }
        _ => return None,
    };
    let cured = format!("[bucket {BUCKETS} of {spread_by}]{schema}");
    KeySchema::parse(&cured).ok().map(|cured| cured.to_string())
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

impl fmt::Display for LoadVerdict {
    /// Writes the judgement in one or several sentences.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = percent(self.share);
        match &self.cause {
            LoadCause::TooLittle => {
                return write!(f, "There are fewer than {LOAD_MIN} requests: too few to judge.");
            }
            LoadCause::Even => write!(f, "The load is spread over the keys.")?,
            LoadCause::OneRow { row } => write!(
                f,
                "One row has {share} of the load: {}. No key spreads a row: divide it into several, \
                 or gather its changes before they are written.",
                escape(row)
            )?,
            LoadCause::Growing { field, is_falling } => {
                let place = if *is_falling { "before" } else { "after" };
                write!(f, "{share} of the load is at new keys, {place} those of the time before")?;
                match field {
                    Some(field) => write!(f, ": `{field}` grows.")?,
                    None => write!(f, ".")?,
                }
            }
            LoadCause::FewValues { field, count } => {
                write!(
                    f,
                    "{share} of the load is at {count} values of `{field}`, which comes first."
                )?;
            }
            LoadCause::OneValue { field, value, is_burst } => {
                let time = if *is_burst { ", in a short time" } else { "" };
                write!(f, "{share} of the load is at {field} = {value}{time}.")?;
            }
        }
        write!(f, " The busiest region has {} of the load.", percent(self.region_share))?;
        match &self.cure {
            Some(cure) => write!(
                f,
                " This key spreads it: {cure}; rowhouse simulate, or advise in the shell, says \
                 what it costs questions."
            ),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts each interval's keys in the ranges between the keys that occur, at most 64.
    fn profile(intervals: &[Vec<Bytes>]) -> LoadProfile {
        let ranges = |keys: &Vec<Bytes>| {
            let mut sorted = keys.clone();
            sorted.sort();
            let step = sorted.len().div_ceil(64).max(1);
            let starts = sorted.chunks(step);
            starts
                .map(|keys| RangeLoad { start: keys[0].clone(), load: keys.len() as u64 })
                .collect()
        };
        LoadProfile {
            intervals: intervals.iter().map(ranges).collect(),
            rows: Vec::new(),
            rows_total: 0,
            regions: vec![RowRange::new("", "m"), RowRange::new("m", "")],
        }
    }

    fn judge(template: &str, keys: impl Fn(&KeySchema, u64) -> Bytes) -> LoadVerdict {
        let schema = KeySchema::parse(template).unwrap();
        let interval =
            |minute: u64| (0..500).map(|nth| keys(&schema, minute * 500 + nth)).collect::<Vec<_>>();
        let intervals: Vec<_> = (0..6).map(interval).collect();
        profile(&intervals).judge(Some(&schema))
    }

    fn user(number: u64) -> String {
        format!("u{:03}", number.wrapping_mul(7919) % 997)
    }

    #[test]
    fn a_time_that_comes_first_grows_and_a_bucket_of_the_user_spreads_it() {
        let verdict = judge("[at millis][user string]", |schema, number| {
            let fields =
                [("at", (1_700_000_000_000 + number).into()), ("user", user(number).into())];
            schema.encode(&fields).unwrap()
        });
        let growing = LoadCause::Growing { field: Some("at".into()), is_falling: false };
        assert_eq!(verdict.cause, growing);
        assert!(verdict.share > 0.9, "{verdict}");
        assert_eq!(verdict.cure.as_deref(), Some("[bucket 16 of user][at millis][user string]"));
    }

    #[test]
    fn newest_first_falls() {
        let verdict = judge("[at millis desc][user string]", |schema, number| {
            let fields =
                [("at", (1_700_000_000_000 + number).into()), ("user", user(number).into())];
            schema.encode(&fields).unwrap()
        });
        let falling = LoadCause::Growing { field: Some("at".into()), is_falling: true };
        assert_eq!(verdict.cause, falling);
    }

    #[test]
    fn a_number_alone_is_spread_by_its_own_bucket() {
        let verdict = judge("foo[n digits 8]", |schema, number| {
            schema.encode(&[("n", number.into())]).unwrap()
        });
        assert!(matches!(verdict.cause, LoadCause::Growing { .. }), "{verdict}");
        assert_eq!(verdict.cure.as_deref(), Some("[bucket 16 of n]foo[n digits 8]"));
        let text = verdict.to_string();
        assert!(text.contains("at new keys, after those of the time before: `n` grows."), "{text}");
    }

    #[test]
    fn users_and_buckets_before_a_time_are_even() {
        let fields = |number: u64| {
            [("at", (1_700_000_000_000 + number).into()), ("user", user(number).into())]
        };
        for template in ["[user string][at millis]", "[bucket 16 of user][at millis][user string]"]
        {
            let verdict = judge(template, |schema, number| schema.encode(&fields(number)).unwrap());
            assert_eq!(verdict.cause, LoadCause::Even, "{template}: {verdict}");
            assert_eq!(verdict.cure, None);
        }
    }

    #[test]
    fn few_metrics_are_counted() {
        let verdict = judge("[metric string][at millis]", |schema, number| {
            let metric = ["cpu", "disk", "net"][number as usize % 3];
            let fields = [("metric", metric.into()), ("at", (1_700_000_000_000 + number).into())];
            schema.encode(&fields).unwrap()
        });
        let few = LoadCause::FewValues { field: "metric".into(), count: 3 };
        assert_eq!(verdict.cause, few);
        assert_eq!(verdict.cure.as_deref(), Some("[bucket 16 of at][metric string][at millis]"));
    }

    #[test]
    fn a_busy_user_is_named_and_a_burst_differs_from_a_steady_load() {
        let schema = KeySchema::parse("[user string][id u32]").unwrap();
        let key = |user: String, number: u64| {
            let id = number.wrapping_mul(2_654_435_761) % 1_000_000;
            schema.encode(&[("user", user.into()), ("id", id.into())]).unwrap()
        };
        let mixed = |interval: u64| (0..500).map(move |nth| interval * 500 + nth);
        let steady = |number: u64| match number % 5 {
            0 | 1 => key("bob".into(), number),
            _ => key(user(number), number),
        };
        let steady: Vec<Vec<_>> = (0..6).map(|it| mixed(it).map(steady).collect()).collect();
        let others = |it| mixed(it).map(|number| key(user(number), number)).collect();
        let mut burst: Vec<Vec<_>> = (0..5).map(others).collect();
        burst.insert(3, (0..1500).map(|number| key("bob".into(), number)).collect());
        for (intervals, is_burst) in [(steady, false), (burst, true)] {
            let verdict = profile(&intervals).judge(Some(&schema));
            let field = "user".into();
            let value = "'bob'".into();
            assert_eq!(verdict.cause, LoadCause::OneValue { field, value, is_burst }, "{verdict}");
            assert!((0.3..0.5).contains(&verdict.share), "{}", verdict.share);
            let cure = "[bucket 16 of id][user string][id u32]";
            assert_eq!(verdict.cure.as_deref(), Some(cure));
        }
    }

    #[test]
    fn one_row_is_named_first_and_little_load_is_not_judged() {
        let mut profile =
            profile(&[(0..2000u32).map(|n| n.to_be_bytes().to_vec().into()).collect()]);
        assert_eq!(profile.judge(None).cause, LoadCause::Even);
        profile.rows = vec![RowLoad { row: "hot".into(), load: 1500 }];
        profile.rows_total = 2000;
        let verdict = profile.judge(None);
        assert_eq!(verdict.cause, LoadCause::OneRow { row: "hot".into() });
        assert_eq!(verdict.share, 0.75);
        profile.intervals[0].truncate(10);
        assert_eq!(profile.judge(None).cause, LoadCause::TooLittle);
    }

    #[test]
    fn the_busiest_region_is_measured() {
        let keys = |first: u8| (0..1000u32).map(move |n| Bytes::from(vec![first, (n % 256) as u8]));
        let both = keys(b'a').chain(keys(b'b')).chain(keys(b'x')).chain(keys(b'c')).collect();
        let verdict = profile(&[both]).judge(None);
        assert!((0.74..0.76).contains(&verdict.region_share), "{}", verdict.region_share);
    }
}
