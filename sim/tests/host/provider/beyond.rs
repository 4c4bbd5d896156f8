//! Connections for which the flow table has no flow left: everything is copied, nothing is refused.

use host::driver::bus::{Bus, MemoryKind};
use host::driver::rings::RingSizes;
use host::error::region::RegionError;
use host::error::HostError;
use host::provider::{ApplicationId, Completion, ConnectionId, RegionId};
use host::transport::peer::{digest_of, Progress, RandomBytes, Script, WirePeer};
use lab::golden_card::Withheld;
use lab::network_side::NetworkSide;

use crate::provider::calls::peer_address;
use crate::provider::owners::harmed::{harm_application, Harm};
use crate::provider::rig::{
    assert_clean, golden, prompt, received_completion, sent_completion, verilated_rig, GoldenRig,
    Rig,
};

const FIRST: ApplicationId = ApplicationId::FIRST;
const DRAM: MemoryKind = MemoryKind::Application;
/// Flows of the small card but for the one that a shard keeps.
const FLOWS: usize = 63;
const PORT: u16 = 5001;
const PEER_SEED: u64 = 7;

fn open<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>, of: ApplicationId) -> ConnectionId {
    let id = rig.machine.host.connect(of, peer_address(PORT)).expect("it starts");
    rig.completion(|c| *c == Completion::Opened(id));
    id
}

/// Opens as many connections as the table has flows; their peer sends and receives `bytes`.
fn full<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>, bytes: u32) -> Vec<ConnectionId> {
    let script = Script { send_bytes: bytes.into(), seed: PEER_SEED, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(PORT), script).expect("a port");
    let ids: Vec<_> = (0..FLOWS).map(|_| open(rig, FIRST)).collect();
    assert_eq!(rig.machine.host.counters().unplaced_connections, 0);
    ids
}

/// Sends and receives `bytes` on a connection, in several requests, then both ends end it.
struct Talk {
    id: ConnectionId,
    region: RegionId,
    seed: u64,
    bytes: u32,
}

/// Requests of a talk in each direction.
const REQUESTS: u32 = 5;

impl Talk {
    fn start<B: Bus, C: NetworkSide>(
        rig: &mut Rig<B, C>,
        (of, id): (ApplicationId, ConnectionId),
        bytes: u32,
    ) -> Self {
        let provider = &mut rig.machine.host;
        let region = provider.register(of, DRAM, 2 * bytes as usize);
        let region = region.expect("room");
        let seed = 100 + u64::from(id.0);
        let mut payload = vec![0; bytes as usize];
        RandomBytes::new(seed).fill(&mut payload);
        provider.map(region).expect("it maps").write(0, &payload);
        for request in 0..REQUESTS {
            let (from, to) = (at(bytes, request), at(bytes, request + 1));
            let (offset, length) = (u64::from(from), to - from);
            provider.send(id, region.span(offset, length), request.into()).expect("a request");
            let offset = u64::from(bytes) + offset;
            provider.recv(id, region.span(offset, length), request.into()).expect("a request");
        }
        provider.finish(id).expect("it is open");
        Self { id, region, seed, bytes }
    }

    /// Waits for all completions; every byte that came is right.
    fn end<B: Bus, C: NetworkSide>(&self, rig: &mut Rig<B, C>) {
        for request in 0..REQUESTS {
            let length = at(self.bytes, request + 1) - at(self.bytes, request);
            rig.completion(|c| *c == received_completion(self.id, request.into(), length));
            rig.completion(|c| *c == sent_completion(self.id, request.into()));
        }
        rig.completion(|c| *c == Completion::EndOfStream(self.id));
        let memory = rig.machine.host.map(self.region).expect("it maps");
        let (mut found, mut expected) =
            (vec![0; self.bytes as usize], vec![0; self.bytes as usize]);
        memory.read(self.bytes as usize, &mut found);
        RandomBytes::new(PEER_SEED).fill(&mut expected);
        assert!(found == expected, "{:?}: a byte in the wrong place", self.id);
    }

