//! Our own TCP on simulated networks (crate `network`), without a card: all cases, on all cores.
//!
//! ```text
//!   cases ─► a thread for each core ─► outcomes in the order of the cases
//! ```

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use network::measure::Measurement;
use network::topology::TopologyError;

/// Runs all cases. `progress` hears how many are done.
pub fn measure_cases<M: Measurement>(
    parameters: &M,
    cases: &[M::Case],
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<M::Outcome>, TopologyError> {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(cases.len());
    let (sender, receiver) = mpsc::channel();
    let mut outcomes = Vec::from_iter(cases.iter().map(|_| None));
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(case) = cases.get(number) else {
                    return;
                };
                // The receiver is there until all senders are gone.
                let _ = sender.send((number, parameters.measure(case)));
            });
        }
        drop(sender);
        for (done, (number, outcome)) in receiver.iter().enumerate() {
            outcomes[number] = Some(outcome);
            progress(done as u64 + 1);
        }
    });
    outcomes.into_iter().flatten().collect()
}
