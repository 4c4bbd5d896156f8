//! Sleeping on descriptors: the interrupts of a bus that has them, and another one beside.

use std::fs::File;
use std::io::{pipe, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use abi::config::{COMMAND_BYTES, SMALL};
use abi::registers;
use host::driver::bus::{Bus, Result};
use host::driver::device::{Device, DeviceConfig};
use host::driver::rings::RingSizes;
use host::observed::Observed;
use host::provider::{ApplicationId, Provider};
use host::records::descriptor::raw;
use host::transport::{LinuxTransport, TransportError};
use lab::golden_card::{GoldenBus, GoldenCard, Withheld};
use lab::hooked_bus::{HookedBus, Hooks};
use lab::network_side::NetworkSide;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rustix::event::{eventfd, EventfdFlags};
use skip::skip_if_refused;

use crate::provider::calls::peer_address;
use crate::provider::rig::link;

/// Longer than any machine takes to run a thread.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(1);

/// A bus whose interrupt vectors are event descriptors.
struct Events(Vec<File>);

impl Hooks<GoldenBus> for Events {
    fn interrupt_fd<'a>(&'a self, _bus: &'a GoldenBus, vector: u16) -> Option<BorrowedFd<'a>> {
        self.0.get(usize::from(vector)).map(File::as_fd)
    }
}

fn event() -> File {
    eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).expect("an event").into()
}

/// A bus that has descriptors for so many vectors.
fn bus(vectors: usize) -> HookedBus<GoldenBus, Events> {
    HookedBus {
        inner: GoldenBus::new(GoldenCard::new(SMALL)),
        hooks: Events((0..vectors).map(|_| event()).collect()),
    }
}

/// A device with two owners.
fn open(vectors: usize) -> Device<HookedBus<GoldenBus, Events>> {
    let config = DeviceConfig::with_seed(1);
    let mut device = Device::open(bus(vectors), config).expect("it opens");
    device.open_owner(RingSizes::default()).expect("an owner");
    device
}

fn fire(mut event: &File) {
    event.write_all(&1u64.to_ne_bytes()).expect("a count");
}

#[test]
fn interrupt_of_any_owner_ends_sleep_once() {
    let mut device = open(2);
    for vector in [0, 1] {
        fire(&device.bus().hooks.0[vector]);
        assert!(device.wait(LONG, None).expect("it waits"));
        assert!(!device.wait(SHORT, None).expect("it waits"), "taken");
    }
    let event = device.bus().hooks.0[1].try_clone().expect("a descriptor");
    let thread = std::thread::spawn(move || {
        std::thread::sleep(SHORT);
        fire(&event);
    });
    assert!(device.wait(LONG, None).expect("it waits"));
    thread.join().expect("it fires");
}

/// With event descriptors of all vectors, and on a bus where time passes in calls alone.
#[test]
fn other_descriptor_ends_sleep_unchanged() {
    for vectors in [2, 0] {
        let mut device = open(vectors);
        let (mut reader, mut writer) = pipe().expect("a pipe");
        let mut wait = |limit| {
            let came = device.wait(limit, Some(reader.as_fd()));
            came.expect("it waits")
        };
        assert!(!wait(SHORT), "nothing yet");
        writer.write_all(b"header").expect("a pipe");
        assert!(wait(LONG) && wait(LONG), "it is still readable");
        let mut bytes = [0; 6];
        reader.read_exact(&mut bytes).expect("a pipe");
        assert_eq!(&bytes, b"header");
    }
}

/// It was not handed over: nothing of it would wake anybody.
#[test]
fn nobody_sleeps_before_command_handover() {
    let mut device = open(2);
    assert!(device.arm().expect("it arms"));
    device.command([0; COMMAND_BYTES]);
    assert!(!device.arm().expect("nothing is armed"));
    assert!(!device.wait(LONG, None).expect("it returns at once"));
    device.poll().expect("it polls");
    assert!(device.arm().expect("it arms"), "it is confirmed");
}

/// What the card does late wakes who waits for it, and nobody polls meanwhile.
#[test]
fn sleeper_learns_of_confirmations_and_room() {
    let first = seed::seed();
    for seed in first..first + 4 {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut card = GoldenCard::late(SMALL, seed);
        let rings = RingSizes { command_bits: 2, send_bits: 2, ..RingSizes::default() };
        let config = DeviceConfig { rings, ..DeviceConfig::with_seed(seed) };
        let mut device = Device::open(GoldenBus::new(card.clone()), config).expect("it opens");
        let (mut sent, mut waits) = (0, 0);
        for _ in 0..100 {
            for _ in 0..random.random_range(0..8) {
                device.command([0; COMMAND_BYTES]);
            }
            for _ in 0..random.random_range(0..8) {
                device.send(raw(&[7; 60]));
                sent += 1;
            }
            loop {
                while device.poll().expect("it polls") {}
                if device.unconfirmed_count() == 0 && device.sends_waiting() == 0 {
                    break;
                }
                let woken = device.wait(LONG, None).expect("it waits");
                assert!(woken, "a lost wake-up; replay with ZERONIC_SEED={seed}");
                waits += 1;
            }
        }
        assert!(waits > 100, "{waits} waits");
        // Descriptors in the ring are still taken.
        for _ in 0..2_000 {
            device.bus().advance().expect("it goes on");
        }
        let mut frames = Vec::new();
        card.take_sent(&mut frames);
        assert_eq!(frames.len(), sent);
    }
}

/// A card of the contract before says nothing of them: the host polls, as it did.
#[test]
fn without_feature_commands_prevent_sleep() {
    let card = GoldenCard::late(SMALL, 1);
    card.borrow_mut().withhold(Some(Withheld::Confirmations));
    let bus = HookedBus { inner: GoldenBus::new(card), hooks: Former };
    let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
    assert!(device.arm().expect("it arms"));
    device.command([0; COMMAND_BYTES]);
    device.poll().expect("it polls");
    assert!(!device.arm().expect("nothing is armed"));
    assert!(!device.wait(LONG, None).expect("it returns at once"));
}

/// A card without interrupts on confirmations.
struct Former;

impl Hooks<GoldenBus> for Former {
    fn read_register(&mut self, bus: &mut GoldenBus, offset: u32) -> Result<u32> {
        match offset {
            registers::FEATURES => Ok(bus.read_register(offset)? & !registers::FEATURE_ARM),
            _ => bus.read_register(offset),
        }
    }
}

/// What the kernel has to send: nothing of the card would end the sleep. Skipped where the machine
/// allows no network namespace.
#[test]
fn kernel_header_ends_the_providers_sleep() {
    let Some(transport) =
        skip_if_refused(LinuxTransport::open(&link(1)), TransportError::is_refusal)
    else {
        return;
    };
    let provider = Provider::open(bus(2), Observed::new(transport), DeviceConfig::with_seed(1));
    let mut provider = provider.expect("it opens");
    provider.connect(ApplicationId::FIRST, peer_address(80)).expect("it starts");
    assert!(provider.wait(LONG).expect("it waits"));
}
