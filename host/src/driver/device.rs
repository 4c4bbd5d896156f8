//! One open card: checks its registers, and moves commands, descriptors and header entries through
//! the rings of its owners.
//!
//! ```text
//!   Device ── owner 0: privileged commands, packets without a flow
//!          ├─ owner 1 ── rings, doorbell page, interrupt of a shard
//!          └─ ...
//! ```
//! Life of a command: [`Device::command`] queues it and returns a [`Ticket`]; [`Device::poll`]
//! posts what fits, rings the doorbell once, and takes completions; [`Device::is_confirmed`]
//! reports whether a ticket's fence has passed. The tickets of one owner are confirmed in order.
//! Those of different owners have no order: what depends on another owner's command waits for its
//! confirmation.
//!
//! A device that is closed or dropped leaves a card that reaches no memory: the new epoch knows
//! nothing of what was set up.

mod config;
mod counters;
pub mod marks;
mod restart;
mod sleeping;
mod taking;

use std::os::fd::BorrowedFd;
use std::time::Duration;

use abi::flow_key::Secret;
use abi::registers;

pub use self::config::{DeviceConfig, COALESCE_TIME, COALESCE_TIME_MAX};
use super::bus::{Bus, MemoryKind};
use super::control_memory::ControlMemory;
use super::error::{DriverError, Result};
pub use super::owner::Lost;
use super::owner::{doorbell_page, Owner, OwnerOptions, Ring};
use super::read::read;
use super::rings::RingSizes;
pub use super::start::CardSizes;
use super::start::{
    check_card, read_sizes, secret_words, set_coalesce_time, start_epoch, wait_for_requests,
    wait_for_tables, write_secrets, SecretWords, CYCLE,
};
use super::watch::Watch;
use super::wire::{WireSettings, WireState};
use crate::records::commands::Entry;
use crate::records::descriptor::Descriptor;
use crate::records::profile::Profile;
use crate::records::queue::{CommandQueue, QueueError};
use crate::records::size::SizeError;
use crate::records::ticket::{RefusedCommand, Ticket};

/// Longest sleep while a ring has work: the card does it within microseconds.
const WATCH_TIME: Duration = Duration::from_millis(10);

/// An open card. See the module's head.
pub struct Device<B: Bus> {
    bus: B,
    sizes: CardSizes,
    secrets: [Secret; 2],
    /// By number; nothing for one that was closed.
    owners: Vec<Option<Owner>>,
    /// Memory of owners that were closed, until the moment when the card has no read of it any
    /// more.
    leaving: Vec<(Duration, Vec<ControlMemory>)>,
    /// The owner whose header queue is read, and entries that it may still have in this turn.
    turn: (usize, u32),
    options: OwnerOptions,
    /// Confirmations and the send status raise interrupts.
    arms_all: bool,
    watch: Watch,
}

/// Header entries that are taken from the queue of an owner before that of the next has its turn.
const TURN_ENTRIES: u32 = 32;

impl<B: Bus> Device<B> {
    /// Opens the card: checks id and version, starts a new epoch, sets up owner 0, enables both
    /// directions. When it returns, the card executes commands.
    pub fn open(mut bus: B, config: DeviceConfig) -> Result<Self> {
        check_card(&mut bus)?;
        let sizes = read_sizes(&mut bus)?;
        start_epoch(&mut bus)?;
        wait_for_requests(&mut bus)?;
        let secrets = write_secrets(&mut bus, &secret_words(config.hash_seed))?;
        for kind in [MemoryKind::Gpu] {
            if let Some(address) = bus.flush_address(kind) {
                let register = registers::FLUSH + 8 * u32::from(kind.number());
                bus.write_register(register, address as u32)?;
                bus.write_register(register + 4, (address >> 32) as u32)?;
            }
        }
        let features = read(&mut bus, registers::FEATURES)?;
        let can_push = bus.writes_lines() && features & registers::FEATURE_PUSH != 0;
        let can_coalesce = features & registers::FEATURE_COALESCE != 0;
        if let Some(time) = config.coalesce {
            set_coalesce_time(&mut bus, can_coalesce, time)?;
        }
        let options = OwnerOptions {
            push_slots: config.push_slots && can_push,
            takes_runs: config.coalesce.is_some(),
        };
        let watch = Watch::begin(&mut bus)?;
        let mut device = Self {
            watch,
            bus,
            sizes,
            secrets,
            owners: Vec::new(),
            leaving: Vec::new(),
            turn: (0, TURN_ENTRIES),
            options,
            arms_all: features & registers::FEATURE_ARM != 0,
        };
        // The moderation of whoever had the card before survives its epoch.
        device.set_moderation(Duration::ZERO, 0)?;
        device.open_owner(config.rings)?;
        device
            .bus
            .write_register(registers::CONTROL, registers::CONTROL_RX | registers::CONTROL_TX)?;
        // A read completes after all earlier posted writes: from here on the card runs.
        wait_for_tables(&mut device.bus)?;
        Ok(device)
    }

