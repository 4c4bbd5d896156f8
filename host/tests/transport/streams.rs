//! What a user of a transport meets besides the bytes: listeners, closed windows, refusals, resets.
//! Each test runs on both transports: the kernel against a kernel, smoltcp against smoltcp.

use std::net::SocketAddr;

use host::headers::error::HeaderError;
use host::transport::peer::{Conversation, Progress, Script};
use host::transport::{Event, ListenerId, StreamId, StreamState, TransportError, Tuning};

use crate::rig::{address, Rig};
use crate::wire::Faults;
use crate::{connect, establish, kernel_peer, linux, small_buffers, smoltcps, MIB, PEER, US};

const CONNECTION_REFUSED: i32 = 111;
const CONNECTION_RESET: i32 = 104;

/// Runs a test on both transports, if the machine permits the kernel one.
fn on_both(test: impl Fn(&mut Rig)) {
    let tuning = Tuning { receive_buffer_bytes: 256 << 10, ..Tuning::REAL_TIME };
    if let (Some(transport), Some(peer)) = (linux(1500, tuning), kernel_peer(1500, tuning)) {
        test(&mut Rig::new(transport, peer, Faults::NONE, 1));
    }
    test(&mut smoltcps(1500, small_buffers(), Faults::NONE, 1));
}

/// A script that sends the first bytes of a seed.
fn sending(bytes: u64, seed: u64) -> Script {
    Script { send_bytes: bytes, seed, ..Script::default() }
}

fn accept(rig: &mut Rig, listener: ListenerId) -> StreamId {
    let mut accepted = None;
    rig.run_until(|rig| {
        accepted = rig.transport.accept(listener).unwrap();
        accepted.is_some()
    });
    accepted.unwrap()
}

#[test]
fn all_listener_connections_are_served() {
    on_both(|rig| {
        let any: SocketAddr = "0.0.0.0:0".parse().unwrap();
        let listener = rig.transport.listen(any).unwrap();
        let port = rig.transport.listener_address(listener).unwrap().port();
        assert_ne!(port, 0);
        assert_eq!(rig.transport.accept(listener).unwrap(), None);
        for _ in 0..12 {
            rig.peer.connect(address(US, false, port), sending(100_000, 7)).unwrap();
        }
        for _ in 0..12 {
            let stream = accept(rig, listener);
            let (local, remote) = rig.transport.addresses(stream).unwrap();
            assert_eq!(local, address(US, false, port));
            assert_eq!(remote.ip(), address(PEER, false, 0).ip());
            rig.converse(stream, (8, 50_000), (7, 100_000));
        }
        rig.run();
        rig.transport.close_listener(listener).unwrap();
        assert!(matches!(
            rig.transport.accept(listener),
            Err(TransportError::UnknownListener(unknown)) if unknown == listener
        ));
    });
}

#[test]
fn application_without_buffers_stalls_peer() {
    on_both(|rig| {
        let stream = establish(rig, sending(2 * MIB, 5));
        rig.converse(stream, (6, 1000), (5, 2 * MIB));
        rig.drain_nothing = true;
        // The peer probes once it has nothing else left to do.
        rig.run_until(|rig| {
            let memory = rig.memory(stream);
            memory.received.len() as u64 == 2 * MIB || memory.theirs.probes > 0
        });
        let status = rig.transport.status(stream).unwrap();
        let bound = u64::from(small_buffers().receive_buffer_bytes);
        assert!(status.readable_bytes > 0 && status.readable_bytes <= bound, "{status:?}");
        assert!(!status.end_of_stream);
        let placed = rig.memory(stream).received.len();
        // The probe may carry a byte.
        assert!(placed as u64 <= bound + 1, "{placed} bytes came past a closed window");
        rig.drain_nothing = false;
        rig.run();
        let status = rig.transport.status(stream).unwrap();
        assert!(status.end_of_stream && status.unacknowledged_bytes == 0, "{status:?}");
    });
}

#[test]
fn peer_that_stops_reading_stalls_application() {
    on_both(|rig| {
        let script = Script { receive_bytes_max: Some(1000), ..sending(0, 0) };
        let stream = establish(rig, script);
        rig.converse(stream, (6, 64 * MIB), (0, 0));
        // Our side probes once all that was sent is acknowledged: nothing gives it room any more.
        rig.run_until(|rig| {
            let received = rig.peer.conversations()[0].received_bytes;
            received > 1000 || rig.memory(stream).ours.probes > 0
        });
        let mut fed = 0;
        loop {
            match rig.transport.feed(stream, MIB).unwrap() {
                0 => break,
                bytes => fed += bytes,
            }
            assert!(fed < 64 * MIB, "a stack that is never full");
        }
        let status = rig.transport.status(stream).unwrap();
        assert!(status.unacknowledged_bytes > 0, "{status:?}");
        assert_eq!(rig.peer.conversations()[0].received_bytes, 1000);
    });
}

#[test]
fn a_refused_connection_tells_its_error() {
    on_both(|rig| {
        let stream = rig.transport.connect(address(PEER, false, 9), None).unwrap();
        let status = rig.transport.status(stream).unwrap();
        assert_eq!(status.state, StreamState::Connecting);
        assert!(!status.end_of_stream, "{status:?}");
        assert_eq!(rig.transport.feed(stream, 100).unwrap(), 0);
        assert_eq!(rig.transport.drain(stream, 100).unwrap().bytes, 0);
        rig.run_until(|rig| rig.transport.status(stream).unwrap().state == StreamState::Closed);
        let status = rig.transport.status(stream).unwrap();
        assert_eq!(status.error, Some(CONNECTION_REFUSED));
        assert!(!status.end_of_stream, "{status:?}");
        rig.transport.close(stream).unwrap();
        assert!(matches!(
            rig.transport.status(stream),
            Err(TransportError::UnknownStream(unknown)) if unknown == stream
        ));
    });
}

