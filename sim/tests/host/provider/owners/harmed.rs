//! An application whose rings stop, whose commands are refused, or whose queue stays full: the
//! others go on as if it were not there, and it goes on when its rings are started again.
//!
//! ```text
//!   shard of the harmed: connections with bytes under way ── harm ─► failed, or still waiting
//!   every other shard:   all bytes, exactly, and a thread that may sleep
//! ```

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use abi::registers as r;
use host::driver::bus::{Bus, MemoryKind};
use host::driver::error::DriverError;
use host::driver::rings::RingSizes;
use host::error::application::ApplicationError;
use host::error::HostError;
use host::provider::{ApplicationId, Completion, ConnectionId, RegionId, ShardId};
use host::records::commands::{flow_remove, FlowName};
use host::transport::peer::{digest_of, Progress, RandomBytes, Script, WirePeer};
use lab::golden_card::{GoldenCard, RingKind, Withheld};
use lab::network_side::NetworkSide;

use crate::provider::calls::peer_address;
use crate::provider::rig::{
    assert_clean, failure, golden, received_completion, sent_completion, verilated_rig, GoldenRig,
    Rig,
};

const FIRST: ApplicationId = ApplicationId::FIRST;
const DRAM: MemoryKind = MemoryKind::Application;
/// Port of the peer that the harmed application talks to, and those of the others.
const HARMED_PORT: u16 = 5999;
const PORT: u16 = 5998;
const PEER_SEED: u64 = 11;
/// Connections of the harmed: together they have more under way than its send ring holds.
const HARMED: usize = 4;
const HARMED_BYTES: u32 = 200_000;
const BYTES: u32 = 150_000;

/// What becomes of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// A command ring that cannot be read.
    Commands,
    /// A send ring that cannot be read.
    Sends,
    /// Its flows are removed behind its back: the card refuses its commands.
    Refused,
    /// The card takes nothing out of its send ring.
    Full,
}

impl Harm {
    pub const ALL: [Self; 4] = [Self::Commands, Self::Sends, Self::Refused, Self::Full];

    /// Whether its connections fail.
    pub fn ends_connections(self) -> bool {
        self != Self::Full
    }
}

/// The harmed application.
pub struct Harmed {
    pub shard: ShardId,
    pub application: ApplicationId,
    pub ids: Vec<ConnectionId>,
}

fn connect<B: Bus, C: NetworkSide>(
    rig: &mut Rig<B, C>,
    of: ApplicationId,
    port: u16,
) -> ConnectionId {
    let id = rig.machine.host.connect(of, peer_address(port)).expect("it starts");
    rig.completion(|c| *c == Completion::Opened(id));
    id
}

/// Opens a shard and an application that sends and receives on several connections, and harms it
/// while bytes are under way. Returns at once: what follows of it is noticed while others go on.
pub fn harm_application(rig: &mut GoldenRig, harm: Harm) -> Harmed {
    let script =
        Script { send_bytes: HARMED_BYTES.into(), seed: PEER_SEED, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(HARMED_PORT), script).expect("a port");
    let rings = RingSizes { send_bits: 3, ..RingSizes::default() };
    let shard = rig.machine.host.open_shard(rings).expect("an owner");
    let application = rig.machine.host.open_application(shard).expect("a domain");
    let bytes = HARMED_BYTES as usize;
    let region = rig.machine.host.register(application, DRAM, 2 * bytes).expect("room");
    let ids = (0..HARMED).map(|_| connect(rig, application, HARMED_PORT)).collect::<Vec<_>>();
    let half = HARMED_BYTES / 2;
    for id in &ids {
        rig.machine.host.recv(*id, region.span(0, half), 1).expect("a request");
        rig.machine
            .host
            .send(*id, region.span(u64::from(HARMED_BYTES), half), 2)
            .expect("a request");
    }
    // As long as a request takes at most: what is posted next is under way when it is harmed.
    (0..20).for_each(|_| rig.step());
    let owner = shard.0;
    match harm {
        Harm::Commands => rig.machine.card.borrow_mut().make_unreadable(owner, RingKind::Command),
        Harm::Sends => rig.machine.card.borrow_mut().make_unreadable(owner, RingKind::Send),
        Harm::Full => rig.machine.card.borrow_mut().withhold(Some(Withheld::SendsOf(owner))),
        Harm::Refused => {
            for id in &ids {
                let name = FlowName { flow: id.0 as u16, generation: 1 };
                rig.machine.host.device().command(flow_remove(name));
            }
        }
    }
    for id in &ids {
        rig.machine.host.recv(*id, region.span(u64::from(half), half), 3).expect("a request");
        rig.machine
            .host
            .send(*id, region.span(u64::from(HARMED_BYTES), half), 4)
            .expect("a request");
    }
    Harmed { shard, application, ids }
}

