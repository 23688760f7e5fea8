//! A rule with its counts, and the calls that it hits.

use std::time::Instant;

use rowhouse_model::{FaultEffect, FaultRule, FaultStatus};

use super::FaultableCall;

/// A rule, and how often it matched and hit.
pub(super) struct ActiveRule {
    status: FaultStatus,
    until: Option<Instant>,
}

impl ActiveRule {
    pub(super) fn new(id: u64, rule: FaultRule, now: Instant) -> Self {
        let until = rule.lifetime.map(|lifetime| now + lifetime);
        Self { status: FaultStatus { id, rule, calls: 0, hits: 0 }, until }
    }

    pub(super) fn id(&self) -> u64 {
        self.status.id
    }

    pub(super) fn status(&self) -> FaultStatus {
        self.status.clone()
    }

    /// Returns the effect on a call, if it is hit.
    pub(super) fn decide(&mut self, call: &FaultableCall, now: Instant) -> Option<FaultEffect> {
        let FaultStatus { rule, calls, hits, .. } = &mut self.status;
        let is_over = self.until.is_some_and(|until| now >= until)
            || rule.hits_max.is_some_and(|hits_max| *hits >= hits_max);
        if is_over || !matches(rule, call) {
            return None;
        }
        let number = *calls;
        *calls += 1;
        if !is_hit(rule, number) {
            return None;
        }
        *hits += 1;
        Some(rule.effect)
    }
}

/// Returns true if a rule is about a call. Without a table it is not about HBase's own tables, from
/// which clients read where regions are.
fn matches(rule: &FaultRule, call: &FaultableCall) -> bool {
    let is_table = match &rule.table {
        Some(table) => *table == call.table,
        None => !call.table.is_system(),
    };
    let needs_scanner = rule.effect == FaultEffect::LostScanner;
    is_table
        && rule.call.is_none_or(|kind| kind == call.kind)
        && rule.server.is_none_or(|server| server == call.server)
        && (!needs_scanner || call.continues_scan)
}

/// Returns true if the rule hits the call with this number among those that match, from 0: by the
/// rate, and the same for each run with the seed.
fn is_hit(rule: &FaultRule, number: u64) -> bool {
    let random = mixed(rule.seed.wrapping_add((number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    random % u64::from(FaultRule::ALWAYS) < u64::from(rule.rate_millionths)
}

/// Returns the output of SplitMix64 for a state.
fn mixed(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use rowhouse_model::{FaultCallKind, TableName};

    use super::*;

    fn call(kind: FaultCallKind, table: &str) -> FaultableCall {
        FaultableCall {
            kind,
            table: TableName::parse(table).unwrap(),
            server: 1,
            continues_scan: false,
        }
    }

    fn decisions(rule: &FaultRule, count: usize) -> Vec<bool> {
        let now = Instant::now();
        let mut active = ActiveRule::new(1, rule.clone(), now);
        let get = call(FaultCallKind::Get, "t");
        (0..count).map(|_| active.decide(&get, now).is_some()).collect()
    }

    proptest! {
        #[test]
        fn decisions_repeat_by_the_seed_and_follow_the_rate(seed: u64, rate in 0..=FaultRule::ALWAYS) {
            let rule = FaultRule {
                seed,
                rate_millionths: rate,
                ..FaultRule::new(FaultEffect::CutBefore)
            };
            let hits = decisions(&rule, 4000);
            prop_assert_eq!(&hits, &decisions(&rule, 4000));
            let share = hits.iter().filter(|hit| **hit).count() as f64 / 4000.0;
            // Six standard deviations.
            prop_assert!((share - f64::from(rate) / 1e6).abs() < 0.05, "share={}", share);
        }
    }

    #[test]
    fn the_ends_of_the_rate_are_exact() {
        let rule = FaultRule::new(FaultEffect::CutBefore);
        assert!(decisions(&rule, 1000).iter().all(|hit| *hit));
        let never = FaultRule { rate_millionths: 0, ..rule };
        assert!(!decisions(&never, 1000).iter().any(|hit| *hit));
    }

    #[test]
    fn a_rule_ends_by_hits_and_by_time() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let rule = FaultRule {
            hits_max: Some(2),
            lifetime: Some(second),
            ..FaultRule::new(FaultEffect::CutBefore)
        };
        assert_eq!(decisions(&rule, 4), [true, true, false, false]);
        let mut active = ActiveRule::new(1, rule, now);
        assert_eq!(active.decide(&call(FaultCallKind::Get, "t"), now + second), None);
        assert_eq!(active.status().calls, 0);
    }

    #[test]
    fn a_rule_is_about_its_table_kind_and_server() {
        let rule = FaultRule {
            table: Some(TableName::parse("t").unwrap()),
            call: Some(FaultCallKind::Mutate),
            server: Some(1),
            ..FaultRule::new(FaultEffect::CutBefore)
        };
        let put = call(FaultCallKind::Mutate, "t");
        assert!(matches(&rule, &put));
        assert!(!matches(&rule, &call(FaultCallKind::Get, "t")));
        assert!(!matches(&rule, &call(FaultCallKind::Mutate, "u")));
        assert!(!matches(&rule, &FaultableCall { server: 0, ..put.clone() }));

        let every = FaultRule::new(FaultEffect::CutBefore);
        assert!(matches(&every, &put));
        assert!(!matches(&every, &call(FaultCallKind::Scan, "hbase:meta")));
        let scanner = FaultRule::new(FaultEffect::LostScanner);
        assert!(!matches(&scanner, &put));
        assert!(matches(&scanner, &FaultableCall { continues_scan: true, ..put }));
    }
}
