//! Maps names between two clusters and replaces them with placeholders in text.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use bytes::Bytes;
use regex::Regex;
use rowhouse_model::{RegionInfo, ServerName, TableName, escape};

/// A region identified by table and start row.
pub(crate) type Place = (String, Bytes);

/// One cluster's names.
#[derive(Default)]
pub(crate) struct Names {
    /// Patterns for server names and the cluster id, with their placeholders.
    known: Vec<(Regex, &'static str)>,
    regions: BTreeMap<Place, Bytes>,
}

impl Names {
    pub(crate) fn add_server(&mut self, server: &ServerName) {
        let ServerName { host, port, .. } = server;
        self.add(&regex::escape(&server.to_string()), "<server>");
        self.add(&regex::escape(&format!("{host}:{port}")), "<address>");
    }

    /// Adds HBase's master and region server, which differ in port and start code.
    pub(crate) fn add_servers_on(&mut self, host: &str) {
        self.add(&format!(r"{host},\d+,\d{{13}}"), "<server>");
        self.add(&format!(r"{host}:\d+"), "<address>");
    }

    fn add(&mut self, pattern: &str, called: &'static str) {
        self.known.push((Regex::new(pattern).unwrap(), called));
    }

    pub(crate) fn add_cluster_id(&mut self, id: &str) {
        self.add(&regex::escape(id), "<cluster id>");
    }

    pub(crate) fn add_region(&mut self, region: &RegionInfo) {
        // The single hbase:meta region has the same name on every cluster.
        if region.table == TableName::meta() {
            return;
        }
        let place = (region.table.to_string(), region.range.start.clone());
        self.regions.insert(place, region.name().full);
    }

    /// Returns a region's name.
    pub(crate) fn region_at(&self, place: &Place) -> Option<&Bytes> {
        self.regions.get(place)
    }

    /// Returns the region with this name.
    pub(crate) fn place_of(&self, name: &Bytes) -> Option<&Place> {
        self.regions.iter().find(|(_, has)| *has == name).map(|(place, _)| place)
    }

    /// Replaces this cluster's names, numbers and times in a printed answer.
    pub(crate) fn mask(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, called) in &self.known {
            text = name.replace_all(&text, *called).into_owned();
        }
        for ((table, start), name) in &self.regions {
            // The tail, `id.md5.`, needs no escaping.
            let name = escape(name);
            let tail = &name[name.len().saturating_sub("1795220131100..".len() + 32)..];
            let encoded = &tail[14..46];
            let called = format!("<id of {table},{}>", escape(start));
            text = text.replace(tail, &called).replace(encoded, &called);
        }
        let text = NUMBERS.replace_all(&text, "$1: <number>");
        TIMES.replace_all(&text, "<time>").into_owned()
    }
}

/// Numbers assigned by a server.
static NUMBERS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(scanner_id|proc_id|mvcc_read_point): \d+").unwrap());
/// Milliseconds since 1970, between 2001 and 2033: no recorded client sends such a number.
static TIMES: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b1\d{12}\b").unwrap());
