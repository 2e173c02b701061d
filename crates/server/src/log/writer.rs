//! Lines to a sink through a bounded queue. When the sink stalls, lines are dropped and counted, never waited for;
//! when it is gone (a closed pipe), writing goes on into nothing.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tracing_subscriber::fmt::MakeWriter;

const QUEUE: usize = 4096;
/// Lines that wait are written together, up to about this many bytes.
const BATCH: usize = 64 * 1024;
const FLUSH_PATIENCE: Duration = Duration::from_secs(2);

enum Message {
    Line(Vec<u8>),
    Stop,
}

#[derive(Clone)]
pub struct Lines {
    queue: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
}

/// Ends the writer, letting it write what is queued, within bounds.
pub struct Flush {
    queue: SyncSender<Message>,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    pub fn start(sink: impl Write + Send + 'static) -> (Self, Flush) {
        let (queue, lines) = sync_channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let counter = dropped.clone();
        let thread = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write(lines, sink, &counter))
            .ok();
        (Self { queue: queue.clone(), dropped }, Flush { queue, thread })
    }
}

fn write(lines: Receiver<Message>, mut sink: impl Write, dropped: &AtomicU64) {
    let mut batch = Vec::with_capacity(4096);
    while let Ok(Message::Line(first)) = lines.recv() {
        batch.clear();
        batch.extend_from_slice(&first);
        let mut stop = false;
        while batch.len() < BATCH {
            match lines.recv_timeout(Duration::ZERO) {
                Ok(Message::Line(line)) => batch.extend_from_slice(&line),
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => {
                    stop = true;
                    break;
                }
                Err(RecvTimeoutError::Timeout) => break,
            }
        }
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let _ = writeln!(batch, "WARN log: {lost} lines dropped, their reader is too slow");
        }
        let _ = sink.write_all(&batch).and_then(|()| sink.flush());
        if stop {
            return;
        }
    }
}

impl Drop for Flush {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        let end = Instant::now() + FLUSH_PATIENCE;
        let mut told = false;
        while Instant::now() < end && !thread.is_finished() {
            told = told || self.queue.try_send(Message::Stop).is_ok();
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for Lines {
    /// The formatter hands over one whole line at a time.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.queue.try_send(Message::Line(line.to_vec())).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("lock").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_queued_line_is_written_before_the_guard_is_gone() {
        let sink = Shared::default();
        let (mut lines, flush) = Lines::start(sink.clone());
        for number in 0..1000 {
            writeln!(lines, "line {number}").expect("queued");
        }
        drop(flush);
        let text = String::from_utf8(sink.0.lock().expect("lock").clone()).expect("text");
        assert_eq!(text.matches("line ").count(), 1000);
        assert!(text.ends_with("line 999\n"));
    }

    /// Says that a write has begun, then hangs until released.
    struct Stuck {
        begun: SyncSender<()>,
        release: Receiver<()>,
    }

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.begun.try_send(());
            let _ = self.release.recv();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stuck_sink_holds_nobody_up() {
        let (begun, stuck) = sync_channel(1);
        let (released, release) = sync_channel(1);
        let (mut lines, flush) = Lines::start(Stuck { begun, release });
        writeln!(lines, "x").expect("never fails");
        stuck.recv().expect("the writer hangs in its first write");
        for _ in 0..QUEUE + 7 {
            lines.write_all(b"x\n").expect("never fails");
        }
        assert_eq!(lines.dropped.load(Ordering::Relaxed), 7);
        drop(released);
        drop(flush);
    }
}
