//! Columns in one family that are never read together.

use std::collections::BTreeMap;
use std::fmt;

use rowhouse_model::{Bytes, HeatReport, HotColumns, escape};

/// A family with fewer reads gets no judgement.
const READS_MIN: u64 = 1_000;
/// The share of whole-family reads above which a family's columns belong together.
const WHOLE_SHARE_MAX: f64 = 0.05;
/// Sets with a smaller share of a family's reads join no columns.
const SET_SHARE_MIN: f64 = 0.01;
/// Each group has at least this share of a family's reads.
const GROUP_SHARE_MIN: f64 = 0.1;

/// A family whose column groups are read apart from each other: in separate families, a read for
/// one group would skip the other groups' files.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ColumnGroups {
    /// The family.
    pub family: Bytes,
    /// The groups, those with the most reads first.
    pub groups: Vec<ColumnGroup>,
}

/// Columns that are read together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ColumnGroup {
    /// The qualifiers, sorted.
    pub qualifiers: Vec<Bytes>,
    /// The share, between 0 and 1, in the family's reads; the least one if reads are overestimated.
    pub share: f64,
}

impl ColumnGroups {
    /// Returns the families whose column groups are never read together, judged by the reads in the
    /// last minutes. A family with fewer than 1,000 reads is not judged. A judgement holds for all
    /// read counts between the reported ones and the reported ones less their overestimates.
    ///
    /// ```
    /// use rowhouse_model::{HeatReport, HotColumns};
    /// use rowhouse_schema::ColumnGroups;
    ///
    /// let read = |qualifiers: &[&'static str], reads| HotColumns {
    ///     family: "d".into(),
    ///     qualifiers: qualifiers.iter().map(|it| (*it).into()).collect(),
    ///     reads,
    ///     overestimate: 0,
    /// };
    /// let column_sets = vec![read(&["subject", "sender"], 3_000), read(&["body"], 1_000)];
    /// let report = HeatReport { column_sets, ..HeatReport::default() };
    /// assert_eq!(
    ///     ColumnGroups::of_heat(&report)[0].to_string(),
    ///     "Columns of family d are never read together: sender, subject (75 % of its reads); \
    ///      body (25 %). In families of their own a read of one group skips the files of the \
    ///      others."
    /// );
    /// ```
    pub fn of_heat(report: &HeatReport) -> Vec<Self> {
        let mut families = BTreeMap::<&Bytes, Vec<&HotColumns>>::new();
        let of_all = report.column_sets.iter().filter(|set| set.family.is_empty());
        let of_all = Reads::sum(of_all);
        for set in report.column_sets.iter().filter(|set| !set.family.is_empty()) {
            families.entry(&set.family).or_default().push(set);
        }
        families.into_iter().filter_map(|(family, sets)| Self::of(family, &sets, of_all)).collect()
    }

    fn of(family: &Bytes, sets: &[&HotColumns], of_all: Reads) -> Option<Self> {
        let own = Reads::sum(sets.iter().copied());
        let total = Reads { least: of_all.least + own.least, most: of_all.most + own.most };
        if total.least < READS_MIN {
            return None;
        }
        // What speaks against groups counts at its most, what speaks for them at its least.
        let share_most = |reads: u64| reads as f64 / total.least as f64;
        let share_least = |reads: u64| reads as f64 / total.most as f64;
        let whole = sets.iter().filter(|set| set.qualifiers.is_empty()).copied();
        if share_most(of_all.most + Reads::sum(whole).most) > WHOLE_SHARE_MAX {
            return None;
        }
        let mut groups: Vec<ColumnGroup> = Vec::new();
        let named = sets.iter().filter(|set| !set.qualifiers.is_empty());
        for set in named.filter(|set| share_most(set.reads) >= SET_SHARE_MIN) {
            let is_joined = |group: &mut ColumnGroup| {
                set.qualifiers.iter().any(|it| group.qualifiers.contains(it))
            };
            let mut joined = ColumnGroup {
                qualifiers: set.qualifiers.clone(),
                share: share_least(Reads::of(set).least),
            };
            for group in groups.extract_if(.., is_joined) {
                joined.qualifiers.extend(group.qualifiers);
                joined.share += group.share;
            }
            joined.qualifiers.sort();
            joined.qualifiers.dedup();
            groups.push(joined);
        }
        groups.retain(|group| group.share >= GROUP_SHARE_MIN);
        groups.sort_by(|a, b| b.share.total_cmp(&a.share));
        (groups.len() > 1).then(|| Self { family: family.clone(), groups })
    }
}

/// The bounds for a read count.
#[derive(Clone, Copy)]
struct Reads {
    least: u64,
    most: u64,
}

impl Reads {
    fn of(set: &HotColumns) -> Self {
        Self { least: set.reads.saturating_sub(set.overestimate), most: set.reads }
    }

