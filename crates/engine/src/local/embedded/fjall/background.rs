//! Background threads run at a lower priority than threads that serve commits.
//!
//! Flushing and merging tables, and freeing memory, take a processor for tenths of a second at a time. On a machine with
//! few processors the committer would wait for its turn, and every client's commit with it.

/// So much less than others; about a tenth of a processor that all want, so that it goes on under any load.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Lowers the priority of this thread, and of those that it starts from then on.
fn give_way() {
    // Elsewhere it would be that of the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::debug!(%error, "work in the background has the priority of all other work");
    }
}

/// Starts a thread that gives way to others.
pub(crate) fn spawn(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> std::io::Result<std::thread::JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(|| {
        give_way();
        work();
    })
}

/// Runs this here and now, but all threads that it starts give way to others. A process without privileges
/// cannot raise the priority of a thread again, so this one cannot lower its own.
pub(crate) fn starting_threads<T: Send>(start: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || {
            give_way();
            start()
        })?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// nice(0) tells what it is.
    fn priority() -> i32 {
        rustix::process::nice(0).expect("is told")
    }

    #[test]
    fn lower_than_here_and_here_as_before() {
        let before = priority();
        let lowered = (before + NICE).min(19);
        let (to, of) = channel();
        let other = to.clone();
        spawn("background", move || to.send(priority()).expect("the test waits")).expect("starts");
        assert_eq!(of.recv().expect("runs"), lowered);
        let thread =
            starting_threads(|| std::thread::spawn(move || other.send(priority()).expect("the test waits")));
        thread.expect("starts").join().expect("ends");
        assert_eq!(of.recv().expect("runs"), lowered);
        assert_eq!(priority(), before);
    }
}
