//! Caches region locations.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use rowhouse_model::TableName;

use super::{Located, RegionTarget};
use crate::connection::Address;

/// Regions by table and start key. Regions in a table never overlap: a new region replaces those
/// that it overlaps, which a split or merge has made obsolete.
#[derive(Debug, Default)]
pub(super) struct RegionCache {
    tables: HashMap<TableName, BTreeMap<Bytes, Arc<Located>>>,
}

impl RegionCache {
    pub(super) fn find(&self, table: &TableName, place: RegionTarget<'_>) -> Option<Arc<Located>> {
        let regions = self.tables.get(table)?;
        let candidate = match place {
            RegionTarget::Row(row) => up_to(regions, Bound::Included(row)),
            RegionTarget::Before([]) => regions.last_key_value(),
            RegionTarget::Before(row) => up_to(regions, Bound::Excluded(row)),
        };
        let (_, located) = candidate?;
        located.has(place).then(|| located.clone())
    }

    pub(super) fn insert(&mut self, located: Arc<Located>) {
        let regions = self.tables.entry(located.region.table.clone()).or_default();
        let range = &located.region.range;
        // The regions that start inside the new one, and the preceding one if it overlaps.
        let inside =
            regions.range::<[u8], _>((Bound::Included(&range.start[..]), Bound::Unbounded));
        let inside = inside.take_while(|(start, _)| range.contains(start));
        let in_front = up_to(regions, Bound::Excluded(&range.start[..]))
            .filter(|(_, region)| region.region.range.overlaps(range));
        let obsolete: Vec<_> = inside.chain(in_front).map(|(start, _)| start.clone()).collect();
        for start in obsolete {
            regions.remove(&start);
        }
        // Copy the key, so that the location does not keep the answer's buffer alive.
        regions.insert(Bytes::copy_from_slice(&range.start), located);
    }

    /// Removes this location, unless a newer one has replaced it.
    pub(super) fn remove(&mut self, located: &Arc<Located>) {
        let Some(regions) = self.tables.get_mut(&located.region.table) else { return };
        let start = &located.region.range.start;
        if regions.get(start).is_some_and(|known| Arc::ptr_eq(known, located)) {
            regions.remove(start);
        }
    }

    pub(super) fn remove_server(&mut self, server: &Address) {
        for regions in self.tables.values_mut() {
            regions.retain(|_, located| located.server != *server);
        }
    }

    pub(super) fn remove_table(&mut self, table: &TableName) {
        self.tables.remove(table);
    }
}

impl Located {
    pub(super) fn has(&self, place: RegionTarget<'_>) -> bool {
        let range = &self.region.range;
        match place {
            RegionTarget::Row(row) => range.contains(row),
            RegionTarget::Before([]) => range.stop.is_empty(),
            RegionTarget::Before(row) => {
                row > &range.start[..] && (range.stop.is_empty() || row <= &range.stop[..])
            }
        }
    }
}

fn up_to<'a>(
    regions: &'a BTreeMap<Bytes, Arc<Located>>,
    end: Bound<&[u8]>,
) -> Option<(&'a Bytes, &'a Arc<Located>)> {
    regions.range::<[u8], _>((Bound::Unbounded, end)).next_back()
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{RegionInfo, RowRange};

    use super::*;

    fn table() -> TableName {
        TableName::parse("ns:t").unwrap()
    }

    fn located(start: &[u8], stop: &[u8], port: u16) -> Arc<Located> {
        let range = RowRange::new(start.to_vec(), stop.to_vec());
        let server = Address { host: "h".into(), port };
        Arc::new(Located::new(RegionInfo::new(table(), range, 1), server))
    }

    /// A table split at 00, `a,b` and ff00, as in `compat/FACTS.md`.
    fn cache() -> RegionCache {
        let mut cache = RegionCache::default();
        let bounds: [&[u8]; 5] = [b"", b"\0", b"a,b", b"\xff\0", b""];
        for (at, pair) in bounds.windows(2).enumerate() {
            cache.insert(located(pair[0], pair[1], at as u16));
        }
        cache
    }

    fn port(cache: &RegionCache, place: RegionTarget<'_>) -> Option<u16> {
        cache.find(&table(), place).map(|located| located.server.port)
    }

    #[test]
    fn any_row_key_is_located_in_its_region() {
        let cache = cache();
        for (row, expected) in [
            (&b""[..], 0),
            (b"\0", 1),
            (b"\0\0", 1),
            (b"a", 1),
            (b"a,", 1),
            (b"a,b", 2),
            (b"a,b,c", 2),
            (b"\xff", 2),
            (b"\xff\0", 3),
            (b"\xff\xff", 3),
        ] {
            assert_eq!(port(&cache, RegionTarget::Row(row)), Some(expected), "{row:?}");
        }
    }

    #[test]
    fn region_before_a_row_is_located() {
        let cache = cache();
        for (row, expected) in [
            (&b""[..], Some(3)),
            (b"\xff\0", Some(2)),
            (b"\xff\0\0", Some(3)),
            (b"a,b", Some(1)),
            (b"a,b\0", Some(2)),
            (b"\0", Some(0)),
        ] {
            assert_eq!(port(&cache, RegionTarget::Before(row)), expected, "{row:?}");
        }
    }

    #[test]
    fn holes_are_not_filled_by_the_region_in_front() {
        let mut cache = cache();
        cache.remove(&cache.find(&table(), RegionTarget::Row(b"b")).unwrap());
        assert_eq!(port(&cache, RegionTarget::Row(b"b")), None);
        assert_eq!(port(&cache, RegionTarget::Before(b"\xff\0")), None);
        assert_eq!(port(&cache, RegionTarget::Row(b"a")), Some(1));
    }

    #[test]
    fn daughters_and_merged_regions_replace_overlapping_entries() {
        let mut cache = cache();
        cache.insert(located(b"b", b"\xff\0", 20));
        assert_eq!(port(&cache, RegionTarget::Row(b"b")), Some(20));
        assert_eq!(port(&cache, RegionTarget::Row(b"a,b")), None);
        cache.insert(located(b"", b"", 30));
        assert_eq!(cache.tables[&table()].len(), 1);
        assert_eq!(port(&cache, RegionTarget::Row(b"a,b")), Some(30));
    }

    #[test]
    fn only_the_location_that_failed_is_forgotten() {
        let mut cache = cache();
        let old = cache.find(&table(), RegionTarget::Row(b"a")).unwrap();
        cache.insert(located(b"\0", b"a,b", 9));
        cache.remove(&old);
        assert_eq!(port(&cache, RegionTarget::Row(b"a")), Some(9));
        cache.remove_server(&Address { host: "h".into(), port: 9 });
        assert_eq!(port(&cache, RegionTarget::Row(b"a")), None);
        assert_eq!(port(&cache, RegionTarget::Row(b"")), Some(0));
        cache.remove_table(&table());
        assert_eq!(port(&cache, RegionTarget::Row(b"")), None);
    }
}
