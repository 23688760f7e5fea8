//! Plans region moves: a pure function of the servers, the regions and their load.

/// A region, as far as the balancer looks at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// The table: regions in one table have the same number.
    pub(super) table: usize,
    /// The server number.
    pub(super) server: u32,
    /// Requests and bytes per second, as [`LoadMeter`](super::LoadMeter) measures them.
    pub(super) load: f64,
    /// Bytes in the region's files.
    pub(super) bytes: u64,
    /// Whether it may be moved now.
    pub(super) can_move: bool,
}

/// A region, by its index, and the server that it moves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) region: usize,
    pub(super) to: u32,
}

/// Moves in one run: small steps, whose effect is measured before the next.
const LOADED_MOVES_MAX: usize = 4;
/// Moves for regions without load, which disturb nobody.
const IDLE_MOVES_MAX: usize = 256;
/// How far above the average a server's share may be. As HBase's `hbase.regions.slop`.
const SLOP: f64 = 0.2;
/// The least improvement that a move must bring to the busier server, as a share of the average.
/// Below it, the load that the next minute brings may undo the move.
const GAIN_MIN: f64 = 0.1;
/// The average server load below which load does not count.
const LOAD_MIN: f64 = 10.0;
/// A region with less than this share of a server's average load counts as idle.
const IDLE_SHARE: f64 = 0.02;

/// Plans moves between `servers`. The busiest server's load never grows, regions that may not move
/// stay, and servers that are not named neither give nor get regions.
pub(super) fn plan(servers: &[u32], regions: &[Candidate]) -> Vec<Move> {
    if servers.len() < 2 {
        return Vec::new();
    }
    let mut state = State::new(servers, regions);
    state.spread_load();
    state.spread_tables();
    state.spread_regions();
    state.moves
}

struct State<'a> {
    regions: &'a [Candidate],
    servers: Vec<Server>,
    /// A server's average load.
    mean: f64,
    moves: Vec<Move>,
    /// How many moves spread load.
    loaded_moves: usize,
}

struct Server {
    number: u32,
    load: f64,
    bytes: u64,
    regions: Vec<usize>,
}

impl<'a> State<'a> {
    fn new(numbers: &[u32], regions: &'a [Candidate]) -> Self {
        let mut servers: Vec<_> = numbers
            .iter()
            .map(|&number| Server { number, load: 0.0, bytes: 0, regions: Vec::new() })
            .collect();
        for (index, region) in regions.iter().enumerate() {
            if let Some(server) = servers.iter_mut().find(|it| it.number == region.server) {
                server.load += region.load;
                server.bytes += region.bytes;
                server.regions.push(index);
            }
        }
        let mean = servers.iter().map(|server| server.load).sum::<f64>() / servers.len() as f64;
        Self { regions, servers, mean, moves: Vec::new(), loaded_moves: 0 }
    }

    /// Moves regions from the busiest server to the least busy one.
    fn spread_load(&mut self) {
        if self.mean < LOAD_MIN {
            return;
        }
        while self.moves.len() < LOADED_MOVES_MAX {
            let by_load = |&at: &usize| ordered(self.servers[at].load);
            let (Some(from), Some(to)) = (
                (0..self.servers.len()).max_by_key(by_load),
                (0..self.servers.len()).min_by_key(by_load),
            ) else {
                return;
            };
            let busiest = self.servers[from].load;
            let idlest = self.servers[to].load;
            if busiest <= self.mean * (1.0 + SLOP) {
                return;
            }
            let busier_after = |&region: &usize| {
                let load = self.regions[region].load;
                ordered((busiest - load).max(idlest + load))
            };
            let movable = self.movable(from).filter(|&region| self.regions[region].load > 0.0);
            let Some(region) = movable.min_by_key(busier_after) else { return };
            let load = self.regions[region].load;
            if busiest - (busiest - load).max(idlest + load) < self.mean * GAIN_MIN {
                return;
            }
            self.apply(region, from, to);
            self.loaded_moves += 1;
        }
    }

    /// Moves each table's idle regions from the server with the most to the server with the fewest.
    fn spread_tables(&mut self) {
        let tables = self.regions.iter().map(|region| region.table + 1).max().unwrap_or(0);
        for table in 0..tables {
            while self.idle_moves() < IDLE_MOVES_MAX {
                let by_count = |&at: &usize| {
                    (
                        self.count_of(at, table),
                        self.servers[at].regions.len(),
                        self.servers[at].bytes,
                    )
                };
                let servers = 0..self.servers.len();
                let Some(from) = servers.clone().max_by_key(by_count) else { return };
                // A server with much load takes only regions without any.
                let takers = servers.clone().filter(|&at| self.may_take_load(at));
                let to = [servers.min_by_key(by_count), takers.min_by_key(by_count)];
                let idle_move = to.into_iter().flatten().find_map(|to| {
                    if self.count_of(from, table) < self.count_of(to, table) + 2 {
                        return None;
                    }
                    let region = self.idle_region(from, to, |it| it.table == table)?;
                    Some((region, to))
                });
                let Some((region, to)) = idle_move else { break };
                self.apply(region, from, to);
            }
        }
    }

