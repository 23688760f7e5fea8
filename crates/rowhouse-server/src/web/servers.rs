//! The region servers and the master.

use std::collections::HashMap;
use std::time::Instant;

use maud::{Markup, html};
use rowhouse_model::{MasterSwitch, RegionSwitch, Result, TableState};

use super::page::{Page, Place};
use super::reader::Reader;
use super::shown::{bytes, count, duration, number, time};
use super::state::Web;
use super::words;
use crate::limits::WEB_LISTED_MAX;
use crate::region_server::RegionServer;

/// Lists the region servers.
pub(super) fn list(web: &Web, reader: &Reader) -> Result<Page> {
    let text = |text| reader.text(text);
    let cluster = &web.context.cluster;
    let members = &cluster.members;
    let loads = Load::of_servers(web);
    let targets = members.targets();
    let dead = members.dead();
    let colon = text(words::COLON);
    let is_capped = cluster.meta_server().cap.is_some();
    let body = html! {
        p {
            (text(words::MASTER)) (colon) (address(&cluster.master)) " · "
            (text(words::BALANCER)) (colon) (switch(reader, cluster.store.master_switch(MasterSwitch::Balancer))) " · "
            (text(words::SPLITS)) (colon) (switch(reader, cluster.store.region_switch(RegionSwitch::Split))) " · "
            (text(words::MERGES)) (colon) (switch(reader, cluster.store.region_switch(RegionSwitch::Merge)))
        }
        div.wide { table {
            thead { tr {
                th { (text(words::SERVER)) } th { (text(words::STATE)) } th { (text(words::STARTED)) }
                @for heading in [words::REGIONS, words::CALLS_PER_SECOND, words::CALLS_TOTAL, words::LOAD, words::FILE_BYTES, words::MEMSTORE_BYTES, words::OPEN_SCANNERS] {
                    th.number { (text(heading)) }
                }
                @if is_capped {
                    th.number { (text(words::WAITING_CALLS)) } th.number { (text(words::CAP_WAIT)) }
                }
            } }
            tbody { @for server in members.live() {
                @let load = loads.get(&server.number).copied().unwrap_or_default();
                tr {
                    td { (address(&server)) }
                    td {
                        @if targets.contains(&server.number) { (text(words::LIVE)) }
                        @else { (text(words::DECOMMISSIONED)) }
                    }
                    td { (time(i64::try_from(server.name.start_code).unwrap_or(i64::MAX))) }
                    td.number { (count(load.regions)) }
                    td.number { (number(server.requests.per_second(Instant::now()))) }
                    td.number { (number(server.requests.total())) }
                    td.number { (format!("{:.0}", load.per_second)) }
                    td.number { (bytes(load.file_bytes)) }
                    td.number { (bytes(load.memstore_bytes)) }
                    td.number { (count(server.scanners.len())) }
                    @if let Some(cap) = &server.cap {
                        td.number { (count(cap.waiting())) }
                        td.number { (duration(i64::try_from(cap.waits().delay().as_millis()).unwrap_or(i64::MAX))) }
                    }
                }
            } }
        } }
        p.dim { (text(words::LOAD_MORE)) }
        @if !dead.is_empty() {
            h2 { (text(words::STOPPED_SERVERS)) }
            ul { @for name in dead.iter().take(WEB_LISTED_MAX) { li { (name) } } }
        }
        h2 { (text(words::MEMORY)) }
        (memory(web, reader))
    };
    Ok(Page::new(Place::Servers, text(words::SERVERS), body))
}

/// Returns a region server's address, as announced to clients.
pub(super) fn address(server: &RegionServer) -> String {
    server.name.address()
}

fn switch(reader: &Reader, is_on: bool) -> &'static str {
    reader.text(if is_on { words::ON } else { words::OFF })
}

fn memory(web: &Web, reader: &Reader) -> Markup {
    let store = &web.context.cluster.store;
    let parts = [
        (words::MEMSTORES, store.memstore_bytes()),
        (words::READER_MEMSTORES, store.reader_memstore_bytes()),
        (words::INDEX_MEMORY, store.index_memory_bytes()),
        (words::BLOCK_CACHE, store.block_cache_bytes()),
    ];
    html! { table { tbody { @for (name, (used, max)) in parts { tr {
        th scope="row" { (reader.text(name)) }
        td.number { (bytes(used)) }
        td { (reader.text(words::AT_MOST)) " " (bytes(max)) }
    } } } } }
}

/// The regions that a server serves, and sums over them.
#[derive(Clone, Copy, Default)]
struct Load {
    regions: usize,
    per_second: f64,
    file_bytes: u64,
    memstore_bytes: u64,
}

impl Load {
    fn of_servers(web: &Web) -> HashMap<u32, Self> {
        let cluster = &web.context.cluster;
        let mut loads = HashMap::<_, Self>::new();
        let tables = cluster.store.tables();
        let enabled = tables.iter().filter(|table| table.state() == TableState::Enabled);
        for region in enabled.flat_map(|table| table.regions()) {
            let assignment = region.assignment();
            let size = region.size();
            if assignment.in_service {
                let load = loads.entry(assignment.server).or_default();
                load.regions += 1;
                load.per_second += cluster.load.per_second(region);
                load.file_bytes += size.file_bytes;
                load.memstore_bytes += size.memstore_bytes;
            }
        }
        loads
    }
}
