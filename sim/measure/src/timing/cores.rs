//! Cores, and the time that a thread had one.
//!
//! ```text
//!   core 0 ── the thread that is measured        core 1 ── what works beside it
//! ```
//! A thread that moves between cores leaves its caches behind, and two threads on one core take
//! turns by the millisecond. Where the system refuses, or has one core, threads stay free.

use std::time::Duration;

use rustix::thread::{sched_getaffinity, sched_getcpu, sched_setaffinity, CpuSet};
use rustix::time::{clock_gettime, ClockId};

/// The cores that this thread may use.
#[derive(Clone, Debug)]
pub struct Cores {
    all: Option<CpuSet>,
    numbers: Vec<usize>,
}

/// A thread on one core; when dropped, it may use all cores again.
#[derive(Debug)]
pub struct PinnedThread<'a>(Option<&'a CpuSet>);

impl Cores {
    /// Asks the system. The core that the thread has now comes first: the system has found it to be
    /// the least busy.
    pub fn find() -> Self {
        let all = sched_getaffinity(None).ok();
        let numbers = all.iter().flat_map(|all| {
            let is_set = |&core: &usize| all.is_set(core);
            (0..CpuSet::MAX_CPU).filter(is_set)
        });
        let mut numbers = Vec::from_iter(numbers);
        let here = sched_getcpu();
        let at = numbers.iter().position(|&core| core == here);
        numbers.rotate_left(at.unwrap_or(0));
        Self { all, numbers }
    }

    /// How many there are; 0 if the system does not say.
    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    /// Keeps this thread on the core of that index, if there is one.
    pub fn keep(&self, index: usize) -> PinnedThread<'_> {
        let mut one = CpuSet::new();
        let Some(&core) = self.numbers.get(index) else {
            return PinnedThread(None);
        };
        one.set(core);
        let kept = sched_setaffinity(None, &one).is_ok();
        PinnedThread(self.all.as_ref().filter(|_| kept))
    }
}

impl PinnedThread<'_> {
    /// Whether the thread stays on its core.
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for PinnedThread<'_> {
    fn drop(&mut self) {
        if let Some(all) = self.0 {
            // A thread that stays where it is does no harm.
            let _ = sched_setaffinity(None, all);
        }
    }
}

/// Time for which this thread had a core so far, user and system.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_thread_is_free_again() {
        let sorted = |mut numbers: Vec<usize>| {
            numbers.sort_unstable();
            numbers
        };
        let before = Cores::find();
        let kept = before.keep(0);
        if kept.is_kept() {
            assert_eq!(Cores::find().numbers, before.numbers[..1]);
        }
        drop(kept);
        let after = Cores::find();
        assert_eq!(sorted(after.numbers), sorted(before.numbers.clone()));
        assert!(!before.keep(before.count()).is_kept());
    }

    #[test]
    fn sleeping_thread_has_no_core() {
        let from = thread_time();
        std::thread::sleep(Duration::from_millis(50));
        assert!(thread_time() - from < Duration::from_millis(25));
    }
}
