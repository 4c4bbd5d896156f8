//! One direction of a wire: loses, doubles, delays and reorders frames, all from a seed.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use host::transport::peer::RandomBytes;

/// What a wire does to a frame, each with its probability in 1/1000.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub loss: u64,
    pub duplicate: u64,
    pub reorder: u64,
    /// Time from one end to the other.
    pub delay: Duration,
    /// Time that each frame occupies the wire.
    pub frame_time: Duration,
}

impl Faults {
    pub const NONE: Self = Self {
        loss: 0,
        duplicate: 0,
        reorder: 0,
        delay: Duration::ZERO,
        frame_time: Duration::ZERO,
    };

    pub const ALL_LOST: Self = Self { loss: 1000, ..Self::NONE };

    pub const ONE_PERCENT: Self = Self { loss: 10, duplicate: 10, reorder: 10, ..Self::NONE };
}

pub struct Wire {
    faults: Faults,
    random: RandomBytes,
    queue: VecDeque<(Instant, Vec<u8>)>,
    /// When the wire has sent all that it was given.
    free: Instant,
    /// A frame that is overtaken, and by how many more.
    held: Option<(u64, Vec<u8>)>,
    pub frames: u64,
    pub lost: u64,
}

impl Wire {
    pub fn new(faults: Faults, seed: u64) -> Self {
        let random = RandomBytes::new(seed);
        Self {
            faults,
            random,
            queue: VecDeque::new(),
            free: Instant::now(),
            held: None,
            frames: 0,
            lost: 0,
        }
    }

    pub fn push(&mut self, frame: Vec<u8>) {
        self.frames += 1;
        if self.happens(self.faults.loss) {
            self.lost += 1;
            return;
        }
        if self.happens(self.faults.duplicate) {
            self.enqueue(frame.clone());
        }
        if self.held.is_none() && self.happens(self.faults.reorder) {
            self.held = Some((1 + self.draw() % 8, frame));
            return;
        }
        self.enqueue(frame);
        match self.held.take() {
            Some((0, held)) => self.enqueue(held),
            Some((left, held)) => self.held = Some((left - 1, held)),
            None => {}
        }
    }

    pub fn pop(&mut self) -> Option<Vec<u8>> {
        let (due, _) = self.queue.front()?;
        if *due > Instant::now() {
            return None;
        }
        self.queue.pop_front().map(|(_, frame)| frame)
    }

    /// Lets go of a frame that nothing came to overtake; says whether there was one.
    pub fn release(&mut self) -> bool {
        let held = self.held.take();
        let any = held.is_some();
        if let Some((_, frame)) = held {
            self.enqueue(frame);
        }
        any
    }

    fn enqueue(&mut self, frame: Vec<u8>) {
        self.free = self.free.max(Instant::now()) + self.faults.frame_time;
        self.queue.push_back((self.free + self.faults.delay, frame));
    }

    fn happens(&mut self, per_thousand: u64) -> bool {
        per_thousand > 0 && self.draw() % 1000 < per_thousand
    }

    fn draw(&mut self) -> u64 {
        let mut word = [0; 8];
        self.random.fill(&mut word);
        u64::from_le_bytes(word)
    }
}
