//! One queue for everything that follows a kernel: all streams are one, in order.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

/// How often who waits looks whether that is in vain.
const LOOK: Duration = Duration::from_millis(100);

type Task = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Task>,
    /// Those that wait and the one that runs.
    open: usize,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { waiting: VecDeque::new(), open: 0 });
static CHANGED: Condvar = Condvar::new();
static STARTED: Once = Once::new();

fn lock() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait(queue: MutexGuard<'static, Queue>) -> MutexGuard<'static, Queue> {
    CHANGED.wait(queue).unwrap_or_else(PoisonError::into_inner)
}

fn work() {
    loop {
        let mut queue = lock();
        let next = loop {
            match queue.waiting.pop_front() {
                Some(next) => break next,
                None => queue = wait(queue),
            }
        };
        drop(queue);
        next();
        lock().open -= 1;
        CHANGED.notify_all();
    }
}

/// Adds work behind all that was added before.
pub fn push(work_item: impl FnOnce() + Send + 'static) {
    STARTED.call_once(|| drop(std::thread::spawn(work)));
    let mut queue = lock();
    queue.waiting.push_back(Box::new(work_item));
    queue.open += 1;
    drop(queue);
    CHANGED.notify_all();
}

/// Waits until everything is done, or `has_failed` says that it never will be. Returns whether it
/// is done.
pub fn drain(has_failed: impl Fn() -> bool) -> bool {
    let mut queue = lock();
    while queue.open > 0 {
        let waited = CHANGED.wait_timeout(queue, LOOK);
        queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        if queue.open > 0 && has_failed() {
            return false;
        }
    }
    true
}

/// Whether everything is done.
pub fn is_empty() -> bool {
    lock().open == 0
}