    /// Sets up the rings of one more owner. Returns its number: the lowest that is free.
    pub fn open_owner(&mut self, rings: RingSizes) -> Result<u8> {
        let closed = self.owners.iter().position(Option::is_none);
        let (number, limit) = (closed.unwrap_or(self.owners.len()), 1 << self.sizes.owner_bits);
        if number >= limit {
            return Err(DriverError::OwnersFull { limit });
        }
        self.bus.enable_interrupt(number as u16)?;
        let owner = Owner::open(&mut self.bus, number as u8, rings, self.options)?;
        match self.owners.get_mut(number) {
            Some(place) => *place = Some(owner),
            None => self.owners.push(Some(owner)),
        }
        self.watch.check_epoch(&mut self.bus)?;
        Ok(number as u8)
    }

    /// Owners that are open.
    pub fn owners(&self) -> usize {
        self.owners.iter().flatten().count()
    }

    /// Whether an owner is open.
    pub fn is_open(&self, number: u8) -> bool {
        self.find_owner(number).is_some()
    }

    #[inline]
    fn find_owner(&self, number: u8) -> Option<&Owner> {
        self.owners.get(usize::from(number))?.as_ref()
    }

    #[inline]
    fn owner(&mut self, number: u8) -> Result<&mut Owner, QueueError> {
        let open = self.owners();
        self.owners
            .get_mut(usize::from(number))
            .and_then(Option::as_mut)
            .ok_or(QueueError::UnknownOwner { owner: number, open })
    }

    /// The driver's own.
    fn driver_owner(&mut self) -> &mut Owner {
        let first = self.owners.first_mut().and_then(Option::as_mut);
        first.expect("owner 0 is there from the opening of the card to its end")
    }

    /// Sets a header profile beside TCP.
    pub fn set_profile(&mut self, number: u8, profile: &Profile) -> Result<()> {
        let words = profile.words(number)?;
        let at = registers::PROFILES + u32::from(number) * registers::PROFILE_STRIDE;
        // The word that selects the profile is written last, so the profile is complete when in
        // use.
        self.bus.write_register(at + 4, words[1])?;
        self.bus.write_register(at, words[0])?;
        Ok(())
    }

    /// The bus, for memory and simulated time.
    pub fn bus(&mut self) -> &mut B {
        &mut self.bus
    }

    /// Sizes that the card reports.
    pub fn sizes(&self) -> CardSizes {
        self.sizes
    }

    /// The hash secrets of both banks.
    pub fn secrets(&self) -> &[Secret; 2] {
        &self.secrets
    }

    /// Changes the hash secrets, when the flow table holds no key.
    pub(crate) fn set_secrets(&mut self, words: &SecretWords) -> Result<()> {
        self.secrets = write_secrets(&mut self.bus, words)?;
        Ok(())
    }

    /// Queues a command of owner 0, which may change everything.
    pub fn command(&mut self, entry: Entry) -> Ticket {
        self.driver_owner().command(entry)
    }

    /// Queues a command of an owner, which may change its own flows. One whose command ring has
    /// stopped takes none.
    pub fn command_of(&mut self, owner: u8, entry: Entry) -> Result<Ticket, QueueError> {
        self.owner(owner)?.try_command(entry)
    }

    /// Whether the fence of a command has passed. Also true for a refused command, which had no
    /// effect.
    pub fn is_confirmed(&self, ticket: Ticket) -> bool {
        let owner = self.find_owner(ticket.owner());
        owner.is_some_and(|owner| owner.has_confirmed(ticket))
    }

    /// Commands queued or posted whose fence has not passed; those of a ring that has stopped,
    /// whose fence never will, are left out.
    pub fn unconfirmed_count(&self) -> usize {
        self.owners.iter().flatten().map(Owner::unconfirmed_count).sum()
    }

    /// The next refused command, if there is one.
    pub fn take_refused(&mut self) -> Option<RefusedCommand> {
        self.owners.iter_mut().flatten().find_map(Owner::take_refused)
    }

    /// Queues a send descriptor in the send ring of owner 0.
    pub fn send(&mut self, descriptor: Descriptor<'_>) {
        self.driver_owner().send(descriptor);
    }

    /// Queues a send descriptor in the send ring of an owner. The card fetches payload only for
    /// flows of that owner. One whose send ring has stopped takes none.
    #[inline]
    pub fn send_of(&mut self, owner: u8, descriptor: Descriptor<'_>) -> Result<()> {
        self.owner(owner)?.try_send(descriptor)
    }

