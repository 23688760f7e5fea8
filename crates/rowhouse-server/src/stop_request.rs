//! A client's request to stop the server.

use rowhouse_model::{Error, Result};
use tokio::sync::Notify;

/// A client's request to stop the server, honored only if permitted.
pub(crate) struct StopRequest {
    allowed: bool,
    requested: Notify,
}

impl StopRequest {
    pub(crate) fn new(allowed: bool) -> Self {
        Self { allowed, requested: Notify::new() }
    }

    /// Signals [`Server::stop_requested`].
    ///
    /// # Errors
    /// `Unsupported` unless the server was started with permission for clients to stop it.
    pub(crate) fn request(&self, method: &'static str, reason: &str) -> Result<()> {
        if !self.allowed {
            return Err(Error::unsupported(format!(
                "clients may not stop this server unless it is started with --allow-shutdown: call={method}"
            )));
        }
        tracing::info!(method, reason, "a client stops the server");
        self.requested.notify_one();
        Ok(())
    }
    /// Returns once a client has signalled.
    pub(crate) async fn requested(&self) {
        self.requested.notified().await;
    }
}