    /// Moves idle regions from the server with the most regions to the one with the fewest, as far
    /// as their tables stay spread.
    fn spread_regions(&mut self) {
        let average = self.servers.iter().map(|server| server.regions.len()).sum::<usize>() as f64
            / self.servers.len() as f64;
        while self.idle_moves() < IDLE_MOVES_MAX {
            let by_count = |&at: &usize| {
                let server = &self.servers[at];
                (server.regions.len(), server.bytes)
            };
            let (Some(from), Some(to)) = (
                (0..self.servers.len()).max_by_key(by_count),
                (0..self.servers.len()).min_by_key(by_count),
            ) else {
                return;
            };
            let gap = self.servers[from].regions.len() - self.servers[to].regions.len();
            if gap < 2 || gap as f64 <= average * SLOP {
                return;
            }
            let has_more =
                |it: &Candidate| self.count_of(from, it.table) > self.count_of(to, it.table);
            let Some(region) = self.idle_region(from, to, has_more) else { return };
            self.apply(region, from, to);
        }
    }

    /// Returns a server's idle region whose move brings the two servers' sizes closest and leaves
    /// the other server's load fair.
    fn idle_region(
        &self,
        from: usize,
        to: usize,
        is_eligible: impl Fn(&Candidate) -> bool,
    ) -> Option<usize> {
        let has_load = self.mean >= LOAD_MIN;
        let room = self.mean * (1.0 + SLOP) - self.servers[to].load;
        let is_idle =
            |it: &Candidate| !has_load || it.load <= (self.mean * IDLE_SHARE).min(room.max(0.0));
        let gap = self.servers[from].bytes.saturating_sub(self.servers[to].bytes);
        let movable = self.movable(from).filter(|&region| {
            let region = &self.regions[region];
            is_idle(region) && is_eligible(region)
        });
        movable.min_by_key(|&region| (gap / 2).abs_diff(self.regions[region].bytes))
    }

    /// Whether a server may get regions with a little load: it has no more than a fair load.
    fn may_take_load(&self, server: usize) -> bool {
        self.mean < LOAD_MIN || self.servers[server].load <= self.mean * (1.0 + SLOP)
    }

    fn count_of(&self, server: usize, table: usize) -> usize {
        let regions = self.servers[server].regions.iter();
        regions.filter(|&&region| self.regions[region].table == table).count()
    }

    fn idle_moves(&self) -> usize {
        self.moves.len() - self.loaded_moves
    }

    /// Returns a server's regions that may move and have not.
    fn movable(&self, server: usize) -> impl Iterator<Item = usize> + '_ {
        let has_moved = |region: usize| self.moves.iter().any(|it| it.region == region);
        let regions = self.servers[server].regions.iter().copied();
        regions.filter(move |&region| self.regions[region].can_move && !has_moved(region))
    }

    fn apply(&mut self, region: usize, from: usize, to: usize) {
        let Candidate { load, bytes, .. } = self.regions[region];
        self.servers[from].regions.retain(|&it| it != region);
        self.servers[from].load -= load;
        self.servers[from].bytes -= bytes;
        self.servers[to].regions.push(region);
        self.servers[to].load += load;
        self.servers[to].bytes += bytes;
        self.moves.push(Move { region, to: self.servers[to].number });
    }
}