impl Harmed {
    /// Its connections have failed and are closed.
    pub fn ends<B: Bus, C: NetworkSide>(&self, rig: &mut Rig<B, C>) {
        for id in &self.ids {
            rig.completion(|c| failure(c, *id) == Some(libc::EIO));
            rig.completion(|c| *c == Completion::Closed(*id));
        }
    }
}

/// A connection that sends and receives [`BYTES`], exactly.
pub fn talk<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>, of: ApplicationId, port: u16) {
    let script = Script { send_bytes: BYTES.into(), seed: PEER_SEED, receive_bytes_max: None };
    // Another talk may have made the peer listen.
    let _ = rig.machine.peer.listen(peer_address(port), script);
    let id = connect(rig, of, port);
    let region = rig.machine.host.register(of, DRAM, 2 * BYTES as usize).expect("room");
    let seed = 77 + u64::from(id.0);
    let mut payload = vec![0; BYTES as usize];
    RandomBytes::new(seed).fill(&mut payload);
    rig.machine.host.map(region).expect("it maps").write(0, &payload);
    rig.machine.host.send(id, region.span(0, BYTES), 1).expect("a request");
    rig.machine.host.recv(id, region.span(BYTES.into(), BYTES), 2).expect("a request");
    rig.machine.host.finish(id).expect("it is open");
    rig.completion(|c| *c == sent_completion(id, 1));
    rig.completion(|c| *c == received_completion(id, 2, BYTES));
    rig.completion(|c| *c == Completion::EndOfStream(id));
    check(rig, region, seed);
    rig.machine.host.close(id).expect("it closes");
    rig.completion(|c| *c == Completion::Closed(id));
    rig.machine.host.deregister(region).expect("it goes");
}

fn check<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>, region: RegionId, seed: u64) {
    let memory = rig.machine.host.map(region).expect("it maps");
    let (mut found, mut expected) = (vec![0; BYTES as usize], vec![0; BYTES as usize]);
    memory.read(BYTES as usize, &mut found);
    RandomBytes::new(PEER_SEED).fill(&mut expected);
    assert!(found == expected, "a byte in the wrong place");
    let digest = digest_of(seed, BYTES.into());
    rig.until("the peer's end", |rig| {
        let all = rig.machine.peer.conversations();
        let mut ended = all.iter().filter(|c| c.progress == Progress::Finished);
        ended.any(|c| c.received_digest == digest)
    });
}

/// Nothing is under way any more, and a thread may sleep.
fn may_sleep<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>) {
    rig.until("a sleep", |rig| rig.machine.host.device().arm().expect("it arms"));
}

#[test]
fn shard_continues_beside_harmed_one() {
    for harm in Harm::ALL {
        println!("{harm:?}");
        let mut rig = golden();
        let harmed = harm_application(&mut rig, harm);
        talk(&mut rig, FIRST, PORT);
        if harm.ends_connections() {
            harmed.ends(&mut rig);
            talk(&mut rig, FIRST, PORT);
            may_sleep(&mut rig);
        }
    }
}

/// The card says nothing by itself: what hangs on a ring that has stopped ends in milliseconds of
/// the card's time, however many polls these are.
#[test]
fn stopped_rings_dependents_end_in_time() {
    for harm in [Harm::Commands, Harm::Sends] {
        let mut rig = golden();
        let harmed = harm_application(&mut rig, harm);
        let begun = rig.machine.host.device().bus().now();
        harmed.ends(&mut rig);
        let took = rig.machine.host.device().bus().now() - begun;
        assert!(took.as_millis() < 5, "{harm:?}: {took:?}");
    }
}

/// The card raises no interrupt for it: the sleeper looks when its time is over, each time.
#[test]
fn ring_stopping_during_sleep_is_noticed() {
    for harm in [Harm::Commands, Harm::Sends] {
        let mut rig = golden();
        let harmed = harm_application(&mut rig, harm);
        let (mut failed, mut sleeps) = (0, 0);
        while failed < harmed.ids.len() {
            assert!(sleeps < 1000, "{harm:?}: {failed} failed");
            rig.machine.host.wait(Duration::from_millis(1)).expect("it waits");
            rig.step();
            let known = |id: &ConnectionId| {
                rig.completions.iter().any(|c| failure(c, *id) == Some(libc::EIO))
            };
            failed = harmed.ids.iter().filter(|id| known(id)).count();
            sleeps += 1;
        }
        println!("{harm:?}: noticed after {sleeps} sleeps");
        may_sleep(&mut rig);
    }
}

