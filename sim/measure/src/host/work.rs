//! What the control stack is made to do, in batches: the card's part between the measured calls.
//!
//! ```text
//!   receive   64 packets offered ─► poll        ack taken    64 ACKs offered ─► polls
//!   send      ACKs offered ─► poll, 64 headers  ack written  64 ACKs due ─► poll
//! ```

use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use abi::config::DEFAULT;
use host::protocol::FlowIndex;
use thiserror::Error;

use super::error::{Result, StackError};
use super::meter::{Meter, Program};
use crate::null_card::order::Order;
use crate::null_card::rig::{CardSide, NullRig, RigConfig, RigError, FRAME_PAYLOAD_BYTES};
use crate::null_card::{NullCard, NullCounters};
use crate::timing::cores::Cores;

/// Packets, headers or ACKs of a batch: most headers that a provider takes in one poll.
pub const BATCH: usize = 64;
/// Receive buffers of a connection: length in bytes, count.
const RECEIVE_BUFFERS: (u32, usize) = (1 << 20, 4);
/// Send buffers of a connection.
const SEND_BUFFERS: usize = 4;
/// Payload of a message, bytes.
pub const MESSAGE_BYTES: u32 = 64;
/// Buffers of a connection that receives messages, or sends them: length in bytes of one that
/// receives, count.
const MESSAGE_BUFFERS: (u32, usize) = (2048, 4);
/// Payload of a descriptor of 64 KiB: whole frames, as TSO makes them.
const LONG_SEND_BYTES: u32 = 45 * FRAME_PAYLOAD_BYTES;
/// Polls within which a batch must be done.
const POLLS_MAX: usize = 16;
/// Polls that are timed together when nothing is to do.
const IDLE_POLLS: u64 = 256;

/// What a measurement has the rig do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Packets in order.
    Receive,
    /// Packets in order, every second one acknowledged by a header of its own.
    ReceiveOneAckForTwo,
    /// Packets in order, each acknowledged by a header of its own.
    ReceiveAckEach,
    /// Packets in order, 64 of a flow in a row.
    ReceiveBursts,
    /// Descriptors of 1448 bytes.
    Send,
    /// The same, 64 of a flow in a row.
    SendBursts,
    /// The same, each acknowledged by an ACK of its own.
    SendAckEach,
    /// Descriptors of 64 KiB.
    Send64k,
    /// Messages of 64 bytes, each a request of its own, whose buffer is posted again.
    ReceiveMessages,
    /// The same sent.
    SendMessages,
    /// ACKs of the peer.
    AckTaken,
    /// ACKs of the transport.
    AckWritten,
    /// Nothing.
    Idle,
}

