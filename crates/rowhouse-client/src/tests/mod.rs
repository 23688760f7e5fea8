//! The client's reactions to a misbehaving cluster.

mod batches;
mod rows;
mod scans;

#[test]
fn handles_go_wherever_they_are_needed() {
    fn everywhere<T: Clone + Send + Sync + 'static>() {}
    fn with_its_task<T: Send + 'static>() {}
    everywhere::<crate::Client>();
    everywhere::<crate::Table>();
    everywhere::<crate::Admin>();
    with_its_task::<crate::Scanner>();
}
