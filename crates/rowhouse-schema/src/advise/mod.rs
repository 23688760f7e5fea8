//! Advice on a template: surprises, costs and failures to expect, reported before there are rows.

mod column_groups;
mod heat_map;
mod load;
mod rules;
mod sample;
mod table;

use std::fmt;

use crate::key::KeySchema;

pub use column_groups::{ColumnGroup, ColumnGroups};
pub use heat_map::{HeatMap, HeatMapColumn, HottestRange};
pub use load::{
    BusiestServer, HotPrefix, LoadCause, LoadKind, LoadProfile, LoadVerdict, MissingEvidence,
    Placement, Remedy, RemedyKind, RowLoad,
};
pub use table::{FamilySize, check_table};

/// A finding's kind. Numbers never change, so that they can be quoted and searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// K1: the key begins with a time, so all writes go to one region.
    LeadingTime,
    /// K2: the key begins with a number; if that counts up, all writes go to one region.
    LeadingSequence,
    /// K3: keys are not in a field's value order.
    OrderNotOfValues,
    /// K4: a value with variable width ends by length only.
    NoDelimiter,
    /// K5: the key has a random salt, so a read by fields needs one get for each salt.
    RandomSalt,
    /// K6: the key is longer than the values need.
    LongKey,
    /// K7: the key begins with few different values.
    FewLeadingValues,
    /// K8: two events with the same time become one row.
    NotUnique,
    /// K9: too few buckets to spread writes, or so many that each scan reads too many ranges.
    BucketCount,
    /// K10: a bucket or hash is computed from a value for which keys hold only the step.
    StepOperand,
    /// K11: the key begins with hosts in few domains.
    FewLeadingDomains,
    /// T1: the table has many families.
    ManyFamilies,
    /// T2: family and qualifier names take a large share of the table.
    LongNames,
    /// T3: row keys are long.
    LongRows,
}

/// Each rule's name and reason, in [`Rule`] order.
const RULES: &[(Rule, &str, &str)] = &[
    (Rule::LeadingTime, "leading time", "all writes of a moment go to one region"),
    (Rule::LeadingSequence, "leading sequence", "new rows of a rising number go to one region"),
    (
        Rule::OrderNotOfValues,
        "keys do not sort as their values",
        "ranges and pages have an unexpected order",
    ),
    (Rule::NoDelimiter, "no delimiter", "a scan of one value meets keys of longer values"),
    (
        Rule::RandomSalt,
        "random salt",
        "a get reads once for each salt, and two writes may create two rows",
    ),
    (Rule::LongKey, "long key", "a key is stored with every cell of its row"),
    (
        Rule::FewLeadingValues,
        "few leading values",
        "if what follows a value grows, its new rows go to one region",
    ),
    (
        Rule::NotUnique,
        "keys are not unique",
        "the second of two events is a new version of the first",
    ),
    (
        Rule::BucketCount,
        "number of buckets",
        "one bucket spreads nothing, and every scan reads all of them",
    ),
    (
        Rule::StepOperand,
        "computed from values that keys do not hold",
        "decoded values do not encode to the same key",
    ),
    (
        Rule::FewLeadingDomains,
        "few leading domains",
        "the hosts of one domain are adjacent, in one region",
    ),
    (Rule::ManyFamilies, "many families", "every family has a memstore and files in every region"),
    (Rule::LongNames, "long names", "family and qualifier are stored with every cell"),
    (Rule::LongRows, "long row keys", "the row key is stored with every cell"),
];

/// Measurements that support rules: see `compat/claims/README.md`, which has the method.
const MEASURED: &[(Rule, &str)] = &[
    (
        Rule::LeadingTime,
        "four salts before it write 4.0 times as much on Apache HBase, 3.8 here, if each server \
         has a limit (claim 1)",
    ),
    (
        Rule::LeadingSequence,
        "four salts before it write 4.0 times as much on Apache HBase, 3.8 here, if each server \
         has a limit (claim 1)",
    ),
    (
        Rule::RandomSalt,
        "a get without its salt takes 1.6 to 2.6 times the CPU time with four salts (claim 2)",
    ),
    (
        Rule::LongKey,
        "a number as 13 digits takes 5 bytes more in each cell than as 8 bytes (claim 16)",
    ),
    (
        Rule::FewLeadingValues,
        "three values before a number that grows: new rows in 3 of 16 regions (claim 21)",
    ),
    (
        Rule::ManyFamilies,
        "ten families have ten times the files of one, and a row takes 1.5 times the CPU time \
         (claim 6)",
    ),
    (
        Rule::LongNames,
        "names of 39 bytes, not of 2: 80 % more bytes without compression, 8 % with GZ (claim 14)",
    ),
    (Rule::LongRows, "keys of 100 bytes, not of 16: 84 bytes more in each cell (claim 4)"),
];

impl Rule {
    /// Returns the number: `K1` for a rule about keys, `T1` for one about tables.
    pub fn code(self) -> String {
        let at = self as usize;
        let first_of_tables = Self::ManyFamilies as usize;
        match at.checked_sub(first_of_tables) {
            None => format!("K{}", at + 1),
            Some(at) => format!("T{}", at + 1),
        }
    }

    /// Returns the name, in a few words.
    pub fn name(self) -> &'static str {
        RULES[self as usize].1
    }

    /// Returns the reason for the rule.
    pub fn reason(self) -> &'static str {
        RULES[self as usize].2
    }

    /// Returns a measurement that supports the rule, if there is one; `compat/claims/README.md`
    /// has the method.
    pub fn measured(self) -> Option<&'static str> {
        MEASURED.iter().find(|(rule, _)| *rule == self).map(|(_, measured)| *measured)
    }

    /// Returns all rules, in number order.
    pub fn all() -> impl Iterator<Item = Self> {
        RULES.iter().map(|(rule, ..)| *rule)
    }
}

/// Advice to consider before a template is used.
///
/// ```
/// use rowhouse_schema::{KeySchema, Rule};
///
/// let schema = KeySchema::parse("[at millis digits 13]#[metric text]")?;
/// let findings = schema.check();
/// assert_eq!(findings[0].rule, Rule::LeadingTime);
/// assert_eq!(
///     findings[0].to_string(),
///     "K1 leading time: `at` comes first, so the rows of each moment go to one region: \
///      put another field or a bucket before it"
/// );
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// What was found, and a remedy.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.rule.code(), self.rule.name(), self.message)
    }
}

impl KeySchema {
    /// Checks the template alone; returns the findings in rule order.
    pub fn check(&self) -> Vec<Finding> {
        self.check_with::<&[u8]>(&[])
    }

    /// As [`KeySchema::check`], with keys taken at random from the whole table, which show how many
    /// different values keys begin with.
    pub fn check_with<K: AsRef<[u8]>>(&self, sample: &[K]) -> Vec<Finding> {
        let mut findings = rules::findings(self);
        findings.extend(self.check_sample(sample));
        findings.sort_by_key(|finding| finding.rule);
        findings
    }

    /// Checks sampled keys of the table for rules that the template alone cannot decide. Fewer than
    /// 100 keys that fit the template yield no finding.
    pub fn check_sample<K: AsRef<[u8]>>(&self, sample: &[K]) -> Option<Finding> {
        sample::few_leading_values(self, sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_rules() {
        for (nth, rule) in Rule::all().enumerate() {
            assert_eq!(rule as usize, nth);
        }
        assert_eq!(Rule::BucketCount.code(), "K9");
        assert_eq!(Rule::FewLeadingDomains.code(), "K11");
        assert_eq!(Rule::LongRows.code(), "T3");
    }
}
