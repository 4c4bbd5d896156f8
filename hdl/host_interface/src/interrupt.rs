//! Writes MSI-X messages: one vector for each owner, for its header queue, its confirmations and
//! its send status.
//!
//! ```text
//!  header_produced ─┐
//!  confirmed ───────┼► [arm] ── armed, entries unseen ─┐
//!  reported ────────┘                                  │
//!  settings ─────────►[pace] ── time and count ────────┼──► scan, one owner in three cycles
//!                  [vectors] ── masked: pending ───────┘          │
//!                                                                 ▼
//!                                             [writer] ──► write_job, write_data (4 bytes)
//! ```
//! Timing: an owner is looked at every 3 * `OWNERS` cycles while no message is under way. The
//! read port is combinational.
//!
//! Invariants:
//! 1. An owner that is armed for a ring whose producer index is beyond the one that it armed with
//!    gets one message, now or when the next entry comes. Then it is disarmed, for all its rings.
//! 2. While the vector or the function is masked the interrupt is pending instead; its message is
//!    written when neither is masked. While MSI-X is disabled it waits, armed.
//! 3. A message keeps the address and data of the moment when it was decided on, and cannot be
//!    called back: it may stand on the RQ port. So the host's next read of the table waits
//!    (`msix_busy`) until it has left. Once a mask was read back, no message of the vector comes,
//!    and none comes with what the entry held before.
//! 4. Messages of an owner keep the distance of [`interrupt_pace`]. A pending one does not wait for
//!    it.
//!
//! Source: PCI Local Bus 3.0, 6.8.2; `abi::registers::DOORBELL_ARM`; `docs/specification.md`,
//! Interrupts.

pub mod interrupt_arm;
pub mod interrupt_pace;
pub mod interrupt_rings;
pub mod interrupt_scan;
pub mod msix_table;

use crate::interrupt::interrupt_scan::InterruptScan;
use crate::interrupt::msix_table::MsixTable;
use crate::small_write::{SmallWrite, SmallWriter};
use stream::prelude::*;

/// The interrupts of `OWNERS` = 2^`OWNER_BITS` owners. `TABLE_BITS` must be `OWNER_BITS` + 2. See
/// the module's head.
#[derive(LogicBlock, Default)]
pub struct Interrupt<const OWNER_BITS: usize, const TABLE_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Disarms every owner, and forgets what is pending. The table keeps its masks and messages.
    pub reset: Signal<In, Bit>,
    /// The function itself is reset: every vector is masked.
    pub function_reset: Signal<In, Bit>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,
    /// Owner and producer index of a header queue that grew, after the entry's write job was
    /// accepted.
    pub header_produced: PulseSink<RingFetch>,
    /// Owner, and commands of it that are confirmed, after the entry's write job was accepted.
    pub confirmed: PulseSink<RingFetch>,
    /// Owner, and consumer index of its send ring, after the index's write job was accepted.
    pub reported: PulseSink<RingFetch>,
    /// The host has enabled MSI-X: `cfg_interrupt_msix_enable` of the hard block.
    pub msix_enable: Signal<In, Bit>,
    /// The host has masked the function: `cfg_interrupt_msix_mask` of the hard block.
    pub msix_mask: Signal<In, Bit>,

    /// Writes of messages: a client of `dma.write`, so a message stays after the entries.
    pub write_job: MessageSource<WriteJob>,
    /// Data of the jobs: one packet of one beat each.
    pub write_data: PacketSource,
    /// The last message has not left, from the cycle after its job was accepted.
    pub under_way: Signal<In, Bit>,
    /// No word of the table or of the pending bits may be read: a message is under way that was
    /// decided on before.
    pub msix_busy: Signal<Out, Bit>,

    /// Byte offset in BAR 0 of a word of the MSI-X table or of the pending bits.
    pub msix_read_address: Signal<In, Bits<24>>,
    /// Value of the word at `msix_read_address`, in the same cycle.
    pub msix_read_data: Signal<Out, Bits<32>>,

    scan: InterruptScan<OWNER_BITS, OWNERS>,
    vectors: MsixTable<OWNER_BITS, TABLE_BITS, OWNERS>,
    writer: SmallWriter,

    pending: Signal<Local, Bits<256>>,
    pending_place: Signal<Local, Bits<8>>,
}

impl<const OWNER_BITS: usize, const TABLE_BITS: usize, const OWNERS: usize> Logic
    for Interrupt<OWNER_BITS, TABLE_BITS, OWNERS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, scan, vectors, writer);
        self.scan.reset.next = self.reset.val();
        self.vectors.reset.next = self.function_reset.val();
        self.writer.reset.next = self.reset.val();
        self.scan.settings.valid.next = self.settings.valid.val();
        self.scan.settings.payload.next = self.settings.payload.val();
        self.vectors.settings.valid.next = self.settings.valid.val();
        self.vectors.settings.payload.next = self.settings.payload.val();
        PulseSink::<RingFetch>::link(&mut self.header_produced, &mut self.scan.header_produced);
        PulseSink::<RingFetch>::link(&mut self.confirmed, &mut self.scan.confirmed);
        PulseSink::<RingFetch>::link(&mut self.reported, &mut self.scan.reported);
        self.scan.msix_enable.next = self.msix_enable.val();
        self.scan.msix_mask.next = self.msix_mask.val();

        self.vectors.vector.next = self.scan.vector.val();
        self.scan.address.next = self.vectors.address.val();
        self.scan.data.next = self.vectors.data.val();
        self.scan.unmasked.next = self.vectors.unmasked.val();
        self.scan.under_way.next = self.under_way.val();
        self.msix_busy.next = self.scan.sending.val();
        MessageSource::<SmallWrite>::join(&mut self.scan.write, &mut self.writer.write);
        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.writer.write_job);
        PacketSource::link(&mut self.write_data, &mut self.writer.write_data);

        self.vectors.read_index.next = self.msix_read_address.val().get_bits::<TABLE_BITS>(2);
        self.pending.next = bit_cast::<256, OWNERS>(self.scan.pending.val());
        self.pending_place.next =
            bit_cast::<8, 3>(self.msix_read_address.val().get_bits::<3>(2)) << 5;
        self.msix_read_data.next = self.vectors.read_value.val();
        if self.msix_read_address.val().get_bit(15) {
            self.msix_read_data.next =
                self.pending.val().get_bits::<32>(self.pending_place.val().index());
        }
    }
}
