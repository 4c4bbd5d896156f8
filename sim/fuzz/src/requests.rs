//! Calls of an application, in any order and with any numbers, between rounds of the wire. Each is
//! done or refused with an error; none ends the provider.

use host::driver::bus::MemoryKind;
use host::provider::{ApplicationId, ConnectionId, ReceiveOptions, RegionId};

use crate::input::Input;
use crate::rig::{coalesces, Rig, PORT};

/// Calls of one run, at most.
const CALLS_MAX: usize = 128;

/// Runs the target. Returns the packets that have shared a header entry with one before.
///
/// # Panics
/// If a call ends the provider.
pub fn run(bytes: &[u8]) -> u64 {
    let mut rig = Rig::new(coalesces(bytes), |bus| bus);
    let mut connections = vec![rig.connection, ConnectionId(7)];
    let mut regions = vec![rig.region, RegionId(60_000)];
    let mut listeners = Vec::new();
    let mut input = Input::new(bytes);
    for request in 0..CALLS_MAX as u64 {
        if input.is_over() {
            break;
        }
        let call = input.below(12);
        let connection = connections[input.below(connections.len() as u64) as usize];
        let region = regions[input.below(regions.len() as u64) as usize];
        let (offset, length) = (input.number(2), input.number(2) as u32);
        let application = ApplicationId(input.below(3) as u16);
        let provider = &mut rig.machine.host;
        match call {
            0 | 1 => drop(provider.recv_with(
                connection,
                region.span(offset, length),
                request,
                ReceiveOptions { partial: call == 1 },
            )),
            2 => drop(provider.send(connection, region.span(offset, length), request)),
            3 => drop(provider.finish(connection)),
            4 => drop(provider.close(connection)),
            5 => {
                let remote = ([10, 77, 0, 2], PORT + (length % 2) as u16).into();
                connections.extend(provider.connect(application, remote));
            }
            6 => {
                let local = ([10, 77, 0, 1], 80 + (length % 4) as u16).into();
                listeners.extend(provider.listen(application, local));
            }
            7 => {
                if let Some(listener) = listeners.last() {
                    connections.extend(provider.accept(*listener).ok().flatten());
                }
            }
            8 => drop(listeners.pop().map(|listener| provider.unlisten(listener))),
            9 => {
                let kind = [MemoryKind::Application, MemoryKind::Gpu][length as usize % 2];
                regions.extend(provider.register(application, kind, length as usize));
            }
            10 => drop(provider.deregister(region)),
            _ => drop(provider.addresses(connection)),
        }
        for _ in 0..input.below(4) {
            rig.step(true).expect("a call ended the provider");
        }
    }
    for _ in 0..20 {
        rig.step(true).expect("a call ended the provider");
    }
    rig.packets_joined()
}
