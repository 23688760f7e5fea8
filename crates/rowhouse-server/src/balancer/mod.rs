//! The balancer: moves regions between region servers so that each has a similar share of the load,
//! and then of the regions.

mod plan;

use std::sync::Arc;
use std::time::Instant;

use rowhouse_model::{Balanced, MasterSwitch, Result};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use plan::{Candidate, plan};

use crate::cluster::Cluster;
use crate::limits::{BALANCER_INTERVAL, LOAD_SAMPLE_INTERVAL};

/// Measures the load and runs the balancer at intervals, while there are several region servers.
pub(crate) async fn run(cluster: Arc<Cluster>, mut stop: watch::Receiver<bool>) {
    if cluster.options.region_servers < 2 {
        return;
    }
    let mut samples = interval(LOAD_SAMPLE_INTERVAL);
    let mut runs = interval(BALANCER_INTERVAL);
    for ticks in [&mut samples, &mut runs] {
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    }
    // The first tick is at once: nothing is measured yet.
    runs.tick().await;
    loop {
        let is_run = tokio::select! {
            _ = samples.tick() => false,
            _ = runs.tick() => true,
            _ = stop.changed() => return,
        };
        let cluster = Arc::clone(&cluster);
        // Sizes and moves take locks and write to the disk.
        let work = move || {
            cluster.load.sample(&cluster.store, Instant::now());
            if is_run && cluster.store.master_switch(MasterSwitch::Balancer) {
                cluster.balance(false).map(drop)
            } else {
                Ok(())
            }
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the balancer could not move regions"),
            Err(error) => tracing::error!(%error, "the balancer broke off"),
        }
    }
}

impl Cluster {
    /// Runs the balancer once, or with `is_dry` only plans.
    ///
    /// # Errors
    /// `Io`, `ReadOnly`: no region has moved.
    pub(crate) fn balance(&self, is_dry: bool) -> Result<Balanced> {
        let _changing = self.members.changing.lock();
        let now = Instant::now();
        self.load.sample(&self.store, now);
        let tables = self.store.tables();
        let regions = tables.iter().enumerate();
        let regions: Vec<_> = regions
            .flat_map(|(number, table)| table.regions().iter().map(move |it| (number, it)))
            .collect();
        let candidates: Vec<_> = regions
            .iter()
            .map(|&(table, region)| Candidate {
                table,
                server: region.assignment().server,
                load: self.load.per_second(region),
                bytes: region.size().file_bytes,
                can_move: region.assignment().in_service
                    && !region.is_in_memory()
                    && !self.load.is_resting(region, now),
            })
            .collect();
        let moves = plan(&self.members.targets(), &candidates);
        let count = |moves: usize| u32::try_from(moves).unwrap_or(u32::MAX);
        let planned = Balanced { ran: true, planned: count(moves.len()), made: 0 };
        if is_dry || moves.is_empty() {
            return Ok(planned);
        }
        let moves: Vec<_> = moves.iter().map(|it| (regions[it.region].1, it.to)).collect();
        let named: Vec<_> =
            moves.iter().map(|(region, to)| (region.name().full.clone(), *to)).collect();
        self.store.move_regions(&named)?;
        for (region, to) in &moves {
            self.load.note_move(region, now);
            let load = self.load.per_second(region);
            tracing::info!(region = %region.name(), to, load, "the balancer moved a region");
        }
        Ok(Balanced { made: planned.planned, ..planned })
    }
}
