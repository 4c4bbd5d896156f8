//! When frames come: by what is under way, or as over a wire.

use sim::harness::source::Packet;

use super::World;

/// When the next frame may come.
#[derive(Clone, Copy)]
pub enum Pace {
    /// As long as the frames under way hold at most so many beats, at least eight each.
    UnderWay(u64),
    /// As it comes over a wire of 100 Gb/s, at this part of the full load.
    Wire(f64),
}

/// Most beats under way that no owner's share refuses, in the small packet buffer.
pub const NEVER_REFUSED: Pace = Pace::UnderWay(160);

/// Beats that a frame holds in the packet buffer.
fn charge(frame: &Packet) -> u64 {
    (frame.bytes.len().div_ceil(64) as u64).max(8)
}

impl World {
    /// Takes the frames that have left the card from those under way: written, or dropped.
    fn settle_under_way(&mut self) {
        // A packet that is of a run leaves without an entry, and the run's comes without a packet.
        let [opened, joined, ends @ .., _] = self.pulses.runs;
        let of_runs = (opened + joined).saturating_sub(ends.iter().sum());
        let written = self.pulses.produced.len() as u64 + self.written_off + of_runs;
        let left = [written.max(self.left[0]), self.pulses.drops.iter().sum()];
        for (queue, (now, before)) in self.under_way.iter_mut().zip(left.iter().zip(self.left)) {
            let gone = (now - before) as usize;
            queue.drain(..gone.min(queue.len()));
        }
        self.left = left;
        // Where the card judged a frame otherwise, as around a reset: no more than there can be.
        let sent = self.frames_pushed - self.unsent.len() as u64;
        let most = sent.saturating_sub(left.iter().sum()) as usize;
        while self.under_way[0].len() + self.under_way[1].len() > most {
            let kind = usize::from(self.under_way[0].is_empty());
            self.under_way[kind].pop_front();
        }
    }

    /// Lets frames come as the pace allows.
    pub fn feed(&mut self) {
        self.settle_under_way();
        let Some((frame, _)) = self.unsent.front() else {
            return;
        };
        let may = match self.pace {
            Pace::UnderWay(most) => {
                let beats: u64 = self.under_way.iter().flatten().sum();
                beats == 0 || beats + charge(frame) <= most
            }
            Pace::Wire(load) => {
                let now = self.pulses.cycles as f64;
                let comes = self.wire_free <= now;
                if comes {
                    // FCS, preamble and gap; 100 Gb/s are 50 bytes a cycle of 250 MHz.
                    let cycles = (frame.bytes.len() + 24) as f64 / 50.0;
                    self.wire_free = self.wire_free.max(now - 2.0) + cycles / load;
                }
                comes
            }
        };
        if may {
            let (frame, is_dropped) = self.unsent.pop_front().expect("it is there");
            self.under_way[usize::from(is_dropped)].push_back(charge(&frame));
            self.frames.push(frame);
        }
    }
}
