//! Faults that a server makes on request, for tests of its clients.

use std::fmt;
use std::time::Duration;

use crate::{Error, Result, TableName};

/// A rule by which a server makes calls of clients fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRule {
    /// The table of the calls; `None` for all tables but HBase's own.
    pub table: Option<TableName>,
    /// The kind of the calls; `None` for all kinds.
    pub call: Option<FaultCallKind>,
    /// The number of the region server that gets the calls; `None` for all.
    pub server: Option<u32>,
    /// What happens to a call that is hit.
    pub effect: FaultEffect,
    /// The probability of a hit, in millionths.
    pub rate_millionths: u32,
    /// Decides, with the number of the call among those that match, which calls are hit.
    pub seed: u64,
    /// The most hits, after which the rule has no effect; `None` for no limit.
    pub hits_max: Option<u64>,
    /// The time after which the rule has no effect; `None` for no limit.
    pub lifetime: Option<Duration>,
}

impl FaultRule {
    /// The rate of a rule that hits each call that matches.
    pub const ALWAYS: u32 = 1_000_000;
    /// The longest time of an effect and of a rule.
    pub const TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);

    /// Creates a rule that hits every call.
    pub fn new(effect: FaultEffect) -> Self {
        Self {
            table: None,
            call: None,
            server: None,
            effect,
            rate_millionths: Self::ALWAYS,
            seed: 0,
            hits_max: None,
            lifetime: None,
        }
    }

    /// Checks the rate and the times, and that the rule can hit a call.
    ///
    /// # Errors
    /// `InvalidRequest` with the value and the limit.
    pub fn check(&self) -> Result<()> {
        if self.rate_millionths > Self::ALWAYS {
            let rate = self.rate_millionths;
            let message = format!("a rate is a probability: millionths={rate}, max=1000000");
            return Err(Error::invalid(message));
        }
        if self.rate_millionths == 0 {
            let message = "a fault with this rate never hits: millionths=0, min=1, max=1000000";
            return Err(Error::invalid(message));
        }
        if self.hits_max == Some(0) {
            return Err(Error::invalid("a fault without hits has no effect: hits=0, min=1"));
        }
        let scans = FaultCallKind::Scan;
        if let Some(call) = self.call.filter(|call| *call != scans)
            && self.effect == FaultEffect::LostScanner
        {
            return Err(Error::invalid(format!("LostScanner hits {scans} alone: call={call}")));
        }
        let times = [self.effect.time(), self.lifetime];
        match times.into_iter().flatten().max().filter(|time| *time > Self::TIME_MAX) {
            Some(time) => Err(Error::invalid(format!(
                "the time of a fault is too long: millis={}, max={}",
                time.as_millis(),
                Self::TIME_MAX.as_millis()
            ))),
            None => Ok(()),
        }
    }
}

/// The kinds of calls that can be hit, named as HBase's RPCs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultCallKind {
    /// A get of one row.
    Get,
    /// A put, delete, append or increment of one row.
    Mutate,
    /// Opens, continues or closes a scanner.
    Scan,
    /// A batch.
    Multi,
}

impl FaultCallKind {
    const NAMES: [(Self, &str); 4] = [
        (Self::Get, "Get"),
        (Self::Mutate, "Mutate"),
        (Self::Scan, "Scan"),
        (Self::Multi, "Multi"),
    ];

    /// Returns the kind with this name.
    ///
    /// # Errors
    /// `InvalidRequest` for another name, with those that there are.
    pub fn parse(name: &str) -> Result<Self> {
        let named = Self::NAMES.iter().find(|(_, known)| *known == name);
        named.map(|(kind, _)| *kind).ok_or_else(|| unknown("call", name, &Self::NAMES))
    }
}

impl fmt::Display for FaultCallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(*self, &Self::NAMES))
    }
}

/// What happens to a call that is hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultEffect {
    /// It is not done; the answer is HBase's RegionTooBusyException.
    RegionTooBusy,
    /// It is not done; the answer is HBase's CallQueueTooBigException.
    CallQueueTooBig,
    /// It is not done; the answer is HBase's NotServingRegionException.
    NotServingRegion,
    /// It is not done; the answer is HBase's RegionMovedException, to the same server.
    RegionMoved,
    /// It is done after this time.
    Delay(Duration),
    /// It is not done, and the connection is cut.
    CutBefore,
    /// It is done, and then the connection is cut instead of an answer.
    CutAfter,
    /// It is done, and there is no answer.
    LostAnswer,
    /// It continues a scanner, which is closed before. Other calls are not hit.
    LostScanner,
    /// It is not done, and for this time the region server that got it cuts the connection of each
    /// call to it. Its regions stay.
    DeadServer(Duration),
}

/// The name of an effect, without the time.
type EffectName = &'static str;