/// Returns a key that orders loads, which are finite and not negative.
fn ordered(load: f64) -> u64 {
    load.max(0.0).to_bits()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn region(server: u32, load: f64) -> Candidate {
        Candidate { table: 0, server, load, bytes: 1 << 20, can_move: true }
    }

    fn loads(servers: &[u32], regions: &[Candidate]) -> Vec<f64> {
        let load =
            |server: &u32| regions.iter().filter(|it| it.server == *server).map(|it| it.load).sum();
        servers.iter().map(load).collect()
    }

    fn apply(regions: &mut [Candidate], moves: &[Move]) {
        for it in moves {
            regions[it.region].server = it.to;
        }
    }

    /// Runs the balancer until it is content; returns the run count.
    fn settle(servers: &[u32], regions: &mut [Candidate]) -> usize {
        for runs in 0.. {
            let moves = plan(servers, regions);
            if moves.is_empty() {
                return runs;
            }
            assert!(runs < 1000, "it does not end");
            apply(regions, &moves);
        }
        unreachable!()
    }

    #[test]
    fn a_server_with_much_load_does_not_keep_idle_regions_of_a_table_on_another() {
        // Server 3 has nearly all load, in one region, and the fewest regions.
        let busy = Candidate { table: 1, ..region(3, 400.0) };
        let idle = |load| Candidate { table: 0, ..region(0, load) };
        let others = [1, 2].map(|server| Candidate { table: 2, ..region(server, 0.0) });
        for (load, expected) in [(0.0, [2, 2, 2, 2]), (0.1, [3, 3, 2, 0])] {
            let mut regions = vec![idle(load); 8];
            regions.push(busy);
            regions.extend(others.iter().flat_map(|&other| [other; 2]));
            settle(&[0, 1, 2, 3], &mut regions);
            let count =
                |server| regions.iter().filter(|it| it.table == 0 && it.server == server).count();
            let mut counts = [0, 1, 2, 3].map(count);
            counts.sort_by_key(|&count| std::cmp::Reverse(count));
            assert_eq!(counts, expected, "load={load}");
        }
    }

    #[test]
    fn eight_regions_with_the_same_load_end_on_four_servers_by_twos() {
        let mut regions = vec![region(0, 100.0); 8];
        settle(&[0, 1, 2, 3], &mut regions);
        assert_eq!(loads(&[0, 1, 2, 3], &regions), [200.0; 4]);
    }

    #[test]
    fn a_single_hot_region_ends_alone_on_a_server() {
        let mut regions = vec![region(0, 1000.0), region(0, 100.0), region(0, 100.0)];
        settle(&[0, 1], &mut regions);
        assert_eq!(regions[1].server, regions[2].server);
        assert_ne!(regions[0].server, regions[1].server);
    }

    #[test]
    fn without_load_the_regions_are_spread() {
        let mut regions = vec![region(2, 0.0); 9];
        assert_eq!(settle(&[0, 1, 2], &mut regions), 1);
        let counts =
            [0, 1, 2].map(|server| regions.iter().filter(|it| it.server == server).count());
        assert_eq!(counts, [3, 3, 3]);
    }

    #[test]
    fn each_table_is_spread_and_so_are_all_regions() {
        let of = |table, server| Candidate { table, ..region(server, 0.0) };
        // Server 0 has two tables, and the others have a third one.
        let mut regions: Vec<_> = (0..8).map(|_| of(0, 0)).collect();
        regions.extend((0..5).map(|_| of(1, 0)));
        regions.extend((0..12).map(|number| of(2, 1 + number % 3)));
        settle(&[0, 1, 2, 3], &mut regions);
        let count = |table: Option<usize>, server: u32| {
            let is_of = |it: &&Candidate| table.is_none_or(|table| it.table == table);
            regions.iter().filter(is_of).filter(|it| it.server == server).count()
        };
        for table in [Some(0), Some(1), Some(2), None] {
            let counts = [0, 1, 2, 3].map(|server| count(table, server));
            let spread = counts.iter().max().unwrap() - counts.iter().min().unwrap();
            assert!(spread <= 1, "{table:?}: {counts:?}");
        }
    }

    #[test]
    fn immovable_regions_stay() {
        let fixed = Candidate { can_move: false, ..region(0, 100.0) };
        assert_eq!(plan(&[0, 1], &[fixed; 8]), []);
        assert_eq!(plan(&[0], &[region(0, 100.0); 8]), []);
        // Server 1 is not named: a decommissioned server keeps what it has.
        assert_eq!(plan(&[0, 2], &[region(1, 100.0); 8]), []);
    }

    #[test]
    fn noise_moves_nothing() {
        let mut regions: Vec<_> = (0..40).map(|at| region(at % 4, 100.0)).collect();
        for (at, it) in regions.iter_mut().enumerate() {
            it.load += [7.0, -12.0, 9.0, -3.0, 5.0][at % 5];
        }
        assert_eq!(plan(&[0, 1, 2, 3], &regions), []);
    }

    fn candidate() -> impl Strategy<Value = Candidate> {
        let load = prop_oneof![2 => Just(0.0), 3 => 0.0..50.0f64, 1 => 0.0..2000.0f64];
        let can_move = prop::bool::weighted(0.9);
        let parts = (0usize..3, 0u32..5, load, 0u64..1 << 30, can_move);
        parts.prop_map(|(table, server, load, bytes, can_move)| Candidate {
            table,
            server,
            load,
            bytes,
            can_move,
        })
    }

    proptest! {
        #[test]
        fn runs_end_and_never_make_the_busiest_server_busier(
            mut regions in prop::collection::vec(candidate(), 0..80),
            servers in prop::sample::subsequence(vec![0u32, 1, 2, 3, 4], 1..=5),
        ) {
            let busiest = |regions: &[Candidate]| {
                loads(&servers, regions).into_iter().fold(0.0, f64::max)
            };
            let before = regions.clone();
            for runs in 0.. {
                let moves = plan(&servers, &regions);
                if moves.is_empty() {
                    break;
                }
                prop_assert!(runs < 200);
                prop_assert!(moves.len() <= LOADED_MOVES_MAX + IDLE_MOVES_MAX);
                let load = busiest(&regions);
                let mean = loads(&servers, &regions).iter().sum::<f64>() / servers.len() as f64;
                let bound = if mean < LOAD_MIN { f64::MAX } else { load.max(mean * (1.0 + SLOP)) };
                apply(&mut regions, &moves);
                prop_assert!(busiest(&regions) <= bound + 1e-6);
            }
            for (before, after) in before.iter().zip(&regions) {
                let stays = !before.can_move || !servers.contains(&before.server);
                prop_assert!(!stays || before.server == after.server);
            }
        }
    }
}