#[test]
fn port_without_listener_refuses_peer() {
    on_both(|rig| {
        for ipv6 in [false, true] {
            rig.peer.connect(address(US, ipv6, 9), sending(1000, 5)).unwrap();
        }
        rig.run_until(|rig| rig.peer.conversations().iter().all(has_ended));
        for conversation in rig.peer.conversations() {
            let refused = [CONNECTION_REFUSED, CONNECTION_RESET].map(Progress::Failed);
            assert!(refused.contains(&conversation.progress), "{conversation:?}");
        }
    });
}

#[test]
fn half_close_before_handshake_still_receives() {
    on_both(|rig| {
        let stream = connect(rig, true, sending(MIB, 5));
        rig.converse(stream, (0, 0), (5, MIB));
        rig.transport.finish(stream).unwrap();
        rig.run();
        assert!(rig.transport.feed(stream, 1).is_err());
    });
}

/// RFC 9293, figure 13: each end sends its FIN before it has the other's.
#[test]
fn stream_ends_when_both_ends_finish() {
    on_both(|rig| {
        rig.held = Some(Vec::new());
        let stream = connect(rig, false, sending(0, 5));
        // It is sent with the end of the handshake, and the peer sends its own for lack of it.
        rig.transport.finish(stream).unwrap();
        rig.run_until(|rig| rig.transport.status(stream).unwrap().end_of_stream);
        let status = rig.transport.status(stream).unwrap();
        assert_eq!((status.state, status.error), (StreamState::Open, None));
        let drained = rig.transport.drain(stream, 1).unwrap();
        assert_eq!((drained.bytes, drained.end_of_stream), (0, true));
        let held = rig.held.take().unwrap();
        assert!(!held.is_empty());
        held.into_iter().for_each(|frame| rig.to_peer.push(frame));
        rig.run_until(|rig| rig.transport.status(stream).unwrap().state == StreamState::Closed);
        rig.run_until(|rig| has_ended(&rig.peer.conversations()[0]));
        assert_eq!(rig.peer.conversations()[0].progress, Progress::Finished);
        let status = rig.transport.status(stream).unwrap();
        assert!(status.end_of_stream && status.error.is_none(), "{status:?}");
    });
}

#[test]
fn an_abort_resets_the_peer() {
    on_both(|rig| {
        let stream = establish(rig, sending(MIB, 5));
        rig.transport.abort(stream).unwrap();
        rig.run_until(|rig| has_ended(&rig.peer.conversations()[0]));
        assert_eq!(rig.peer.conversations()[0].progress, Progress::Failed(CONNECTION_RESET));
    });
}

#[test]
fn close_with_unread_bytes_resets_peer() {
    on_both(|rig| {
        let stream = establish(rig, sending(1000, 5));
        rig.run_until(|rig| rig.transport.status(stream).unwrap().readable_bytes == 1000);
        rig.transport.close(stream).unwrap();
        rig.run_until(|rig| has_ended(&rig.peer.conversations()[0]));
        assert_eq!(rig.peer.conversations()[0].progress, Progress::Failed(CONNECTION_RESET));
    });
}

#[test]
fn stream_changes_are_events() {
    on_both(|rig| {
        let listener = rig.transport.listen(address(US, false, 5002)).unwrap();
        while rig.transport.poll_event().unwrap().is_some() {}
        rig.peer.connect(address(US, false, 5002), sending(1000, 5)).unwrap();
        rig.run_until(|rig| rig.events.contains(&Event::Incoming(listener)));
        let stream = rig.transport.accept(listener).unwrap().unwrap();
        rig.run_until(|rig| rig.transport.status(stream).unwrap().readable_bytes == 1000);
        assert_eq!(rig.transport.drain(stream, 10_000).unwrap().bytes, 1000);
        while rig.transport.poll_event().unwrap().is_some() {}
        rig.transport.finish(stream).unwrap();
        rig.transport.close_listener(listener).unwrap();
        rig.run_until(|rig| has_ended(&rig.peer.conversations()[0]));
        assert_eq!(rig.peer.conversations()[0].progress, Progress::Finished);
    });
}

#[test]
fn header_with_false_length_is_refused() {
    on_both(|rig| {
        let mut header = vec![2, 0, 0, 0, 0, US, 2, 0, 0, 0, 0, PEER, 8, 0];
        header.extend([0x45, 0, 0, 140, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 77, 0, 2, 10, 77, 0, 1]);
        header.extend([0, 9, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
        assert!(matches!(
            rig.transport.deliver(&header, 99),
            Err(TransportError::Header(HeaderError::PayloadLength { announced: 100, given: 99 }))
        ));
        header.push(0);
        assert!(rig.transport.deliver(&header, 99).is_err(), "a payload byte in the header");
        header.truncate(50);
        assert!(matches!(
            rig.transport.deliver(&header, 100),
            Err(TransportError::Header(HeaderError::Truncated { bytes: 50, layer: "TCP" }))
        ));
        assert_eq!(rig.transport.counters().receive_headers, 0);
    });
}

fn has_ended(conversation: &Conversation) -> bool {
    conversation.progress != Progress::Running
}
