//! Detects writes to unmapped registers.
//!
//! ```text
//!  settings, pushed ──► is there a register that can be written? ── no ──► unmapped
//! ```
//! Timing: `unmapped` comes one cycle after the write.
//!
//! Invariants:
//! 1. `unmapped` pulses once for each write to an offset where `abi::registers` has no register, or
//!    a read-only one, and for each line pushed to an owner that the card does not have. No other
//!    write makes it pulse.
//!
//! Source: `abi::registers`; `docs/specification.md`, Settings.

use abi::config::CardConfig;
use abi::flow_key::SECRET_WORDS;
use abi::registers as r;
use stream::prelude::*;

/// The check. See the module's head.
#[derive(LogicBlock)]
pub struct RegisterMap {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,
    /// Lines pushed by software; never in the cycle of a register write.
    pub pushed: PulseSink<PushedLine>,
    /// A write reached no register (one cycle).
    pub unmapped: Signal<Out, Bit>,

    pulse: DFF<Bit>,

    address: Signal<Local, Bits<24>>,
    control: Signal<Local, Bit>,
    receive: Signal<Local, Bit>,
    owner_context: Signal<Local, Bit>,
    vectors: Signal<Local, Bit>,
    doorbell: Signal<Local, Bit>,
    mapped: Signal<Local, Bit>,
    no_owner: Signal<Local, Bit>,

    control_at: Constant<Bits<24>>,
    mac_control_at: Constant<Bits<24>>,
    pause_limit_at: Constant<Bits<24>>,
    pause_beats_at: Constant<Bits<24>>,
    coalesce_at: Constant<Bits<24>>,
    interval_at: Constant<Bits<24>>,
    entries_at: Constant<Bits<24>>,
    secrets_page: Constant<Bits<17>>,
    secret_words: Constant<Bits<4>>,
    profiles_page: Constant<Bits<19>>,
    flush_page: Constant<Bits<19>>,
    contexts_begin: Constant<Bits<24>>,
    contexts_end: Constant<Bits<24>>,
    context_word_last: Constant<Bits<4>>,
    table_begin: Constant<Bits<24>>,
    table_end: Constant<Bits<24>>,
    doorbells_begin: Constant<Bits<24>>,
    doorbells_end: Constant<Bits<24>>,
    doorbell_last: Constant<Bits<12>>,
    doorbell_status: Constant<Bits<12>>,
    owners: Constant<Bits<9>>,
}

impl RegisterMap {
    /// The map of a card with these sizes.
    pub fn new(config: &CardConfig) -> Self {
        let owners = 1 << config.owner_bits;
        let at = |offset: u32| u64::from(offset);
        let words = |first: u32, count: u32| u64::from(first + count);
        Self {
            clock: Default::default(),
            settings: Default::default(),
            pushed: Default::default(),
            unmapped: Default::default(),
            pulse: Default::default(),
            address: Default::default(),
            control: Default::default(),
            receive: Default::default(),
            owner_context: Default::default(),
            vectors: Default::default(),
            doorbell: Default::default(),
            mapped: Default::default(),
            no_owner: Default::default(),
            control_at: Constant::new(at(r::CONTROL).to_bits()),
            mac_control_at: Constant::new(at(r::MAC_CONTROL).to_bits()),
            pause_limit_at: Constant::new(at(r::PAUSE_LIMIT).to_bits()),
            pause_beats_at: Constant::new(at(r::PAUSE_BEATS).to_bits()),
            coalesce_at: Constant::new(at(r::COALESCE_CYCLES).to_bits()),
            interval_at: Constant::new(at(r::INTERRUPT_INTERVAL).to_bits()),
            entries_at: Constant::new(at(r::INTERRUPT_ENTRIES).to_bits()),
            secrets_page: Constant::new((at(r::HASH_SECRET) >> 7).to_bits()),
            secret_words: Constant::new((SECRET_WORDS as u64).to_bits()),
            profiles_page: Constant::new((at(r::PROFILES) >> 5).to_bits()),
            flush_page: Constant::new((at(r::FLUSH) >> 5).to_bits()),
            contexts_begin: Constant::new(at(r::CONTEXTS).to_bits()),
            contexts_end: Constant::new(words(r::CONTEXTS, owners * r::CONTEXT_STRIDE).to_bits()),
            context_word_last: Constant::new((at(r::CONTEXT_ENABLE) >> 2).to_bits()),
            table_begin: Constant::new(at(r::MSIX_TABLE).to_bits()),
            table_end: Constant::new(words(r::MSIX_TABLE, owners * 16).to_bits()),
            doorbells_begin: Constant::new(at(r::DOORBELLS).to_bits()),
            doorbells_end: Constant::new(
                words(r::DOORBELLS, owners * r::DOORBELL_STRIDE).to_bits(),
            ),
            doorbell_last: Constant::new(at(r::DOORBELL_ARM_SENDS).to_bits()),
            doorbell_status: Constant::new(at(r::DOORBELL_STATUS).to_bits()),
            owners: Constant::new(u64::from(owners).to_bits()),
        }
    }
}

impl Logic for RegisterMap {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pulse);
        self.address.next = self.settings.payload.val().address;
        self.control.next = (self.address.val() == self.control_at.val())
            | (self.address.val() == self.interval_at.val())
            | (self.address.val() == self.entries_at.val())
            | (self.address.val() == self.mac_control_at.val())
            | (self.address.val() == self.pause_limit_at.val())
            | (self.address.val() == self.pause_beats_at.val())
            | (self.address.val() == self.coalesce_at.val());
        // Two banks of secrets, four profiles, three memories that need flushes.
        self.receive.next = ((self.address.val().get_bits::<17>(7) == self.secrets_page.val())
            & (self.address.val().get_bits::<4>(2) < self.secret_words.val()))
            | (self.address.val().get_bits::<19>(5) == self.profiles_page.val())
            | ((self.address.val().get_bits::<19>(5) == self.flush_page.val())
                & self.address.val().get_bits::<2>(3).any());
        self.owner_context.next = (self.address.val() >= self.contexts_begin.val())
            & (self.address.val() < self.contexts_end.val())
            & (self.address.val().get_bits::<4>(2) <= self.context_word_last.val());
        self.vectors.next = (self.address.val() >= self.table_begin.val())
            & (self.address.val() < self.table_end.val());
        self.doorbell.next = (self.address.val() >= self.doorbells_begin.val())
            & (self.address.val() < self.doorbells_end.val())
            & (self.address.val().get_bits::<12>(0) <= self.doorbell_last.val())
            & (self.address.val().get_bits::<12>(0) != self.doorbell_status.val());
        self.mapped.next = self.control.val()
            | self.receive.val()
            | self.owner_context.val()
            | self.vectors.val()
            | self.doorbell.val();
        self.no_owner.next = bit_cast::<9, 8>(self.pushed.payload.val().owner) >= self.owners.val();
        self.pulse.d.next = (self.settings.valid.val() & !self.mapped.val())
            | (self.pushed.valid.val() & self.no_owner.val());
        self.unmapped.next = self.pulse.q.val();
    }
}