    /// The same, unless the ring has stopped or so many slots wait for it. Returns whether it was
    /// queued.
    #[inline]
    pub(crate) fn send_within(
        &mut self,
        owner: u8,
        descriptor: Descriptor<'_>,
        waiting_max: usize,
    ) -> Result<bool> {
        let owner = self.owner(owner)?;
        let takes = owner.takes_sends(waiting_max);
        if takes {
            owner.send(descriptor);
        }
        Ok(takes)
    }

    /// Whether [`Device::send_within`] would queue a descriptor.
    pub(crate) fn takes_sends(&self, owner: u8, waiting_max: usize) -> bool {
        self.find_owner(owner).is_none_or(|owner| owner.takes_sends(waiting_max))
    }

    /// Whether the send ring of an owner is full.
    #[inline]
    pub(crate) fn is_full(&self, owner: u8) -> bool {
        self.find_owner(owner).is_some_and(Owner::is_full)
    }

    /// Whether a send ring is full that moves: it will have room in a moment.
    #[inline]
    pub(crate) fn is_any_full(&self) -> bool {
        self.owners.iter().flatten().any(|owner| owner.is_full() && !owner.is_late())
    }

    /// Whether the command ring and the send ring of an owner have stopped, as far as it was
    /// noticed.
    #[inline]
    pub(crate) fn known_stopped(&self, owner: u8) -> (bool, bool) {
        let owner = self.find_owner(owner);
        let has_stopped = |ring| owner.is_some_and(|owner: &Owner| owner.has_stopped(ring));
        (has_stopped(Ring::Command), has_stopped(Ring::Send))
    }

    /// A ring of an owner may have stopped: the next poll asks the card.
    pub(crate) fn suspect(&mut self, owner: u8) {
        self.watch.suspect(owner);
    }

    /// How far the send ring of an owner is, in slots modulo 2^32: what the card has taken over,
    /// and what was queued.
    pub(crate) fn send_progress(&self, owner: u8) -> (u32, u32) {
        let owner = self.find_owner(owner);
        owner.map_or((0, 0), |owner| (owner.sends_consumed(), owner.send_slots()))
    }

    /// Slots of descriptors that wait for their doorbell, and descriptors that wait for room in
    /// their ring, of all owners.
    pub fn sends_waiting(&self) -> usize {
        self.owners.iter().flatten().map(Owner::sends_waiting).sum()
    }

    /// Posts what is queued, rings doorbells that changed, takes completions. Returns whether
    /// anything moved. An error reports a ring that has stopped, once, or an epoch that was lost:
    /// within milliseconds of the bus's clock. The rings of other owners go on; a stopped one takes
    /// nothing more until [`Device::restart_owner`].
    pub fn poll(&mut self) -> Result<bool> {
        let mut moved = false;
        for owner in self.owners.iter_mut().flatten() {
            moved |= owner.poll(&mut self.bus)?;
        }
        if !self.leaving.is_empty() {
            self.release_closed()?;
        }
        self.watch.note(&mut self.bus, &mut self.owners)?;
        Ok(moved)
    }

    /// Reports to the card how far the header queues and slow buffers were emptied.
    pub fn return_headers(&mut self) -> Result<()> {
        for owner in self.owners.iter_mut().flatten() {
            owner.return_headers(&mut self.bus)?;
        }
        Ok(())
    }

    /// Sets the minimum time between two interrupts of an owner, and how many unread header slots
    /// raise one earlier (0: never).
    pub fn set_moderation(&mut self, interval: Duration, entries: u32) -> Result<()> {
        let cycles = interval.as_nanos() / CYCLE.as_nanos();
        let word = u32::try_from(cycles).map_err(|_| {
            DriverError::Size(SizeError {
                name: "moderation interval, ns",
                value: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
                min: 0,
                max: u64::from(u32::MAX) * CYCLE.as_nanos() as u64,
            })
        })?;
        self.bus.write_register(registers::INTERRUPT_INTERVAL, word)?;
        self.bus.write_register(registers::INTERRUPT_ENTRIES, entries)?;
        Ok(())
    }

    /// Waits for what the card has to say and was not taken yet, at most for `limit`, or until
    /// `other` is readable: header entries, confirmations of commands in flight, room for
    /// descriptors that wait. Returns whether there is something to look at. The time is the
    /// card's; where the bus has event descriptors ([`Bus::interrupt_fd`]), the caller's thread
    /// sleeps.
    ///
    /// Nothing is missed, see [`Device::arm`]. Where that arms nothing, the call returns at once:
    /// poll.
    pub fn wait(&mut self, limit: Duration, other: Option<BorrowedFd<'_>>) -> Result<bool> {
        if !self.arm()? {
            self.bus.advance()?;
            return Ok(false);
        }
        let has_work = self.owners.iter().flatten().any(Owner::has_work);
        let limit = if has_work { limit.min(WATCH_TIME) } else { limit };
        let came = self.sleep(limit, other)?;
        if !came {
            // Neither a card that was reset from outside nor a ring that stopped raises an
            // interrupt.
            self.watch.check_epoch(&mut self.bus)?;
            self.watch.check_rings(&mut self.bus, &mut self.owners)?;
        }
        Ok(came)
    }

