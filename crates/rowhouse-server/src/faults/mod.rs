//! Faults on demand, for tests of clients: rules that decide which calls fail, and how.
//!
//! Decisions are pure: they depend on the rules, on the order of the calls and on the time that is
//! passed in. `connection/faulted.rs` carries them out.

mod active;

use std::collections::HashMap;
use std::time::Instant;

use parking_lot::Mutex;
use rowhouse_model::{
    Error, ErrorKind, FaultCallKind, FaultEffect, FaultRule, FaultStatus, Result, TableName,
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
    /// The region servers that play dead, and until when.
    dead: HashMap<u32, Instant>,
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
    /// `RegionTooBusy` if there are too many.
    pub(crate) fn add(&self, rule: FaultRule, now: Instant) -> Result<FaultStatus> {
        let mut state = self.state.lock();
        if state.rules.len() >= FAULT_RULES_MAX {
            let message = format!("too many faults; remove some: max={FAULT_RULES_MAX}");
            return Err(Error::new(ErrorKind::RegionTooBusy, message));
        }
        state.last_id += 1;
        let active = ActiveRule::new(state.last_id, rule, now);
        let status = active.status();
        state.rules.push(active);
        Ok(status)
    }

    /// Returns all rules, also those without further effect.
    pub(crate) fn list(&self) -> Vec<FaultStatus> {
        self.state.lock().rules.iter().map(ActiveRule::status).collect()
    }

    /// Removes a rule, or all rules without a number; returns them. Servers that play dead live
    /// when no rule is left.
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
        if state.rules.is_empty() {
            state.dead.clear();
        }
        Ok(removed)
    }

    /// Returns true if a region server plays dead.
    pub(crate) fn is_dead(&self, server: u32, now: Instant) -> bool {
        self.state.lock().dead.get(&server).is_some_and(|until| now < *until)
    }

    /// Returns what happens to a call: the effect of the first rule that hits it. Later rules do
    /// not see the call.
    pub(crate) fn decide(&self, call: &FaultableCall, now: Instant) -> Option<FaultEffect> {
        let mut state = self.state.lock();
        let effect = state.rules.iter_mut().find_map(|rule| rule.decide(call, now))?;
        if let FaultEffect::DeadServer(time) = effect {
            state.dead.insert(call.server, now + time);
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
    fn a_dead_server_lives_after_its_time_or_without_rules() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        let rule =
            || FaultRule { hits_max: Some(1), ..FaultRule::new(FaultEffect::DeadServer(second)) };
        let faults = Faults::default();
        faults.add(rule(), now).unwrap();
        assert!(faults.decide(&put("t"), now).is_some());
        assert!(faults.is_dead(0, now + second / 2) && !faults.is_dead(1, now));
        assert!(!faults.is_dead(0, now + second));
        faults.remove(None).unwrap();
        assert!(!faults.is_dead(0, now));
    }

    #[test]
    fn rules_are_bounded() {
        let faults = Faults::default();
        let now = Instant::now();
        let rule = FaultRule::new(FaultEffect::CutAfter);
        for _ in 0..FAULT_RULES_MAX {
            faults.add(rule.clone(), now).unwrap();
        }
        assert_eq!(faults.add(rule, now).unwrap_err().kind(), ErrorKind::RegionTooBusy);
    }
}