    /// The peer has received what was sent.
    fn check_arrived<B: Bus, C: NetworkSide>(&self, rig: &mut Rig<B, C>) {
        let digest = digest_of(self.seed, self.bytes.into());
        rig.until("the peer's end", |rig| {
            let all = rig.machine.peer.conversations();
            let mut ended = all.iter().filter(|c| c.progress == Progress::Finished);
            ended.any(|c| c.received_digest == digest)
        });
    }
}

/// Stream offset of the first byte of a request.
fn at(bytes: u32, request: u32) -> u32 {
    (u64::from(bytes) * u64::from(request) / u64::from(REQUESTS)) as u32
}

/// Some connections more than the table has flows, beside one that has a flow. What is on its way
/// in every 50th round is lost, if `is_lossy`.
fn exchange<B: Bus, C: NetworkSide>(
    rig: &mut Rig<B, C>,
    (more, bytes): (usize, u32),
    is_lossy: bool,
) {
    let ids = full(rig, bytes);
    let mut talkers: Vec<_> = (0..more).map(|_| open(rig, FIRST)).collect();
    assert_eq!(rig.machine.host.counters().unplaced_connections, more as u64);
    talkers.push(ids[0]);
    let before_bytes = rig.machine.host.counters().copied_payload_bytes;
    let talks: Vec<_> =
        talkers.into_iter().map(|id| Talk::start(rig, (FIRST, id), bytes)).collect();
    let mut rounds = 0;
    let ends = 2 * talks.len() * REQUESTS as usize;
    rig.until("all requests", |rig| {
        rounds += 1;
        rig.cut = is_lossy && rounds % 50 == 0;
        let is_end =
            |c: &&Completion| matches!(c, Completion::Received { .. } | Completion::Sent { .. });
        rig.completions.iter().filter(is_end).count() == ends
    });
    rig.cut = false;
    for talk in &talks {
        talk.end(rig);
        talk.check_arrived(rig);
    }
    // Both directions, and what was lost and came again.
    let copied_bytes = rig.machine.host.counters().copied_payload_bytes - before_bytes;
    assert!(copied_bytes >= 2 * more as u64 * u64::from(bytes), "{copied_bytes}");
    for talk in &talks {
        rig.machine.host.close(talk.id).expect("it closes");
        rig.completion(|c| *c == Completion::Closed(talk.id));
    }
}

#[test]
fn connections_beyond_table_exchange_every_byte() {
    exchange(&mut golden(), (5, 300_000), false);
}

#[test]
fn verilated_connections_beyond_table_exchange_bytes() {
    let mut rig = verilated_rig();
    exchange(&mut rig, (2, 40_000), false);
    assert_clean(&rig.machine.card);
}

/// The bounce region is filled several times.
#[test]
fn long_stream_wraps_the_bounce_region() {
    exchange(&mut golden(), (1, 5_000_000), false);
}

#[test]
fn loss_beyond_the_table_is_repeated() {
    exchange(&mut golden(), (2, 400_000), true);
}

#[test]
fn freed_flow_is_used_again() {
    // What arrives while a card takes its time is copied, too.
    let mut rig = prompt();
    let ids = full(&mut rig, 10_000);
    let beyond = open(&mut rig, FIRST);
    rig.machine.host.close(ids[3]).expect("it closes");
    rig.completion(|c| *c == Completion::Closed(ids[3]));
    let next = open(&mut rig, FIRST);
    assert_eq!(rig.machine.host.counters().unplaced_connections, 1);
    let talk = Talk::start(&mut rig, (FIRST, next), 10_000);
    talk.end(&mut rig);
    assert_eq!(rig.machine.host.counters().copied_payload_bytes, 0);
    // The other one stays where it is.
    let talk = Talk::start(&mut rig, (FIRST, beyond), 10_000);
    talk.end(&mut rig);
    talk.check_arrived(&mut rig);
    assert_eq!(rig.machine.host.counters().copied_payload_bytes, 20_000);
}

/// Each shard has a bounce flow of its own, whose region no application can name.
#[test]
fn shards_bounce_apart() {
    bounce_apart(&mut golden(), 0);
}

