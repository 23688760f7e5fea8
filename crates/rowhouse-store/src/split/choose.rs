//! Decides whether a region has grown too large: HBase's policies as a pure function of sizes.

use rowhouse_model::{SplitPolicy, TableDescriptor};

use crate::settings::SplitSettings;

/// The facts about a region and the table that the decision depends on.
#[derive(Clone, Debug)]
pub(crate) struct Situation<'a> {
    pub(crate) table: &'a TableDescriptor,
    pub(crate) policy: &'a SplitPolicy,
    /// Spreads the regions' limits, and is stable for a region.
    pub(crate) region_id: u64,
    /// The number of regions in the table, including this one.
    pub(crate) regions: u64,
    /// Bytes of files in the largest family.
    pub(crate) bytes: u64,
}

/// Returns true if the region should be split.
pub(crate) fn is_too_large(situation: &Situation<'_>, settings: &SplitSettings) -> bool {
    let max = bytes_max(situation, settings);
    let first =
        situation.table.memstore_flush_bytes().map_or(settings.first_bytes, |flush| 2 * flush);
    let regions = situation.regions;
    let bytes = match situation.policy {
        SplitPolicy::Disabled => return false,
        SplitPolicy::ConstantSize => max,
        SplitPolicy::Stepping if regions == 1 => first,
        SplitPolicy::Stepping => max,
        SplitPolicy::IncreasingToUpperBound
        | SplitPolicy::KeyPrefix(_)
        | SplitPolicy::DelimitedKeyPrefix(_) => {
            first.saturating_mul(regions.saturating_pow(3)).min(max)
        }
    };
    situation.bytes > bytes
}

/// Returns a region's size limit. It depends on the region's id, so that regions that grow alike
/// are not all split at once.
fn bytes_max(situation: &Situation<'_>, settings: &SplitSettings) -> u64 {
    let max = situation.table.region_bytes_max().unwrap_or(settings.region_bytes_max);
    // Between -0.5 and 0.5: adjacent ids are far apart.
    let fraction = (situation.region_id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64
        / (1u64 << 53) as f64
        - 0.5;
    let jittered = max as f64 * (1.0 + settings.jitter * fraction);
    // The cast saturates.
    jittered as u64
}

#[cfg(test)]
mod tests {
    use rowhouse_model::TableName;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn table() -> TableDescriptor {
        TableDescriptor::new(TableName::parse("t").unwrap())
    }

    /// Returns the bytes above which a region of a table with `regions` regions is split.
    fn limit(policy: &SplitPolicy, table: &TableDescriptor, regions: u64) -> u64 {
        let settings = SplitSettings { jitter: 0.0, ..SplitSettings::default() };
        let is_too_large = |bytes| {
            let situation = Situation { table, policy, region_id: 7, regions, bytes };
            is_too_large(&situation, &settings)
        };
        let mut fits = 0;
        let mut too_large = u64::MAX;
        while too_large - fits > 1 {
            let middle = fits + (too_large - fits) / 2;
            if is_too_large(middle) { too_large = middle } else { fits = middle }
        }
        fits
    }

    #[test]
    fn sizes_are_those_of_hbase() {
        use SplitPolicy::{ConstantSize, IncreasingToUpperBound, KeyPrefix, Stepping};
        let table = table();
        let max = 10 << 30;
        for (policy, regions, want) in [
            (Stepping, 1, 256 * MIB),
            (Stepping, 2, max),
            (ConstantSize, 1, max),
            (IncreasingToUpperBound, 1, 256 * MIB),
            (IncreasingToUpperBound, 2, 2048 * MIB),
            (IncreasingToUpperBound, 3, 6912 * MIB),
            (IncreasingToUpperBound, 4, max),
            (IncreasingToUpperBound, u64::MAX, max),
            (KeyPrefix(3), 2, 2048 * MIB),
        ] {
            assert_eq!(limit(&policy, &table, regions), want, "{policy:?} {regions}");
        }
        // No size is large enough.
        assert_eq!(limit(&SplitPolicy::Disabled, &table, 1), u64::MAX - 1);
    }

    #[test]
    fn a_table_goes_before_the_store() {
        let table =
            table().attribute("MAX_FILESIZE", "1000").attribute("MEMSTORE_FLUSHSIZE", "100");
        assert_eq!(limit(&SplitPolicy::Stepping, &table, 1), 200);
        assert_eq!(limit(&SplitPolicy::Stepping, &table, 2), 1000);
        assert_eq!(limit(&SplitPolicy::IncreasingToUpperBound, &table, 2), 1000);
    }

    #[test]
    fn the_sizes_of_regions_are_spread_by_the_jitter_and_the_same_each_time() {
        let table = table();
        let settings = SplitSettings::default();
        let max = |region_id| {
            let policy = &SplitPolicy::ConstantSize;
            let situation = Situation { table: &table, policy, region_id, regions: 1, bytes: 0 };
            assert_eq!(bytes_max(&situation, &settings), bytes_max(&situation, &settings));
            bytes_max(&situation, &settings) as f64 / settings.region_bytes_max as f64
        };
        let all: Vec<f64> = (0..1000).map(max).collect();
        let (least, most) =
            all.iter().fold((2.0f64, 0.0f64), |(a, b), max| (a.min(*max), b.max(*max)));
        assert!((0.875..0.88).contains(&least) && (1.12..=1.125).contains(&most), "{least} {most}");
        let settings = SplitSettings { region_bytes_max: u64::MAX, ..settings };
        let policy = &SplitPolicy::ConstantSize;
        let situation = Situation { table: &table, policy, region_id: 1, regions: 1, bytes: 0 };
        assert!(bytes_max(&situation, &settings) > u64::MAX / 2);
    }
}
