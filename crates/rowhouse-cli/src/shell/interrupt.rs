//! Control-C while a command runs.

use std::io;

use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// The requests to end the running command, as seen by a session.
///
/// The command ends where it waits for the database, and where it prints. Work that the database
/// has begun by then goes on there.
pub(crate) struct Interrupts {
    raised: watch::Receiver<bool>,
    /// Keeps the channel open if nothing else does.
    sender: watch::Sender<bool>,
}

impl Interrupts {
    /// Returns requests that nothing makes.
    pub(crate) fn none() -> Self {
        let (sender, raised) = watch::channel(false);
        Self { raised, sender }
    }

    /// Returns the requests that SIGINT makes, which no longer ends the process. A line editor that
    /// handles this signal must be opened before.
    ///
    /// # Errors
    /// If the signal cannot be handled.
    pub(crate) fn of_signal(runtime: &Handle) -> io::Result<Self> {
        let interrupts = Self::none();
        let _entered = runtime.enter();
        let mut signals = signal(SignalKind::interrupt())?;
        let sender = interrupts.sender.clone();
        // A separate task: a command that always has rows to print does not wait for signals.
        runtime.spawn(async move {
            while signals.recv().await.is_some() {
                sender.send_replace(true);
            }
        });
        Ok(interrupts)
    }

    /// Forgets the requests that were made before a command begins.
    pub(crate) fn clear(&self) {
        self.sender.send_replace(false);
    }

    /// Returns true if the running command should end.
    pub(crate) fn is_raised(&self) -> bool {
        *self.raised.borrow()
    }

    /// Waits until the running command should end.
    pub(crate) fn raised(&self) -> impl Future<Output = ()> + 'static {
        let mut raised = self.raised.clone();
        async move {
            // The sender lives as long as the session.
            let _ = raised.wait_for(|is_raised| *is_raised).await;
        }
    }

    /// Returns a handle for tests, which makes requests.
    #[cfg(test)]
    pub(crate) fn sender(&self) -> watch::Sender<bool> {
        self.sender.clone()
    }
}