/// A harmed shard whose connections have ended holds its bounce flow, and nothing else.
#[test]
fn shards_bounce_beside_harmed_one() {
    for harm in Harm::ALL.into_iter().filter(|harm| harm.ends_connections()) {
        let mut rig = golden();
        harm_application(&mut rig, harm).ends(&mut rig);
        bounce_apart(&mut rig, 1);
    }
}

/// `harmed` flows are somebody else's, and the regions that are there.
fn bounce_apart(rig: &mut GoldenRig, harmed: usize) {
    let others: Vec<u16> =
        (0..64).filter(|index| rig.machine.host.memory(RegionId(*index)).is_ok()).collect();
    let shard = rig.machine.host.open_shard(RingSizes::default());
    let other = rig.machine.host.open_application(shard.expect("an owner")).expect("a domain");
    full_but(rig, 1 + harmed);
    let users = [FIRST, other, other];
    let talks = users.map(|of| {
        let id = open(rig, of);
        Talk::start(rig, (of, id), 100_000)
    });
    assert_eq!(rig.machine.host.counters().unplaced_connections, 3);
    for talk in &talks {
        talk.end(rig);
        talk.check_arrived(rig);
    }
    for region in 0..64 {
        let is_a_talks = talks.iter().any(|talk| talk.region.0 == region);
        let is_lent = is_a_talks || others.contains(&region);
        assert_eq!(rig.machine.host.memory(RegionId(region)).is_ok(), is_lent, "region {region}");
    }
    let refused = rig.machine.host.deregister(RegionId(first_bounce(&talks, &others)));
    assert!(matches!(refused, Err(HostError::Region(RegionError::UnknownRegion(_)))));
}

/// Opens all but `less` of the connections that have flows.
fn full_but(rig: &mut GoldenRig, less: usize) {
    let script = Script { send_bytes: 100_000, seed: PEER_SEED, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(PORT), script).expect("a port");
    for _ in 0..FLOWS - less {
        open(rig, FIRST);
    }
}

/// Index of the first region that is no talk's and not lent otherwise.
fn first_bounce(talks: &[Talk], others: &[u16]) -> u16 {
    let is_free =
        |index: &u16| !others.contains(index) && talks.iter().all(|talk| talk.region.0 != *index);
    (0..64).find(is_free).expect("one of a shard")
}

/// The card takes nothing of a shard whose connections are all beyond the table, until their region
/// is full: the other shard goes on, and they do when the card takes what they sent.
#[test]
fn full_bounce_region_blocks_no_shard() {
    /// Together they have more under way than the region holds.
    const MANY: usize = 45;
    const SENT: u32 = 60_000;
    let mut rig = golden();
    let rings = RingSizes { send_bits: 12, ..RingSizes::default() };
    let shard = rig.machine.host.open_shard(rings).expect("an owner");
    let other = rig.machine.host.open_application(shard).expect("a domain");
    // One is left for the talk of the first shard.
    full_but(&mut rig, 2);
    let talker = open(&mut rig, FIRST);
    let region = rig.machine.host.register(other, DRAM, SENT as usize).expect("room");
    let ids = (0..MANY).map(|_| open(&mut rig, other)).collect::<Vec<_>>();
    assert_eq!(rig.machine.host.counters().unplaced_connections, MANY as u64);
    // A TCP that has just begun sends little at once.
    for id in &ids {
        rig.machine.host.send(*id, region.span(0, SENT), 8).expect("a request");
    }
    for id in &ids {
        rig.completion(|c| *c == sent_completion(*id, 8));
    }
    rig.machine.card.borrow_mut().withhold(Some(Withheld::SendsOf(shard.0)));
    for id in &ids {
        rig.machine.host.send(*id, region.span(0, SENT), 9).expect("a request");
    }
    rig.until("a full region", |rig| rig.machine.host.counters().unsent_headers > 0);
    let talk = Talk::start(&mut rig, (FIRST, talker), 100_000);
    talk.end(&mut rig);
    talk.check_arrived(&mut rig);
    rig.machine.card.borrow_mut().withhold(None);
    for id in &ids {
        rig.completion(|c| *c == sent_completion(*id, 9));
    }
}
