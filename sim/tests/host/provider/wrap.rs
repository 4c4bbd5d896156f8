//! Sequence numbers of the peer pass 2^32 in the middle of what it sends.

use host::driver::bus::MemoryKind;
use host::headers::layout::ACK;
use host::provider::{ApplicationId, ConnectionId};
use host::transport::peer::{RandomBytes, Script, WirePeer};

use crate::provider::rig::{golden, received_completion};

const FIRST: ApplicationId = ApplicationId::FIRST;
/// Ports of a peer that is only forged, and of our listener.
const PORTS: (u16, u16) = (4444, 80);
const PIECE_BYTES: usize = 1000;
const PIECES: usize = 6;

/// Pieces on both sides of 2^32, over it, out of order, twice.
#[test]
fn stream_passes_sequence_number_wrap() {
    for order in [[0, 1, 2, 3, 4, 5], [1, 0, 3, 5, 2, 4], [3, 2, 5, 1, 0, 4]] {
        let mut rig = golden();
        let local = ([10, 77, 0, 1], PORTS.1).into();
        let listener = rig.machine.host.listen(FIRST, local).expect("a port");
        // The real peer makes its link address known, and is cut off.
        let other = ([10, 77, 0, 1], 9999).into();
        rig.machine.peer.connect(other, Script::default()).expect("it starts");
        rig.steps(30);
        rig.cut = true;

        let first = 0u32.wrapping_sub((PIECES * PIECE_BYTES / 2 - PIECE_BYTES / 2) as u32);
        let next = rig.forge_syn(PORTS, first.wrapping_sub(1));
        rig.forge(PORTS, (first, next), ACK, &[]);
        let mut accepted: Option<ConnectionId> = None;
        rig.until("a connection", |rig| {
            accepted = rig.machine.host.accept(listener).expect("a listener");
            accepted.is_some()
        });
        let id = accepted.expect("accepted");
        let bytes = PIECES * PIECE_BYTES;
        let region = rig.machine.host.register(FIRST, MemoryKind::Application, bytes);
        let region = region.expect("room");
        let memory = rig.machine.host.map(region).expect("it maps");
        rig.machine.host.recv(id, region.span(0, bytes as u32), 1).expect("a request");
        rig.steps(50);

        let mut stream = vec![0; bytes];
        RandomBytes::new(8).fill(&mut stream);
        for piece in order {
            for _ in 0..2 {
                let at = piece * PIECE_BYTES;
                let numbers = (first.wrapping_add(at as u32), next);
                rig.forge(PORTS, numbers, ACK, &stream[at..at + PIECE_BYTES]);
                rig.steps(5);
            }
        }
        rig.completion(|c| *c == received_completion(id, 1, bytes as u32));
        let mut found = vec![0; bytes];
        memory.read(0, &mut found);
        assert!(found == stream, "a byte in the wrong place");
        let (numbers, _, _) = rig.peer_next();
        assert_eq!(numbers, first.wrapping_add(bytes as u32));
        // Of what came twice nothing is left.
        let counters = rig.machine.host.counters();
        assert_eq!(counters.held_bytes, 0);
        // All was shown to TCP: it has to acknowledge again what it has.
        assert_eq!(counters.withheld_headers, 0);
    }
}