impl Workload {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Receive,
        Self::ReceiveOneAckForTwo,
        Self::ReceiveAckEach,
        Self::ReceiveBursts,
        Self::Send,
        Self::SendBursts,
        Self::SendAckEach,
        Self::Send64k,
        Self::ReceiveMessages,
        Self::SendMessages,
        Self::AckTaken,
        Self::AckWritten,
        Self::Idle,
    ];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Receive => "receive",
            Self::ReceiveOneAckForTwo => "receive-one-ack-for-two",
            Self::ReceiveAckEach => "receive-ack-each",
            Self::ReceiveBursts => "receive-bursts",
            Self::Send => "send",
            Self::SendBursts => "send-bursts",
            Self::SendAckEach => "send-ack-each",
            Self::Send64k => "send-64k",
            Self::ReceiveMessages => "receive-messages",
            Self::SendMessages => "send-messages",
            Self::AckTaken => "ack-taken",
            Self::AckWritten => "ack-written",
            Self::Idle => "idle",
        }
    }

    fn send_bytes(self) -> u32 {
        match self {
            Self::Send64k => LONG_SEND_BYTES,
            Self::ReceiveMessages | Self::SendMessages => MESSAGE_BYTES,
            _ => FRAME_PAYLOAD_BYTES,
        }
    }

    /// Packets for each ACK of the host; `None` for one in a poll.
    fn segments_per_ack(self) -> Option<u32> {
        match self {
            Self::ReceiveAckEach => Some(1),
            Self::ReceiveOneAckForTwo => Some(2),
            _ => None,
        }
    }

    /// Packets or headers of a flow in a row.
    fn burst(self) -> usize {
        match self {
            Self::ReceiveBursts | Self::SendBursts => BATCH,
            _ => 1,
        }
    }

    /// Whether messages are the work.
    pub fn is_messages(self) -> bool {
        matches!(self, Self::ReceiveMessages | Self::SendMessages)
    }

    fn frame_bytes(self) -> u32 {
        match self.is_messages() {
            true => MESSAGE_BYTES,
            false => FRAME_PAYLOAD_BYTES,
        }
    }

    /// Receive buffers: length in bytes, count.
    fn receive_buffers(self) -> (u32, usize) {
        match self.is_messages() {
            true => MESSAGE_BUFFERS,
            false => RECEIVE_BUFFERS,
        }
    }

    /// Send buffers: length in bytes, count.
    fn send_buffers(self) -> (u32, usize) {
        match self {
            Self::SendMessages => (MESSAGE_BYTES, MESSAGE_BUFFERS.1),
            _ if self.is_send() => (BATCH as u32 * self.send_bytes(), SEND_BUFFERS),
            _ => (BATCH as u32 * self.send_bytes(), 0),
        }
    }

    /// Whether packets with payload are the work.
    pub fn is_receive(self) -> bool {
        matches!(
            self,
            Self::Receive
                | Self::ReceiveOneAckForTwo
                | Self::ReceiveAckEach
                | Self::ReceiveBursts
                | Self::ReceiveMessages
        )
    }

    /// Batches after which each flow has moved its floor, or has sent a whole buffer.
    pub fn warm_up_batches(self, flows: usize) -> usize {
        match self.is_send() || self.is_receive() {
            true => flows,
            false => 1,
        }
    }

    /// Whether descriptors with payload are the work.
    pub fn is_send(self) -> bool {
        matches!(
            self,
            Self::Send | Self::SendBursts | Self::SendAckEach | Self::Send64k | Self::SendMessages
        )
    }
}

/// A name that no workload has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no workload is called '{0}'")]
pub struct UnknownWorkload(String);

impl FromStr for Workload {
    type Err = UnknownWorkload;

    fn from_str(name: &str) -> Result<Self, UnknownWorkload> {
        let found = Self::ALL.into_iter().find(|work| work.name() == name);
        found.ok_or_else(|| UnknownWorkload(name.to_owned()))
    }
}

/// What a rig has for this work, with so many connections.
fn rig_config(work: Workload, flows: usize) -> RigConfig {
    RigConfig {
        card: DEFAULT,
        flows,
        send_bytes: work.send_bytes(),
        frame_bytes: work.frame_bytes(),
        segments_per_ack: work.segments_per_ack(),
        burst: work.burst() as u32,
        receive: work.receive_buffers(),
        partial: work.is_messages(),
        send: work.send_buffers(),
        apart: !work.is_messages(),
        reads: false,
        run_packets: 1,
    }
}

/// A rig at work.
pub struct Worker<C: CardSide = NullCard> {
    rig: NullRig<C>,
    /// Packets that are made ready together.
    ahead: usize,
}

impl Worker {
    /// A worker with so many connections, on a card in this process.
    pub fn open(work: Workload, flows: usize) -> Result<Self> {
        Ok(Self { rig: NullRig::open(rig_config(work, flows))?, ahead: BATCH })
    }
}

impl<C: CardSide> Worker<C> {
    /// The same on a card that is there.
    pub fn open_on(card: C, bus: C::Bus, work: Workload, flows: usize) -> Result<Self> {
        Ok(Self { rig: NullRig::open_on(card, bus, rig_config(work, flows))?, ahead: BATCH })
    }

    /// Polls once, measured.
    fn poll(&mut self, meter: &mut Meter) -> Result<()> {
        let (rig, mut result) = (&mut self.rig, Ok(false));
        meter.around(&mut || {
            result = rig.poll();
            *result.as_ref().unwrap_or(&true)
        });
        result?;
        Ok(())
    }