/// Until then nobody begins anything there, and nothing else ends.
#[test]
fn shard_with_stopped_ring_restarts() {
    for harm in [Harm::Commands, Harm::Sends] {
        let mut rig = golden();
        let harmed = harm_application(&mut rig, harm);
        let Harmed { shard, application, ids } = &harmed;
        let busy = rig.machine.host.restart_shard(*shard);
        let connections = ids.len();
        match busy {
            Err(HostError::Application(ApplicationError::ShardBusy {
                connections: found, ..
            })) => assert_eq!(found, connections),
            other => panic!("{other:?}"),
        }
        harmed.ends(&mut rig);
        let refused = rig.machine.host.connect(*application, peer_address(PORT));
        assert!(
            matches!(
                refused,
                Err(HostError::Driver(DriverError::RingStopped { owner, .. })) if owner == shard.0
            ),
            "{refused:?}"
        );
        let lost = rig.machine.host.restart_shard(*shard).expect("it restarts");
        println!("{harm:?}: {lost:?}");
        assert!(if harm == Harm::Commands { lost.commands } else { lost.sends } > 0);
        for _ in 0..2 {
            talk(&mut rig, *application, PORT);
            talk(&mut rig, FIRST, PORT);
        }
        may_sleep(&mut rig);
    }
}

/// A wrong index stops a ring of the card itself, too.
fn stop_by_index<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>, owner: u8, doorbell: u32) {
    let page = r::DOORBELLS + u32::from(owner) * r::DOORBELL_STRIDE;
    let bus = rig.machine.host.device().bus();
    bus.write_register(page + doorbell, 1 << 30).expect("a doorbell");
}

fn restarts<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>) {
    let shard = rig.machine.host.open_shard(RingSizes::default()).expect("an owner");
    let application = rig.machine.host.open_application(shard).expect("a domain");
    for doorbell in [r::DOORBELL_SEND, r::DOORBELL_COMMAND] {
        let script = Script { send_bytes: 0, seed: 1, receive_bytes_max: None };
        let _ = rig.machine.peer.listen(peer_address(HARMED_PORT), script);
        let id = connect(rig, application, HARMED_PORT);
        let region = rig.machine.host.register(application, DRAM, 4096).expect("room");
        rig.steps(5);
        stop_by_index(rig, shard.0, doorbell);
        // The next doorbell does not take its place.
        rig.steps(100);
        rig.machine.host.send(id, region.span(0, 4096), 1).expect("a request");
        Harmed { shard, application, ids: vec![id] }.ends(rig);
        rig.machine.host.restart_shard(shard).expect("it restarts");
        talk(rig, application, PORT);
        talk(rig, FIRST, PORT);
    }
    may_sleep(rig);
}

#[test]
fn ring_stopped_by_index_is_restarted() {
    restarts(&mut golden());
}

#[test]
fn stopped_verilated_ring_is_restarted() {
    let mut rig = verilated_rig();
    restarts(&mut rig);
    assert_clean(&rig.machine.card);
}

/// Pieces of control memory that a golden card reaches.
fn control(card: &Rc<RefCell<GoldenCard>>) -> usize {
    card.borrow().control_pieces()
}

/// The memory of a closed shard comes back, and its number is the next one's.
#[test]
fn closed_shard_returns_its_memory() {
    for harm in [None, Some(Harm::Commands), Some(Harm::Sends)] {
        let mut rig = golden();
        let before = control(&rig.machine.card);
        let (shard, application) = match harm {
            Some(harm) => {
                let harmed = harm_application(&mut rig, harm);
                harmed.ends(&mut rig);
                (harmed.shard, harmed.application)
            }
            None => {
                let shard = rig.machine.host.open_shard(RingSizes::default()).expect("an owner");
                (shard, rig.machine.host.open_application(shard).expect("a domain"))
            }
        };
        assert_eq!(control(&rig.machine.card), before + 6);
        let busy = rig.machine.host.close_shard(shard);
        assert!(
            matches!(
                busy,
                Err(HostError::Application(ApplicationError::ShardBusy { applications: 1, .. }))
            ),
            "{busy:?}"
        );
        if harm.is_some() {
            rig.machine.host.deregister(RegionId(0)).expect("it goes");
            rig.steps(20);
        }
        rig.machine.host.close_application(application).expect("nothing is left");
        rig.machine.host.close_shard(shard).expect("it closes");
        let gone = rig.machine.host.open_application(shard);
        assert!(
            matches!(gone, Err(HostError::Driver(DriverError::UnknownOwner { open: 2, .. }))),
            "{gone:?}"
        );
        rig.until("the memory", |rig| control(&rig.machine.card) == before);
        let again = rig.machine.host.open_shard(RingSizes::default()).expect("an owner");
        assert_eq!(again, shard);
        let application = rig.machine.host.open_application(again).expect("a domain");
        talk(&mut rig, application, PORT);
        talk(&mut rig, FIRST, PORT);
        may_sleep(&mut rig);
    }
}