    fn sum<'s>(sets: impl Iterator<Item = &'s HotColumns>) -> Self {
        sets.map(Self::of).fold(Self { least: 0, most: 0 }, |sum, reads| Self {
            least: sum.least + reads.least,
            most: sum.most + reads.most,
        })
    }
}

impl fmt::Display for ColumnGroups {
    /// Writes the judgement in one or two sentences.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Columns of family {} are never read together: ", escape(&self.family))?;
        for (nth, group) in self.groups.iter().enumerate() {
            let names: Vec<_> = group.qualifiers.iter().map(|name| escape(name)).collect();
            let share = format!("{:.0} %", group.share * 100.0);
            let of_what = if nth == 0 { " of its reads" } else { "" };
            write!(
                f,
                "{}{} ({share}{of_what})",
                if nth == 0 { "" } else { "; " },
                names.join(", ")
            )?;
        }
        f.write_str(". In families of their own a read of one group skips the files of the others.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A family, qualifiers, reads.
    type Set = (&'static str, &'static [&'static str], u64);

    fn judge(sets: &[Set]) -> Vec<String> {
        let sets: Vec<_> = sets.iter().map(|set| (*set, 0)).collect();
        judge_overestimated(&sets)
    }

    /// Judges sets with overestimates.
    fn judge_overestimated(sets: &[(Set, u64)]) -> Vec<String> {
        let set = |((family, qualifiers, reads), overestimate): &(Set, u64)| HotColumns {
            family: Bytes::from_static(family.as_bytes()),
            qualifiers: qualifiers.iter().map(|it| Bytes::from_static(it.as_bytes())).collect(),
            reads: *reads,
            overestimate: *overestimate,
        };
        let column_sets = sets.iter().map(set).collect();
        let report = HeatReport { column_sets, ..HeatReport::default() };
        let groups = ColumnGroups::of_heat(&report);
        let text = |group: &ColumnGroup| {
            group.qualifiers.iter().map(|it| escape(it)).collect::<Vec<_>>().join("+")
        };
        let of_family = |it: &ColumnGroups| {
            format!(
                "{}: {}",
                escape(&it.family),
                it.groups.iter().map(text).collect::<Vec<_>>().join(" | ")
            )
        };
        groups.iter().map(of_family).collect()
    }

    #[test]
    fn a_column_that_is_read_with_two_others_joins_them() {
        let sets: &[(_, &[_], _)] = &[
            ("d", &["a", "b"], 900),
            ("d", &["c"], 500),
            ("d", &["b", "x"], 300),
            ("d", &["x", "y"], 100),
        ];
        assert_eq!(judge(sets), ["d: a+b+x+y | c"]);
        let joined: &[(_, &[_], _)] =
            &[("d", &["a"], 900), ("d", &["c"], 500), ("d", &["a", "c"], 100)];
        assert_eq!(judge(joined), [""; 0]);
    }

    #[test]
    fn reads_of_the_whole_family_or_of_all_keep_columns_together() {
        let apart: [(_, &[&str], _); 2] = [("d", &["a"], 900), ("d", &["b"], 900)];
        assert_eq!(judge(&apart), ["d: a | b"]);
        let [a, b] = apart;
        assert_eq!(judge(&[a, b, ("d", &[], 200)]), [""; 0]);
        assert_eq!(judge(&[a, b, ("", &[], 200)]), [""; 0]);
        assert_eq!(judge(&[a, b, ("e", &[], 200)]), ["d: a | b"], "another family");
    }

    #[test]
    fn few_reads_and_rare_columns_are_not_judged() {
        assert_eq!(judge(&[("d", &["a"], 400), ("d", &["b"], 400)]), [""; 0]);
        assert_eq!(judge(&[("d", &["a"], 4_000), ("d", &["b"], 100)]), [""; 0]);
    }

    #[test]
    fn a_judgement_holds_at_every_number_of_reads_between_the_bounds() {
        let a: Set = ("d", &["a"], 9_000);
        let b: Set = ("d", &["b"], 1_500);
        assert_eq!(judge(&[a, b]), ["d: a | b"]);
        assert_eq!(judge_overestimated(&[(a, 0), (b, 300)]), ["d: a | b"]);
        assert_eq!(judge_overestimated(&[(a, 0), (b, 600)]), [""; 0], "b may be below a tenth");
        let few: [(Set, u64); 2] = [(("d", &["a"], 600), 100), (("d", &["b"], 600), 200)];
        assert_eq!(judge_overestimated(&few), [""; 0], "there may be only 900 reads");
        let both: Set = ("d", &["a", "b"], 150);
        assert_eq!(
            judge_overestimated(&[(a, 0), (b, 0), (both, 150)]),
            [""; 0],
            "they may be together"
        );
        let whole: Set = ("d", &[], 400);
        assert_eq!(judge_overestimated(&[(a, 0), (b, 0), (whole, 0)]), ["d: a | b"]);
        assert_eq!(judge_overestimated(&[(a, 4_000), (b, 0), (whole, 0)]), [""; 0]);
    }
}
