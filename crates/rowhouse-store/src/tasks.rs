//! The store's running tasks: flushes, compactions, region splits and merges.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use rowhouse_model::ServerTask;

/// The running tasks, by start time.
#[derive(Default)]
pub(crate) struct Tasks {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    running: BTreeMap<u64, ServerTask>,
}

/// Lists a task until it is dropped.
pub(crate) struct RunningTask<'a> {
    tasks: &'a Tasks,
    id: u64,
}

impl Tasks {
    pub(crate) fn list(&self) -> Vec<ServerTask> {
        self.state.lock().running.values().cloned().collect()
    }

    /// Lists a task that begins at `now_millis`.
    pub(crate) fn begin(
        &self,
        description: String,
        status: String,
        now_millis: i64,
    ) -> RunningTask<'_> {
        let task = ServerTask { description, status, started_millis: now_millis };
        let mut state = self.state.lock();
        let id = state.next;
        state.next += 1;
        state.running.insert(id, task);
        RunningTask { tasks: self, id }
    }
}

impl RunningTask<'_> {
    /// Replaces the amount of work.
    pub(crate) fn set_status(&self, status: String) {
        if let Some(task) = self.tasks.state.lock().running.get_mut(&self.id) {
            task.status = status;
        }
    }
}

impl Drop for RunningTask<'_> {
    fn drop(&mut self) {
        self.tasks.state.lock().running.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{FamilyDescriptor, TableDescriptor, TableName};

    use crate::Store;

    #[test]
    fn a_task_is_listed_with_its_family_and_region_until_it_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let name = TableName::parse("t").unwrap();
        let family = FamilyDescriptor::new("f").unwrap();
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        let region = store.table(&name).unwrap().regions()[0].clone();
        let family = &region.families()[0];
        let task = store.engine().begin_family_task("Flushing", family, "1 byte".into());
        let listed = store.tasks();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].description, format!("Flushing f in {}", region.name()));
        assert_eq!(listed[0].status, "1 byte");
        assert!(listed[0].started_millis > 0);
        drop(task);
        assert!(store.tasks().is_empty());
    }
}
