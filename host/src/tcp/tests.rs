//! What does not need a card: link addresses, ports, and who waits for whom.

use std::net::Ipv4Addr;

use super::neighbours::FRAMES_MAX;
use super::*;
use crate::transport::Tuning;

const SECOND_NS: u64 = 1_000_000_000;
const ETHERTYPE_ARP: [u8; 2] = [8, 6];

/// A send ring with so much room.
#[derive(Default)]
struct Ring {
    room: usize,
    sent: Vec<Vec<u8>>,
}

impl HeaderSink for Ring {
    fn has_room(&self) -> bool {
        self.sent.len() < self.room
    }

    fn send(&mut self, header: &OutgoingHeader<'_>) -> Result<()> {
        self.sent.push(header.bytes.to_vec());
        Ok(())
    }
}

fn protocol() -> TcpProtocol {
    let link = LinkConfig::lab(1, 1500, Tuning::SIMULATION);
    TcpProtocol::new(&link, Config::default(), Secret([7; 32]))
}

fn transmit(tcp: &mut TcpProtocol, now_ns: u64, room: usize) -> Vec<Vec<u8>> {
    let mut ring = Ring { room, ..Ring::default() };
    tcp.transmit(now_ns, &mut ring).expect("it sends");
    ring.sent
}

fn is_arp(frame: &[u8]) -> bool {
    frame[12..14] == ETHERTYPE_ARP
}

/// Host 10.77.0.`number` says something by ARP: 1 asks for us, 2 answers us.
fn arp(number: u8, operation: u8) -> Vec<u8> {
    let (us, they) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, number]);
    let mut frame = [&us[..], &they, &ETHERTYPE_ARP, &[0, 1, 8, 0, 6, 4, 0, operation]].concat();
    frame.extend([&they[..], &[10, 77, 0, number], &us, &[10, 77, 0, 1]].concat());
    frame.resize(60, 0);
    frame
}

fn connect(tcp: &mut TcpProtocol, now_ns: u64, flow: u16, host: u8) {
    let remote = SocketAddr::from((Ipv4Addr::new(10, 77, 0, host), 80));
    let options = ConnectOptions::default();
    tcp.connect(now_ns, FlowIndex(flow), remote, &options).expect("a port");
}

#[test]
fn endless_questions_fill_no_memory() {
    let mut tcp = protocol();
    (0..10_000).for_each(|_| tcp.arrive_frame(0, &arp(9, 1)).expect("it is taken"));
    let sent = transmit(&mut tcp, 0, usize::MAX);
    assert_eq!(sent.len(), FRAMES_MAX);
    assert!(sent.iter().all(|frame| is_arp(frame)));
}

/// A ring that takes one header at a time, and more to send than that.
#[test]
fn question_is_answered_before_other_sends() {
    let mut tcp = protocol();
    tcp.arrive_frame(0, &arp(9, 1)).expect("it is taken");
    transmit(&mut tcp, 0, 1);
    (0..10).for_each(|flow| connect(&mut tcp, 0, flow, 9));
    assert!(!is_arp(&transmit(&mut tcp, 0, 1)[0]), "a SYN");
    tcp.arrive_frame(0, &arp(8, 1)).expect("it is taken");
    assert!(is_arp(&transmit(&mut tcp, 0, 1)[0]), "the answer");
}

/// The ring is full when a host is asked for: nothing else wakes whoever sleeps.
#[test]
fn question_waiting_for_room_is_due() {
    let mut tcp = protocol();
    tcp.arrive_frame(0, &arp(9, 1)).expect("it is taken");
    assert_eq!(transmit(&mut tcp, 0, 0), Vec::<Vec<u8>>::new());
    assert_eq!(tcp.deadline(), NextTimer::At(0));
}

/// More headers for hosts that nobody knows than wait at a time; one that answers is not held up.
#[test]
fn headers_for_absent_hosts_block_nobody() {
    let mut tcp = protocol();
    (0..PARKED_MAX as u16 + 6).for_each(|flow| connect(&mut tcp, 0, flow, 100 + flow as u8));
    for half_seconds in 0..120 {
        let now_ns = half_seconds * SECOND_NS / 2;
        tcp.advance(now_ns).expect("it acts");
        assert!(transmit(&mut tcp, now_ns, usize::MAX).iter().all(|frame| is_arp(frame)));
    }
    let now_ns = 60 * SECOND_NS;
    connect(&mut tcp, now_ns, 200, 2);
    let asked = transmit(&mut tcp, now_ns, usize::MAX);
    assert!(asked.iter().any(|frame| frame[38..42] == [10, 77, 0, 2]), "a question");
    tcp.arrive_frame(now_ns, &arp(2, 2)).expect("it is taken");
    let sent = transmit(&mut tcp, now_ns, usize::MAX);
    assert!(sent.iter().any(|frame| !is_arp(frame)), "the SYN");
}

/// A packet that nobody asked for changes no link address.
#[test]
fn unasked_answer_is_not_believed() {
    let mut tcp = protocol();
    tcp.arrive_frame(0, &arp(9, 2)).expect("it is taken");
    connect(&mut tcp, 0, 0, 9);
    assert!(transmit(&mut tcp, 0, usize::MAX).iter().all(|frame| is_arp(frame)));
}

#[test]
fn chosen_listener_port_is_free() {
    let mut tcp = protocol();
    let at = |port| SocketAddr::from((Ipv4Addr::new(10, 77, 0, 1), port));
    tcp.listen(at(PORT_FIRST)).expect("it is free");
    let chosen = tcp.listen(at(0)).expect("another one is free");
    let chosen = tcp.listener_address(chosen).expect("it listens");
    assert!(chosen.port() > PORT_FIRST, "{chosen}");
    assert!(matches!(
        tcp.listen(chosen),
        Err(HostError::Transport(TransportError::AddressInUse(taken))) if taken == chosen
    ));
}
