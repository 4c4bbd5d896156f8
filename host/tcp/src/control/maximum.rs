//! The largest value of this cycle and the one before.
//!
//! Source: draft-ietf-ccwg-bbr, 5.5.6 (MaxBwFilter, two cycles long).

/// A maximum over two cycles (draft-ietf-ccwg-bbr, 5.5.6).
#[derive(Clone, Copy, Debug, Default)]
pub struct Maximum {
    cycles: [u64; 2],
}

impl Maximum {
    /// Takes a value into this cycle (draft-ietf-ccwg-bbr, 5.5.5).
    pub fn take(&mut self, value: u64) {
        self.cycles[1] = self.cycles[1].max(value);
    }

    /// A cycle ends: the one before it is forgotten (draft-ietf-ccwg-bbr, 5.5.6). A cycle without a
    /// value keeps the last.
    pub fn advance(&mut self) {
        if self.cycles[1] > 0 {
            self.cycles = [self.cycles[1], 0];
        }
    }

    /// The maximum (draft-ietf-ccwg-bbr, 5.5.6).
    pub fn get(&self) -> u64 {
        self.cycles[0].max(self.cycles[1])
    }
}
