//! What the control stack is made to do, in batches: the card's part between the measured calls.
//!
//! ```text
//!   receive   64 packets offered ─► poll        ack taken    64 ACKs offered ─► polls
//!   send      ACKs offered ─► poll, 64 headers  ack written  64 ACKs due ─► poll
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use abi::config::DEFAULT;
use anyhow::Result;
use clap::ValueEnum;
use host::protocol::FlowIndex;
use measure::null_card::rig::{NullRig, RigConfig, RigError, FRAME_PAYLOAD_BYTES};
use measure::null_card::NullCard;

use super::meter::Meter;
use crate::bench::cores::Cores;
use crate::shared::failure::wrong;

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

/// A piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Work {
    /// Packets in order
    Receive,
    /// Packets in order, every second one acknowledged by a header of its own
    ReceiveOneAckForTwo,
    /// Packets in order, each acknowledged by a header of its own
    ReceiveAckEach,
    /// Packets in order, 64 of a flow in a row
    ReceiveBursts,
    /// Descriptors of 1448 bytes
    Send,
    /// The same, 64 of a flow in a row
    SendBursts,
    /// The same, each acknowledged by an ACK of its own
    SendAckEach,
    /// Descriptors of 64 KiB
    #[value(name = "send-64k")]
    Send64k,
    /// Messages of 64 bytes, each a request of its own, whose buffer is posted again
    ReceiveMessages,
    /// The same sent
    SendMessages,
    /// ACKs of the peer
    AckTaken,
    /// ACKs of the transport
    AckWritten,
    /// Nothing
    Idle,
}

impl Work {
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

/// A rig at work.
pub struct Worker {
    rig: NullRig,
    /// Packets that are made ready together.
    ahead: usize,
}

impl Worker {
    /// A worker with so many connections.
    pub fn open(work: Work, flows: usize) -> Result<Self> {
        let rig = NullRig::open(RigConfig {
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
        })?;
        Ok(Self { rig, ahead: BATCH })
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
    pub fn judge_later(&mut self, work: Work, flows: usize, batches: usize) {
        // Where a message lies depends on the command for the one before.
        if work.is_messages() {
            return;
        }
        self.rig.card.judge_later();
        if work.is_receive() {
            self.ahead = batches * BATCH;
            self.rig.card.prepare(self.ahead, FRAME_PAYLOAD_BYTES, flows);
        }
    }

    /// Has the card judge what it has taken, and from now on what it takes.
    pub fn judge(&mut self) -> Result<()> {
        self.rig.card.judge_at_once();
        Ok(self.rig.step()?)
    }

    /// Works a batch off with the first `flows` connections. Returns what was worked off.
    pub fn batch(&mut self, work: Work, flows: usize, meter: &mut Meter) -> Result<u64> {
        match work {
            Work::Receive
            | Work::ReceiveOneAckForTwo
            | Work::ReceiveAckEach
            | Work::ReceiveBursts => self.receive(flows, meter),
            Work::ReceiveMessages => self.receive_messages(flows, meter),
            Work::SendMessages => self.send(meter, true),
            Work::Send | Work::SendBursts | Work::Send64k => self.send(meter, false),
            Work::SendAckEach => self.send(meter, true),
            Work::AckTaken => self.take_acks(meter),
            Work::AckWritten => self.write_acks(meter),
            Work::Idle => self.idle(meter),
        }
    }

    /// Allocations of one packet, header or ACK, over so many batches on so many flows.
    pub fn allocations(&mut self, (work, flows): (Work, usize), batches: usize) -> Result<f64> {
        let (mut meter, mut items) = (Meter::Allocations(0), 0);
        for _ in 0..batches {
            items += self.batch(work, flows, &mut meter)?;
        }
        match meter {
            Meter::Allocations(count) => Ok(count as f64 / items as f64),
            _ => Ok(0.0),
        }
    }

    fn receive(&mut self, flows: usize, meter: &mut Meter) -> Result<u64> {
        for _ in 0..POLLS_MAX {
            self.rig.step()?;
            if self.rig.card.ready() < BATCH {
                self.rig.card.prepare(self.ahead, FRAME_PAYLOAD_BYTES, flows);
            }
            let offered = self.rig.card.offer(BATCH, FRAME_PAYLOAD_BYTES, flows);
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
        let offered = self.rig.card.offer(messages, MESSAGE_BYTES, flows);
        if offered != messages {
            return Err(stuck("messages whose window is open", offered));
        }
        self.poll(meter)?;
        Ok(offered as u64)
    }

    /// Commands of the host so far.
    pub fn commands(&self) -> u64 {
        self.rig.card.counters().commands
    }

    /// Commands of one message, over so many batches.
    pub fn commands_each(&mut self, work: Work, flows: usize, batches: usize) -> Result<f64> {
        let (before, mut items) = (self.commands(), 0);
        for _ in 0..batches {
            items += self.batch(work, flows, &mut Meter::Off)?;
        }
        self.rig.step()?;
        Ok((self.commands() - before) as f64 / items as f64)
    }

    fn send(&mut self, meter: &mut Meter, ack_each: bool) -> Result<u64> {
        let before = self.rig.card.counters().sends;
        for _ in 0..POLLS_MAX {
            self.rig.card.acknowledge(usize::MAX, ack_each);
            self.poll(meter)?;
            self.rig.step()?;
            let sent = self.rig.card.counters().sends - before;
            if sent > 0 {
                return Ok(sent);
            }
        }
        Err(stuck("descriptors", 0))
    }

    fn take_acks(&mut self, meter: &mut Meter) -> Result<u64> {
        let (sends, done) = (self.rig.card.counters().sends, self.rig.sent_count());
        self.rig.post_send(0)?;
        for _ in 0..POLLS_MAX {
            self.poll(&mut Meter::Off)?;
            self.rig.step()?;
        }
        let sent = self.rig.card.counters().sends - sends;
        let taken = self.rig.card.acknowledge(BATCH, true);
        if sent as usize != BATCH || taken != BATCH {
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
        let before = self.rig.card.counters().headers;
        let protocol = self.rig.provider.protocol();
        protocol.acknowledge(FlowIndex(0), BATCH)?;
        let rig = &mut self.rig;
        let mut result = Ok(false);
        meter.around(&mut || {
            result = rig.poll();
            true
        });
        result?;
        rig.step()?;
        match (rig.card.counters().headers - before) as usize {
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
    worker.rig.card = serving.join().map_err(|_| wrong("the card's thread has panicked"))?;
    result?;
    worker.rig.settle()?;
    Ok(taken)
}

fn stuck(what: &'static str, done: usize) -> anyhow::Error {
    let stuck = RigError::Stuck { what, done, all: BATCH, polls: POLLS_MAX };
    stuck.into()
}
