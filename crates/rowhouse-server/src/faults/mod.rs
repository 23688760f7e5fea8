//! Faults on demand, for tests of clients: rules that decide which calls fail, and how.
//!
//! Decisions are pure: they depend on the rules, on the order of the calls and on the time that is
//! passed in. `connection/faulted.rs` carries them out.

mod active;

use std::collections::HashMap;
use std::time::Instant;

use parking_lot::Mutex;
use rowhouse_model::{
    Error, FaultCallKind, FaultEffect, FaultRule, FaultStatus, Result, TableName,
};

use self::active::ActiveRule;
use crate::limits::FAULT_RULES_MAX;

/// The rules of a server that was started with permission for them.
#[derive(Default)]
pub(crate) struct Faults {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last_id: u64,
    rules: Vec<ActiveRule>,
    /// The region servers that play dead.
    dead: HashMap<u32, Death>,
}

/// Until when a region server plays dead, and the rule by which it does.
struct Death {
    rule: u64,
    until: Instant,
}

/// A call, as far as rules look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FaultableCall {
    pub(crate) kind: FaultCallKind,
    pub(crate) table: TableName,
    /// The number of the region server that got it.
    pub(crate) server: u32,
    /// Whether it continues a scanner.
    pub(crate) continues_scan: bool,
}

impl Faults {
    /// Adds a rule.
    ///
    /// # Errors
    /// `InvalidRequest` if there are too many.
    pub(crate) fn add(&self, rule: FaultRule, now: Instant) -> Result<FaultStatus> {
        let mut state = self.state.lock();
        if state.rules.len() >= FAULT_RULES_MAX {
            return Err(Error::invalid(format!(
                "too many faults, remove some: faults={}, max={FAULT_RULES_MAX}",
                state.rules.len() + 1
            )));
        }
        state.last_id += 1;
        let active = ActiveRule::new(state.last_id, rule, now);
        let status = active.status();
        state.rules.push(active);
        Ok(status)
    }

    /// Returns true if no call can be hit: without rules no region server plays dead.
    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().rules.is_empty()
    }

    /// Returns all rules, also those without further effect.
    pub(crate) fn list(&self) -> Vec<FaultStatus> {
        self.state.lock().rules.iter().map(ActiveRule::status).collect()
    }

    /// Removes a rule, or all rules without a number; returns them. Region servers that play dead
    /// by them live again.
    ///
    /// # Errors
    /// `InvalidRequest` for a number without a rule.
    pub(crate) fn remove(&self, id: Option<u64>) -> Result<Vec<FaultStatus>> {
        let mut state = self.state.lock();
        let is_removed = |status: &FaultStatus| id.is_none_or(|id| id == status.id);
        let statuses = state.rules.iter().map(ActiveRule::status);
        let removed: Vec<_> = statuses.filter(is_removed).collect();
        if let Some(id) = id
            && removed.is_empty()
        {
            return Err(Error::invalid(format!("there is no such fault: id={id}")));
        }
        state.rules.retain(|rule| !is_removed(&rule.status()));
        state.dead.retain(|_, death| removed.iter().all(|status| status.id != death.rule));
        Ok(removed)
    }

    /// Returns true if a region server plays dead.
    pub(crate) fn is_dead(&self, server: u32, now: Instant) -> bool {
        self.state.lock().dead.get(&server).is_some_and(|death| now < death.until)
    }

    /// Returns what happens to a call: the effect of the first rule that hits it. Later rules do
    /// not see the call.
    pub(crate) fn decide(&self, call: &FaultableCall, now: Instant) -> Option<FaultEffect> {
        let mut state = self.state.lock();
        let hit = |rule: &mut ActiveRule| Some((rule.id(), rule.decide(call, now)?));
        let (rule, effect) = state.rules.iter_mut().find_map(hit)?;
        if let FaultEffect::DeadServer(time) = effect {
            state.dead.insert(call.server, Death { rule, until: now + time });
        }
        Some(effect)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn put(table: &str) -> FaultableCall {
        let table = TableName::parse(table).unwrap();
        FaultableCall { kind: FaultCallKind::Mutate, table, server: 0, continues_scan: false }
    }

    #[test]
    fn the_first_rule_that_hits_decides_and_later_ones_do_not_count() {
        let now = Instant::now();
        let faults = Faults::default();
        let first = FaultRule { hits_max: Some(1), ..FaultRule::new(FaultEffect::CutAfter) };
        faults.add(first, now).unwrap();
        faults.add(FaultRule::new(FaultEffect::RegionTooBusy), now).unwrap();
        assert_eq!(faults.decide(&put("t"), now), Some(FaultEffect::CutAfter));
        assert_eq!(faults.decide(&put("t"), now), Some(FaultEffect::RegionTooBusy));
        let counts: Vec<_> = faults.list().iter().map(|it| (it.calls, it.hits)).collect();
        assert_eq!(counts, [(1, 1), (1, 1)]);
        assert_eq!(faults.remove(Some(2)).unwrap()[0].hits, 1);
        assert!(faults.remove(Some(2)).is_err());
        assert_eq!(faults.decide(&put("t"), now), None);
    }

    #[test]
    fn a_dead_server_lives_after_its_time_or_without_its_rule() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let rule =
            || FaultRule { hits_max: Some(1), ..FaultRule::new(FaultEffect::DeadServer(second)) };
        let faults = Faults::default();
        faults.add(rule(), now).unwrap();
        faults.add(FaultRule::new(FaultEffect::CutAfter), now).unwrap();
        assert!(faults.decide(&put("t"), now).is_some());
        assert!(faults.is_dead(0, now + second / 2) && !faults.is_dead(1, now));
        assert!(!faults.is_dead(0, now + second));
        // Another rule's removal leaves it dead.
        faults.remove(Some(2)).unwrap();
        assert!(faults.is_dead(0, now));
        faults.remove(Some(1)).unwrap();
        assert!(!faults.is_dead(0, now) && faults.is_empty());
    }

    #[test]
    fn rules_are_bounded() {
        let faults = Faults::default();
        let now = Instant::now();
        let rule = FaultRule::new(FaultEffect::CutAfter);
        for _ in 0..FAULT_RULES_MAX {
            faults.add(rule.clone(), now).unwrap();
        }
        let refused = faults.add(rule, now).unwrap_err();
        assert_eq!(refused.message(), "too many faults, remove some: faults=65, max=64");
    }
}
