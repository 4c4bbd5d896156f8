//! Whose turn it is among the peers of a card that offers packets.

/// Which peer offers the next packet: each has its turn, of some packets in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// Packets of a turn.
    burst: usize,
    peer: usize,
    /// What is left of the turn of this peer.
    left: usize,
}

impl Turn {
    pub fn new(burst: usize) -> Self {
        let (peer, left) = (0, 0);
        Self { burst, peer, left }
    }

    /// The peer of the next packet, of so many peers.
    pub fn next(&mut self, peers: usize) -> usize {
        if self.left == 0 || self.peer >= peers {
            self.peer = (self.peer + 1) % peers;
            self.left = self.burst;
        }
        self.left -= 1;
        self.peer
    }

    /// Ends the turn of a peer that may offer no more.
    pub fn end(&mut self) {
        self.left = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_burst_in_turns_that_may_end() {
        let mut turn = Turn::new(2);
        let next: Vec<usize> = (0..5).map(|_| turn.next(3)).collect();
        assert_eq!(next, [1, 1, 2, 2, 0]);
        turn.end();
        assert_eq!([turn.next(3), turn.next(3), turn.next(3)], [1, 1, 2]);
        assert_eq!([turn.next(2), turn.next(2)], [1, 1], "there is no peer 2 any more");
    }
}
