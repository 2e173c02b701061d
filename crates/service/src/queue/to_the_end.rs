//! Work that goes on to its end, also when the client that asked for it has left.
//!
//! It runs where it is awaited, so that a request costs no switch between tasks; only when it is dropped unfinished is
//! the rest of it given a task of its own.

use std::pin::Pin;
use std::task::{Context, Poll};

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

pub struct ToTheEnd<T: 'static>(Option<Boxed<T>>);

/// For a commit and what the cache must learn of it: they belong together.
pub fn to_the_end<T>(work: impl Future<Output = T> + Send + 'static) -> ToTheEnd<T> {
    ToTheEnd(Some(Box::pin(work)))
}

impl<T> Future for ToTheEnd<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Taken out meanwhile: work that panics is not gone on with.
        let Some(mut work) = self.0.take() else { return Poll::Pending };
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.0 = Some(work);
        }
        polled
    }
}

impl<T> Drop for ToTheEnd<T> {
    fn drop(&mut self) {
        let Some(work) = self.0.take() else { return };
        // Without a runtime the process is ending, and the cache with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                work.await;
            });
        }
    }
}

#[cfg(test)]
mod tests;
