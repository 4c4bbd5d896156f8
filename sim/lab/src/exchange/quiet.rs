//! Simulated time in which nothing can happen, and how it is skipped.
//!
//! ```text
//!   round ─► anything moved, or passed the card's ports? ─ no, for QUIET_ROUNDS ─┐
//!   ┌────────────────────────────────────────────────────────────────────────────┘
//!   └─► next timer of either end ─► the clock goes there; a kernel first gets KERNEL_TIME
//! ```
//! smoltcp waits a second for an acknowledgement, which is hours of simulation. The clock of the
//! ends in this process is the card's time plus what was skipped.
//!
//! Invariants
//! 1. Time is skipped only while the card rests, no frame is on a wire, and no end has work.
//! 2. Without a kernel the wall clock is not read: the run follows from its seed.

use std::fmt;
use std::time::{Duration, Instant};

use host::clock::ManualClock;
use host::transport::patience::{Patience, PATIENCE};
use host::transport::NextTimer;

use crate::network_side::NetworkSide;

/// Rounds without traffic after which the card rests: several times what a packet takes from one of
/// its ports to another.
const QUIET_ROUNDS: u32 = 16;
/// The same where a kernel may be at both ends, and the rounds before the lab sleeps between them.
const KERNEL_ROUNDS: u32 = 100;
/// Wall time that a kernel gets for its answer: its longest delay of an acknowledgement is 200 ms.
const KERNEL_TIME: Duration = Duration::from_millis(250);
/// Wall time of a pause while a kernel is waited for.
const PAUSE: Duration = Duration::from_millis(1);
/// Rounds and skipped time without progress after which two ends without a kernel are stuck. The
/// longest timeout is a minute; where no frame is disturbed nothing is repeated.
const ROUNDS_MAX: u64 = 100_000;
const SKIPPED_MAX: Duration = Duration::from_secs(1000);
const SKIPPED_MAX_UNDISTURBED: Duration = Duration::from_secs(100);

/// One of the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The transport on the card's side.
    Transport,
    /// The peer.
    Peer,
}

/// What a run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// A timer of an end in this process, most often that of a retransmission, which was so far
    /// ahead.
    Timer(End, Duration),
    /// A kernel, whose timers run by the wall clock.
    Kernel,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (end, ahead) = match self {
            Waiting::Timer(End::Transport, ahead) => ("transport", ahead),
            Waiting::Timer(End::Peer, ahead) => ("peer", ahead),
            Waiting::Kernel => return f.write_str("a timer of the kernel, in wall time"),
        };
        let seconds = ahead.as_secs_f64();
        write!(f, "the retransmission timer of the {end}, {seconds:.3} s")
    }
}

/// Why nothing more is expected of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// No progress for [`PATIENCE`] of wall time, with a kernel at one end.
    WallTime,
    /// No progress while so much simulated time was skipped, or for many rounds.
    SimulatedTime(Duration),
    /// No frame is under way, and no timer is set.
    Forever,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stuck::WallTime => write!(f, "no progress for {} s", PATIENCE.as_secs()),
            Stuck::SimulatedTime(skipped) => write!(
                f,
                "no progress for {ROUNDS_MAX} rounds, or {} s of simulated time",
                skipped.as_secs()
            ),
            Stuck::Forever => f.write_str("no frame is under way and no timer is set"),
        }
    }
}

/// Rounds in which nothing moves. See the module's head.
pub(super) struct Quiet {
    clock: Option<ManualClock>,
    /// Time of the clock, ns, and of the card, ps, at the start.
    start: (u64, u64),
    simulated: Duration,
    skipped: Duration,
    rounds: u32,
    traffic: Option<u64>,
    waiting: Option<Waiting>,
    /// Since when nothing moves, in wall time; not set before a kernel is waited for.
    since: Option<Instant>,
    has_kernel: bool,
    patience: Patience<[u64; 4]>,
    progress: [u64; 4],
    /// Rounds and skipped time since there was progress.
    stalled: (u64, Duration),
    skipped_max: Duration,
}

impl Quiet {
    /// Nothing has moved yet. `is_disturbed` says whether the wire may harm a frame.
    pub(super) fn new(clock: Option<ManualClock>, start_ps: u64, is_disturbed: bool) -> Self {
        let clock_start = clock.as_ref().map_or(0, ManualClock::now_ns);
        Self {
            clock,
            start: (clock_start, start_ps),
            simulated: Duration::ZERO,
            skipped: Duration::ZERO,
            rounds: 0,
            traffic: None,
            waiting: None,
            since: None,
            has_kernel: false,
            patience: Patience::new([0; 4]),
            progress: [0; 4],
            stalled: (0, Duration::ZERO),
            skipped_max: match is_disturbed {
                true => SKIPPED_MAX,
                false => SKIPPED_MAX_UNDISTURBED,
            },
        }
    }

