//! A connection that ends when the client takes no answer for too long.

use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream whose writes and flushes fail after a time without progress: an answer that nobody
/// takes would stay in memory. In TLS a write only fills a buffer, and the flush waits.
pub(crate) struct Paced<S> {
    stream: S,
    /// How long a write or flush may wait.
    wait_max: Duration,
    /// When the wait ends for the write or flush that waits.
    wait: Option<Pin<Box<Sleep>>>,
}

impl<S> Paced<S> {
    pub(crate) fn new(stream: S, wait_max: Duration) -> Self {
        Self { stream, wait_max, wait: None }
    }

    /// Returns a write's outcome, or the error for a write that has waited for too long.
    fn judged<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<Result<T>>,
    ) -> Poll<Result<T>> {
        if written.is_ready() {
            self.wait = None;
            return written;
        }
        let wait = self.wait.get_or_insert_with(|| Box::pin(sleep(self.wait_max)));
        ready!(wait.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client takes no answer")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judged(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[std::io::IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.judged(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judged(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let shut_down = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judged(context, shut_down)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// Takes all bytes into a buffer that never empties, as TLS does to a client that stops
    /// reading.
    struct Held;

    impl AsyncWrite for Held {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
            Poll::Pending
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn flushes_and_shutdowns_without_progress_fail() {
        let mut stream = Paced::new(Held, Duration::from_millis(10));
        let ends = async {
            stream.write_all(b"answer").await.unwrap();
            let flushed = stream.flush().await;
            assert_eq!(flushed.unwrap_err().kind(), ErrorKind::TimedOut);
            let shut_down = stream.shutdown().await;
            assert_eq!(shut_down.unwrap_err().kind(), ErrorKind::TimedOut);
        };
        tokio::time::timeout(Duration::from_secs(60), ends).await.expect("an end");
    }
}
