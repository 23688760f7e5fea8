//! Even loads whose regions are on several servers, evenly or not.

use rowhouse_schema::{LoadCause, LoadProfile, Placement};

use super::generator;
use super::load::{Draw, Label, LabelledLoad};
use super::recorded::profile_of;

/// Regions of a load that moves spread over servers well.
const REGIONS_MIN: usize = 4;

/// How verdicts on even loads follow the placement of the regions.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Loads over regions that are on the servers in turn.
    pub(super) even: u32,
    /// Causes that were named in these.
    pub(super) alarms: u32,
    /// The same loads with several regions, if one server has them all.
    pub(super) uneven: u32,
    /// Loads among them whose verdict names this server.
    pub(super) named: u32,
}

impl Counts {
    pub(super) fn of(seeds: std::ops::Range<u64>) -> Self {
        let mut counts = Self::default();
        for seed in seeds {
            let load = generator::even_of(seed);
            let mut draw = Draw::new(seed ^ 0x51ac_ed00);
            counts.add(&load, &mut draw);
        }
        counts
    }

    fn add(&mut self, load: &LabelledLoad, draw: &mut Draw) {
        assert_eq!(load.label, Label::Even);
        let regions = load.regions.len();
        let servers = draw.between(2, 8) as usize;
        let profile = profile_of(load);
        let cause = |place: &dyn Fn(usize) -> usize| {
            let addresses = (0..servers).map(address).collect();
            let regions = (0..regions).map(|region| Some(address(place(region))));
            let placement = Placement::new(addresses, regions);
            let placed = LoadProfile { placement, ..profile.clone() };
            placed.judge(load.schema().as_ref()).cause
        };
        let first = draw.below(servers as u64) as usize;
        self.even += 1;
        let even = cause(&|region| (first + region) % servers);
        self.alarms += u32::from(!matches!(even, LoadCause::Even | LoadCause::Unknown(_)));
        if regions < REGIONS_MIN {
            return;
        }
        self.uneven += 1;
        let uneven = cause(&|_| first);
        let named = LoadCause::Placement { server: address(first) };
        self.named += u32::from(uneven == named);
    }
}

fn address(server: usize) -> String {
    format!("server:{server}")
}
