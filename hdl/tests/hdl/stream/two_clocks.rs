//! Two clocks of their own ratio and phase.

/// What happens next: one of the clocks rises (`true`) or falls.
#[derive(Clone, Copy, Debug)]
pub enum Edge {
    Write(bool),
    Read(bool),
}

/// Gives the edges of both clocks in the order of time.
pub struct TwoClocks {
    write: Half,
    read: Half,
}

struct Half {
    half_ps: u64,
    next_ps: u64,
    level: bool,
}

impl Half {
    fn toggled(&mut self) -> bool {
        self.next_ps += self.half_ps;
        self.level = !self.level;
        self.level
    }
}

impl TwoClocks {
    /// Both are low at first; the first edge of the read clock is 1 ps behind its phase.
    pub fn new(write_half_ps: u64, read_half_ps: u64, phase_ps: u64) -> Self {
        let half = |half_ps, next_ps| Half { half_ps, next_ps, level: false };
        Self { write: half(write_half_ps, write_half_ps), read: half(read_half_ps, phase_ps + 1) }
    }

    /// The next edge of either.
    pub fn next_edge(&mut self) -> Edge {
        match self.write.next_ps <= self.read.next_ps {
            true => Edge::Write(self.write.toggled()),
            false => Edge::Read(self.read.toggled()),
        }
    }
}