    /// Time of the card so far.
    pub(super) fn simulated_time(&self) -> Duration {
        self.simulated
    }

    /// Time that was skipped so far.
    pub(super) fn skipped_time(&self) -> Duration {
        self.skipped
    }

    /// The same, ps.
    pub(super) fn skipped_ps(&self) -> u64 {
        u64::try_from(self.skipped.as_nanos() * 1000).unwrap_or(u64::MAX)
    }

    /// What the run waits for; what it waited for at last, until there is progress.
    pub(super) fn waiting(&self) -> Option<Waiting> {
        self.waiting
    }

    /// A round is over: `moved` says whether host, wires or peer had anything to do.
    pub(super) fn round(&mut self, moved: bool, card: &impl NetworkSide, progress: [u64; 4]) {
        self.simulated = Duration::from_nanos((card.now_ps() - self.start.1) / 1000);
        self.set_clock();
        self.stalled.0 += 1;
        if progress != self.progress {
            self.progress = progress;
            self.stalled = (0, Duration::ZERO);
            self.waiting = None;
        }
        let traffic = card.traffic();
        let rests = traffic.is_some() && traffic == self.traffic;
        self.traffic = traffic;
        match moved || !rests {
            true => self.end(),
            false => self.rounds += 1,
        }
    }

    /// Something moves again.
    pub(super) fn end(&mut self) {
        self.rounds = 0;
        self.since = None;
    }

    /// Nothing has moved for long enough that nothing moves by itself.
    pub(super) fn is_long(&self) -> bool {
        let enough = match &self.clock {
            Some(_) => QUIET_ROUNDS,
            None => KERNEL_ROUNDS,
        };
        self.rounds > enough
    }

    /// Whether there was no progress for too long.
    pub(super) fn stuck(&mut self) -> Option<Stuck> {
        let by_wall = self.has_kernel || self.clock.is_none();
        match by_wall {
            true => (self.patience.is_over(self.progress)).then_some(Stuck::WallTime),
            false => {
                let (rounds, skipped) = self.stalled;
                let over = rounds > ROUNDS_MAX || skipped > self.skipped_max;
                over.then_some(Stuck::SimulatedTime(self.skipped_max))
            }
        }
    }

    /// Goes on to the next of both timers, or gives a kernel time. Returns why neither helps.
    pub(super) fn skip(&mut self, transport: NextTimer, peer: NextTimer) -> Option<Stuck> {
        let timers = [(End::Transport, transport), (End::Peer, peer)];
        self.has_kernel = timers.iter().any(|(_, next)| *next == NextTimer::WallClock);
        let set = timers.iter().filter_map(|&(end, next)| match next {
            NextTimer::At(at_ns) => Some((at_ns, end)),
            NextTimer::WallClock | NextTimer::Never => None,
        });
        let next = set.min_by_key(|(at_ns, _)| *at_ns);
        let now_ns = self.clock.as_ref().map_or(0, ManualClock::now_ns);
        let until = |at_ns: u64| Duration::from_nanos(at_ns.saturating_sub(now_ns));
        let ahead = |(at_ns, end): (u64, End)| Waiting::Timer(end, until(at_ns));
        if self.has_kernel || self.clock.is_none() {
            let since = *self.since.get_or_insert_with(Instant::now);
            if next.is_none() || self.clock.is_none() || since.elapsed() < KERNEL_TIME {
                self.waiting = Some(next.map_or(Waiting::Kernel, ahead));
                std::thread::sleep(PAUSE);
                return self.stuck();
            }
        }
        let Some((at_ns, end)) = next else { return Some(Stuck::Forever) };
        let by = until(at_ns);
        self.waiting = Some(ahead((at_ns, end)));
        self.skipped += by;
        self.stalled.1 += by;
        self.set_clock();
        self.end();
        self.stuck()
    }

    /// Sets the clock to the card's time and what was skipped.
    fn set_clock(&self) {
        if let Some(clock) = &self.clock {
            let passed = Duration::from_nanos(clock.now_ns() - self.start.0);
            clock.advance((self.simulated + self.skipped).saturating_sub(passed));
        }
    }
}