    /// Arms the interrupts of all owners, before a sleep on descriptors of [`Bus::interrupt_fd`] in
    /// an event loop of the caller's. Returns whether to sleep. Nothing is armed while a poll would
    /// hand something over; and on a card without [`registers::FEATURE_ARM`], where neither
    /// confirmations nor the send status raise an interrupt, while a command is in flight or a
    /// descriptor waits: poll. What hangs on a ring that has stopped keeps nobody awake.
    ///
    /// Nothing is missed: each owner is armed with the last index of each ring that it has read,
    /// and an entry beyond that index, however old, fires at once.
    pub fn arm(&mut self) -> Result<bool> {
        let arms_all = self.arms_all;
        let polls = |owner: &mut Owner| match arms_all {
            true => owner.has_to_post(),
            false => owner.unconfirmed_count() > 0 || owner.sends_waiting() > 0,
        };
        if self.owners.iter_mut().flatten().any(polls) {
            return Ok(false);
        }
        for owner in self.owners.iter_mut().flatten() {
            owner.arm(&mut self.bus, arms_all)?;
        }
        Ok(true)
    }

    /// The next [`Device::arm`] is for an owner's send status as well, of which the caller has seen
    /// this index. Returns whether the card can tell.
    pub(crate) fn await_sends(&mut self, owner: u8, seen: u32) -> Result<bool> {
        self.owner(owner)?.await_sends(seen);
        Ok(self.arms_all)
    }

    /// Ends the use of the card: stops both directions, starts a new epoch, in which nothing that
    /// was set up is valid, and takes the memory of all rings from the card. What the caller has
    /// registered may be released after it. A device that is dropped does the same, as far as the
    /// bus lets it; where it fails, the memory stays with the bus.
    pub fn close(mut self) -> Result<()> {
        self.end()
    }

    /// See [`Device::close`]. No other call may follow but those of the bus.
    pub(crate) fn end(&mut self) -> Result<()> {
        let owners = std::mem::take(&mut self.owners);
        if owners.is_empty() {
            return Ok(());
        }
        self.bus.write_register(registers::CONTROL, 0)?;
        start_epoch(&mut self.bus)?;
        // Behind this no write of the old epoch reaches memory, and no read is under way.
        wait_for_requests(&mut self.bus)?;
        let left = std::mem::take(&mut self.leaving).into_iter().flat_map(|(_, rings)| rings);
        for ring in owners.into_iter().flatten().flat_map(Owner::into_memory).chain(left) {
            self.bus.release_control(ring)?;
        }
        Ok(())
    }

    /// The state of the wire.
    pub fn wire(&mut self) -> Result<WireState> {
        Ok(WireState::of_status(read(&mut self.bus, registers::STATUS)?))
    }

    /// What the card does with the wire, until the next epoch.
    pub fn set_wire(&mut self, settings: &WireSettings) -> Result<()> {
        settings.write(&mut self.bus)
    }

    /// Whether a failed read or a wrong index has stopped the command ring and the send ring of an
    /// owner. A stopped ring restarts when the owner's context is enabled again.
    pub fn stopped_rings(&mut self, owner: u8) -> Result<(bool, bool)> {
        self.owner(owner)?;
        let page = doorbell_page(owner.into());
        let status = read(&mut self.bus, page + registers::DOORBELL_STATUS)?;
        let is_set = |bit: u32| status & bit != 0;
        Ok((is_set(registers::STATUS_COMMAND_STOPPED), is_set(registers::STATUS_SEND_STOPPED)))
    }
}

impl<B: Bus> Drop for Device<B> {
    fn drop(&mut self) {
        // While a panic unwinds, the bus may be in the middle of a call. Whoever ends the process
        // takes the card from it.
        if !std::thread::panicking() {
            let _ = self.end();
        }
    }
}

impl<B: Bus> CommandQueue for Device<B> {
    fn command(&mut self, entry: Entry) -> Ticket {
        self.command(entry)
    }

    fn command_of(&mut self, owner: u8, entry: Entry) -> Result<Ticket, QueueError> {
        self.command_of(owner, entry)
    }

    fn is_confirmed(&self, ticket: Ticket) -> bool {
        self.is_confirmed(ticket)
    }
}
