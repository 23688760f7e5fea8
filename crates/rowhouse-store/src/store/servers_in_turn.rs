//! The region servers for new regions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;

/// The region servers that new regions are assigned to, in turn.
pub(super) struct ServersInTurn {
    servers: RwLock<Arc<[u32]>>,
    next: AtomicUsize,
}

impl Default for ServersInTurn {
    /// Server 0 alone.
    fn default() -> Self {
        Self { servers: RwLock::new([0].into()), next: AtomicUsize::new(0) }
    }
}

impl ServersInTurn {
    /// Replaces the servers; returns the previous ones.
    pub(super) fn replace(&self, servers: Arc<[u32]>) -> Arc<[u32]> {
        std::mem::replace(&mut *self.servers.write(), servers)
    }

    /// Returns servers without end. The next call continues where this one stopped.
    pub(super) fn in_turn(&self) -> impl Iterator<Item = u32> + '_ {
        let servers = Arc::clone(&self.servers.read());
        std::iter::from_fn(move || {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            servers.get(next % servers.len()).copied()
        })
    }
}
