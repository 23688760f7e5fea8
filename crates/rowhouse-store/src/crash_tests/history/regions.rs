//! Region splits and merges within a history. Their writes stay where they were found; if the disk
//! fails meanwhile, which regions exist is unknown.

use rowhouse_model::Bytes;

use super::{History, ROWS, TABLES, name, row_key};

impl History {
    /// Splits a table's region, or merges two.
    pub(super) fn reshape(&mut self) {
        let table = name(self.random.below(TABLES.into()) as u8);
        let regions = self.store().table(&table).unwrap().regions().to_vec();
        let at = self.random.below(regions.len());
        let neighbour = regions.get(at + 1).filter(|_| self.random.chance(128));
        let done = match neighbour {
            Some(neighbour) => {
                let names = [&regions[at], neighbour].map(|region| &region.name().full[..]);
                self.store().merge_regions(&names)
            }
            None => {
                let row = Bytes::from(row_key(self.random.below(ROWS.into()) as u8));
                let range = &regions[at].info().range;
                if row == range.start || !range.contains(&row) {
                    return;
                }
                self.store().split_region(&regions[at].name().full, Some(row))
            }
        };
        let what = if neighbour.is_some() { "merge" } else { "split" };
        self.tell(format_args!("{what} {}: {done:?}", regions[at].name()));
        self.may_fail(done);
    }
}