    /// From now on the card judges in [`Worker::judge`] alone, and has the packets of so many
    /// batches ready, as far as the windows take them: its tables and peers would empty the caches
    /// of the host between two batches, as no card does.
    pub fn judge_later(&mut self, work: Workload, flows: usize, batches: usize) -> Result<()> {
        // Where a message lies depends on the command for the one before.
        if work.is_messages() {
            return Ok(());
        }
        self.rig.order(Order::JudgeLater)?;
        if work.is_receive() {
            self.ahead = batches * BATCH;
            self.prepare(flows)?;
        }
        Ok(())
    }

    /// Has the card make packets ready.
    fn prepare(&mut self, flows: usize) -> Result<()> {
        let packets = self.ahead as u32;
        self.rig.order(Order::Prepare(packets, FRAME_PAYLOAD_BYTES, flows as u32))?;
        Ok(())
    }

    /// Has the card offer packets; how many the host took.
    fn offer(&mut self, packets: usize, bytes: u32, flows: usize) -> Result<usize> {
        let order = Order::Offer(packets as u32, bytes, flows as u32);
        Ok(self.rig.order(order)?.done as usize)
    }

    /// What the card has done.
    fn counters(&mut self) -> Result<NullCounters> {
        Ok(self.rig.order(Order::Count)?.counters)
    }

    /// Has the card judge what it has taken, and from now on what it takes.
    pub fn judge(&mut self) -> Result<()> {
        self.rig.order(Order::JudgeAtOnce)?;
        Ok(self.rig.step()?)
    }

    /// Works a batch off with the first `flows` connections. Returns what was worked off.
    pub fn batch(&mut self, work: Workload, flows: usize, meter: &mut Meter) -> Result<u64> {
        match work {
            Workload::Receive
            | Workload::ReceiveOneAckForTwo
            | Workload::ReceiveAckEach
            | Workload::ReceiveBursts => self.receive(flows, meter),
            Workload::ReceiveMessages => self.receive_messages(flows, meter),
            Workload::SendMessages => self.send(meter, true),
            Workload::Send | Workload::SendBursts | Workload::Send64k => self.send(meter, false),
            Workload::SendAckEach => self.send(meter, true),
            Workload::AckTaken => self.take_acks(meter),
            Workload::AckWritten => self.write_acks(meter),
            Workload::Idle => self.idle(meter),
        }
    }

    /// Allocations of one packet, header or ACK, over so many batches on so many flows, as this
    /// program counts them.
    pub fn allocations(
        &mut self,
        program: Program,
        (work, flows): (Workload, usize),
        batches: usize,
    ) -> Result<f64> {
        let (mut meter, mut items) = (Meter::Allocations(program, 0), 0);
        for _ in 0..batches {
            items += self.batch(work, flows, &mut meter)?;
        }
        match meter {
            Meter::Allocations(_, count) => Ok(count as f64 / items as f64),
            _ => Ok(0.0),
        }
    }

    fn receive(&mut self, flows: usize, meter: &mut Meter) -> Result<u64> {
        for _ in 0..POLLS_MAX {
            if self.rig.order(Order::Step)?.ready < BATCH as u64 {
                self.prepare(flows)?;
            }
            let offered = self.offer(BATCH, FRAME_PAYLOAD_BYTES, flows)?;
            self.poll(meter)?;
            if offered > 0 {
                return Ok(offered as u64);
            }
        }
        Err(stuck("packets", 0))
    }

    /// One message on each of so many flows, which take turns. None may be refused.
    fn receive_messages(&mut self, flows: usize, meter: &mut Meter) -> Result<u64> {
        let messages = flows.min(BATCH);
        self.rig.step()?;
        let offered = self.offer(messages, MESSAGE_BYTES, flows)?;
        if offered != messages {
            return Err(stuck("messages whose window is open", offered));
        }
        self.poll(meter)?;
        Ok(offered as u64)
    }

    /// Commands of the host so far.
    pub fn commands(&mut self) -> Result<u64> {
        Ok(self.counters()?.commands)
    }