impl FaultEffect {
    const DELAY: EffectName = "Delay";
    const DEAD_SERVER: EffectName = "DeadServer";
    /// The effects without a time.
    const NAMES: [(Self, EffectName); 8] = [
        (Self::RegionTooBusy, "RegionTooBusy"),
        (Self::CallQueueTooBig, "CallQueueTooBig"),
        (Self::NotServingRegion, "NotServingRegion"),
        (Self::RegionMoved, "RegionMoved"),
        (Self::CutBefore, "CutBefore"),
        (Self::CutAfter, "CutAfter"),
        (Self::LostAnswer, "LostAnswer"),
        (Self::LostScanner, "LostScanner"),
    ];

    /// Returns the effect with this name. `Delay` and `DeadServer` have a time.
    ///
    /// # Errors
    /// `InvalidRequest` for another name, with those that there are, and for a time that is missing
    /// or has no meaning.
    pub fn parse(name: &str, time: Option<Duration>) -> Result<Self> {
        let timed: Option<fn(Duration) -> Self> = match name {
            Self::DELAY => Some(Self::Delay),
            Self::DEAD_SERVER => Some(Self::DeadServer),
            _ => None,
        };
        match (timed, time) {
            (Some(timed), Some(time)) => Ok(timed(time)),
            (Some(_), None) => Err(Error::invalid(format!("{name} needs milliseconds"))),
            (None, time) => {
                let named = Self::NAMES.iter().find(|(_, known)| *known == name);
                let (effect, _) = named.ok_or_else(|| unknown("answer", name, &Self::NAMES))?;
                match time {
                    None => Ok(*effect),
                    Some(_) => Err(Error::invalid(format!("{name} has no milliseconds"))),
                }
            }
        }
    }

    /// Returns the effect's name, without the time.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delay(_) => Self::DELAY,
            Self::DeadServer(_) => Self::DEAD_SERVER,
            _ => name_of(self, &Self::NAMES),
        }
    }

    /// Returns the effect's time, if it has one.
    pub fn time(self) -> Option<Duration> {
        match self {
            Self::Delay(time) | Self::DeadServer(time) => Some(time),
            _ => None,
        }
    }
}

/// A rule in a server, with its counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultStatus {
    /// The rule's number, from 1.
    pub id: u64,
    /// The rule.
    pub rule: FaultRule,
    /// How many calls matched while it had effect.
    pub calls: u64,
    /// How many of them were hit.
    pub hits: u64,
}

fn name_of<T: PartialEq>(value: T, names: &[(T, &'static str)]) -> &'static str {
    names.iter().find(|(known, _)| *known == value).map(|(_, name)| *name).unwrap_or_default()
}

fn unknown<T>(what: &str, name: &str, names: &[(T, &'static str)]) -> Error {
    let mut known: Vec<_> = names.iter().map(|(_, name)| *name).collect();
    if what == "answer" {
        known.extend([FaultEffect::DELAY, FaultEffect::DEAD_SERVER]);
    }
    Error::invalid(format!("a fault's {what} is one of {}: {what}={name}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_have_a_time_exactly_if_they_last() {
        let second = Duration::from_secs(1);
        for (effect, name) in FaultEffect::NAMES {
            assert_eq!(FaultEffect::parse(name, None).unwrap(), effect);
            assert_eq!(effect.name(), name);
            assert!(FaultEffect::parse(name, Some(second)).is_err());
        }
        for effect in [FaultEffect::Delay(second), FaultEffect::DeadServer(second)] {
            assert_eq!(FaultEffect::parse(effect.name(), effect.time()).unwrap(), effect);
            assert!(FaultEffect::parse(effect.name(), None).is_err());
        }
        let error = FaultEffect::parse("Busy", None).unwrap_err();
        assert!(error.message().ends_with("Delay, DeadServer: answer=Busy"), "{error}");
    }

    #[test]
    fn rates_and_times_are_bounded() {
        let rule = FaultRule::new(FaultEffect::Delay(FaultRule::TIME_MAX));
        rule.check().unwrap();
        let long = FaultRule::TIME_MAX + Duration::from_millis(1);
        assert!(FaultRule { lifetime: Some(long), ..rule.clone() }.check().is_err());
        assert!(
            FaultRule { effect: FaultEffect::DeadServer(long), ..rule.clone() }.check().is_err()
        );
        assert!(FaultRule { rate_millionths: 1_000_001, ..rule }.check().is_err());
    }

    #[test]
    fn rules_that_never_hit_are_refused() {
        let refused = |rule: FaultRule| rule.check().unwrap_err().message().to_owned();
        let rule = FaultRule::new(FaultEffect::LostScanner);
        rule.check().unwrap();
        FaultRule { call: Some(FaultCallKind::Scan), ..rule.clone() }.check().unwrap();
        let never = refused(FaultRule { rate_millionths: 0, ..rule.clone() });
        assert!(never.contains("millionths=0"), "{never}");
        let without_hits = refused(FaultRule { hits_max: Some(0), ..rule.clone() });
        assert!(without_hits.contains("hits=0"), "{without_hits}");
        let of_gets = refused(FaultRule { call: Some(FaultCallKind::Get), ..rule });
        assert_eq!(of_gets, "LostScanner hits Scan alone: call=Get");
    }
}
