//! Reads ahead for scans that belong together, on a few threads.

use std::collections::VecDeque;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread;

use rowhouse_model::{Error, ErrorKind, Result};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use super::blocking::is_blocking;

/// Runs blocking jobs in FIFO order on tokio's blocking threads, which stay while there are jobs.
///
/// A query's merged scans request their next batches at about the same time. With one thread per
/// scan they would compete for processors with each other and with the merging thread, for batches
/// that are not needed yet.
pub(crate) struct ReadAhead {
    threads_max: usize,
    jobs: Mutex<Jobs>,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    /// How many threads work or are about to start.
    threads: usize,
}

type Job = Box<dyn FnOnce() + Send>;

/// A job's pending result.
pub(crate) struct PendingResult<T>(oneshot::Receiver<thread::Result<T>>);

impl ReadAhead {
    /// Limits the thread count to `threads_max`.
    pub(crate) fn new(threads_max: usize) -> Arc<Self> {
        Arc::new(Self { threads_max, jobs: Mutex::default() })
    }

    /// Limits the thread count to the processor count, but at least two, since one may wait for the
    /// disk.
    pub(crate) fn of_processors() -> Arc<Self> {
        Self::new(thread::available_parallelism().map_or(1, NonZero::get).max(2))
    }

    /// Queues `work`. It is skipped if the receiver has been dropped before its turn. Work
    /// requested on a blocking thread is done at once.
    pub(crate) fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> PendingResult<T> {
        let (done, awaited) = oneshot::channel();
        let job: Job = Box::new(move || {
            if !done.is_closed() {
                // Sending fails if the receiver was dropped meanwhile.
                _ = done.send(catch_unwind(AssertUnwindSafe(work)));
            }
        });
        if is_blocking() {
            job();
            return PendingResult(awaited);
        }
        let mut jobs = self.jobs();
        jobs.waiting.push_back(job);
        if jobs.threads < self.threads_max {
            jobs.threads += 1;
            drop(jobs);
            let worker = Worker { of: Arc::clone(self), is_done: false };
            spawn_blocking(move || worker.work());
        }
        PendingResult(awaited)
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        // No code panics while holding the lock, so a poisoned lock is still consistent.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One thread.
struct Worker {
    of: Arc<ReadAhead>,
    is_done: bool,
}

impl Worker {
    /// Runs jobs until the queue is empty.
    fn work(mut self) {
        loop {
            let mut jobs = self.of.jobs();
            let Some(job) = jobs.waiting.pop_front() else {
                jobs.threads -= 1;
                drop(jobs);
                self.is_done = true;
                return;
            };
            drop(jobs);
            job();
        }
    }
}

impl Drop for Worker {
    /// Runs also if a runtime that is shut down drops the worker unstarted. If it was the last one,
    /// the pending jobs are dropped so that no receiver waits forever.
    fn drop(&mut self) {
        if !self.is_done {
            let mut jobs = self.of.jobs();
            jobs.threads -= 1;
            let left = match jobs.threads {
                0 => std::mem::take(&mut jobs.waiting),
                _ => VecDeque::new(),
            };
            drop(jobs);
            drop(left);
        }
    }
}

impl<T> Future for PendingResult<T> {
    type Output = Result<T>;

    /// Returns the job result; a panic in the job resumes in the caller.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|done| match done {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => Err(Error::new(
                ErrorKind::ServerNotRunning,
                "the runtime that read ahead for a scan was shut down",
            )),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn work_is_done_in_the_order_of_requests_by_no_more_threads_than_allowed() {
        for threads_max in [1, 3] {
            let ahead = ReadAhead::new(threads_max);
            let working = Arc::new(AtomicUsize::new(0));
            let most = Arc::new(AtomicUsize::new(0));
            let started = Arc::new(Mutex::new(Vec::new()));
            let asked: Vec<_> = (0..100)
                .map(|number| {
                    let working = Arc::clone(&working);
                    let most = Arc::clone(&most);
                    let started = Arc::clone(&started);
                    ahead.ask(move || {
                        started.lock().unwrap().push(number);
                        most.fetch_max(
                            working.fetch_add(1, Ordering::SeqCst) + 1,
                            Ordering::SeqCst,
                        );
                        thread::yield_now();
                        working.fetch_sub(1, Ordering::SeqCst);
                        number
                    })
                })
                .collect();
            for (number, asked) in asked.into_iter().enumerate() {
                assert_eq!(asked.await.unwrap(), number);
            }
            assert!(most.load(Ordering::SeqCst) <= threads_max);
            if threads_max == 1 {
                assert!(started.lock().unwrap().is_sorted());
            }
        }
    }

    #[tokio::test]
    async fn abandoned_work_is_not_started() {
        let ahead = ReadAhead::new(1);
        let (go, wait) = mpsc::channel::<()>();
        let first = ahead.ask(move || wait.recv().unwrap());
        let abandoned = ahead.ask(|| panic!("nobody waits for this"));
        let last = ahead.ask(|| 7);
        drop(abandoned);
        go.send(()).unwrap();
        first.await.unwrap();
        assert_eq!(last.await.unwrap(), 7);
    }

    #[tokio::test]
    async fn a_panic_goes_on_in_its_waiter_and_later_work_is_done() {
        let ahead = ReadAhead::new(1);
        let bad = ahead.ask(|| panic!("bad work"));
        let good = ahead.ask(|| 7);
        let panicked = tokio::spawn(bad).await.unwrap_err();
        assert_eq!(*panicked.into_panic().downcast::<&str>().unwrap(), "bad work");
        assert_eq!(good.await.unwrap(), 7);
    }

    #[test]
    fn work_that_a_runtime_refuses_because_it_was_shut_down_is_an_error() {
        let ahead = ReadAhead::new(1);
        let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
        let gone = runtime();
        let handle = gone.handle().clone();
        gone.shutdown_background();
        let refused = {
            let _entered = handle.enter();
            ahead.ask(|| 7)
        };
        let other = runtime();
        let error = other.block_on(refused).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ServerNotRunning);
        assert_eq!(other.block_on(async { ahead.ask(|| 8).await }).unwrap(), 8);
    }
}