    /// Commands of one message, over so many batches.
    pub fn commands_each(&mut self, work: Workload, flows: usize, batches: usize) -> Result<f64> {
        let (before, mut items) = (self.commands()?, 0);
        for _ in 0..batches {
            items += self.batch(work, flows, &mut Meter::Off)?;
        }
        self.rig.step()?;
        Ok((self.commands()? - before) as f64 / items as f64)
    }

    fn send(&mut self, meter: &mut Meter, ack_each: bool) -> Result<u64> {
        let before = self.counters()?.sends;
        for _ in 0..POLLS_MAX {
            self.rig.order(Order::Acknowledge(u32::MAX, ack_each))?;
            self.poll(meter)?;
            let sent = self.rig.order(Order::Step)?.counters.sends - before;
            if sent > 0 {
                return Ok(sent);
            }
        }
        Err(stuck("descriptors", 0))
    }

    fn take_acks(&mut self, meter: &mut Meter) -> Result<u64> {
        let (sends, done) = (self.counters()?.sends, self.rig.sent_count());
        self.rig.post_send(0).map_err(RigError::from)?;
        for _ in 0..POLLS_MAX {
            self.poll(&mut Meter::Off)?;
            self.rig.step()?;
        }
        let sent = self.counters()?.sends - sends;
        let taken = self.rig.order(Order::Acknowledge(BATCH as u32, true))?.done;
        if sent as usize != BATCH || taken as usize != BATCH {
            return Err(stuck("descriptors", sent as usize));
        }
        for _ in 0..POLLS_MAX {
            self.poll(meter)?;
            self.rig.step()?;
            if self.rig.sent_count() > done {
                return Ok(BATCH as u64);
            }
        }
        Err(stuck("acknowledged requests", 0))
    }

    fn write_acks(&mut self, meter: &mut Meter) -> Result<u64> {
        let before = self.counters()?.headers;
        let protocol = self.rig.provider.protocol();
        protocol.acknowledge(FlowIndex(0), BATCH).map_err(RigError::from)?;
        let rig = &mut self.rig;
        let mut result = Ok(false);
        meter.around(&mut || {
            result = rig.poll();
            true
        });
        result?;
        let after = rig.order(Order::Step)?.counters.headers;
        match (after - before) as usize {
            BATCH => Ok(BATCH as u64),
            written => Err(stuck("ACKs", written)),
        }
    }

    fn idle(&mut self, meter: &mut Meter) -> Result<u64> {
        let rig = &mut self.rig;
        let mut result = Ok(false);
        meter.around(&mut || {
            for _ in 0..IDLE_POLLS {
                result = rig.poll();
                if !matches!(result, Ok(false)) {
                    break;
                }
            }
            true
        });
        match result? {
            false => Ok(IDLE_POLLS),
            true => Err(stuck("polls without work", 0)),
        }
    }
}

/// Takes `packets` packets of a card that runs in a thread of its own, as fast as the queue takes
/// them; it stays on the second core, if there is one. Returns how many there were.
pub fn receive_beside(
    worker: &mut Worker,
    packets: u64,
    cores: &Cores,
    meter: &mut Meter,
) -> Result<u64> {
    let (idle, _) = NullCard::new(DEFAULT);
    let mut card = std::mem::replace(&mut worker.rig.card, idle);
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, cores) = (stop.clone(), cores.clone());
    let serving = std::thread::spawn(move || {
        let _kept = cores.keep(1);
        while !stopped.load(Ordering::Acquire) && card.wrongs().is_empty() {
            card.step();
            card.offer(BATCH, FRAME_PAYLOAD_BYTES, 1);
        }
        card
    });
    let from = worker.rig.provider.counters().header_entries;
    let (mut taken, mut result) = (0, Ok(()));
    while taken < packets && result.is_ok() && !serving.is_finished() {
        result = worker.poll(meter);
        taken = worker.rig.provider.counters().header_entries - from;
    }
    stop.store(true, Ordering::Release);
    worker.rig.card = serving.join().map_err(|_| StackError::CardPanicked)?;
    result?;
    worker.rig.settle()?;
    Ok(taken)
}

fn stuck(what: &'static str, done: usize) -> StackError {
    let stuck = RigError::Stuck { what, done, all: BATCH, polls: POLLS_MAX };
    stuck.into()
}
