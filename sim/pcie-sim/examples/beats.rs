//! A card writes memory over PCIe and reads it back: every beat of the two streams, cycle by cycle.
//!
//! ```text
//!   card ── RQ: write, read ──► hard block ══ link ══► root complex ──► memory
//!        ◄── RC: completions ──            ◄══════
//! ```

use std::collections::VecDeque;
use std::error::Error;

use pcie_sim::descriptor::{rc, rc_user, request_type, rq, rq_user};
use pcie_sim::{
    CardOutputs, MemoryId, PcieConfig, PcieSim, RcBeat, Request, RequestKind, Rights, RqBeat,
    BEAT_DWORDS,
};

/// Bus address of the page that the card may reach.
const PAGE: u64 = 0x10_0000_0000;
/// Cycles after which the read is lost: ten times a round trip.
const CYCLES_MAX: u64 = 2_500;
const TAG: u8 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    // Completions of 64 bytes each, so that the read needs more than one.
    let config = PcieConfig { completion_payload_bytes: 64, ..PcieConfig::default() };
    let mut slot = PcieSim::new(config)?;
    slot.enable_device();
    slot.map(PAGE, 0x1000, MemoryId::Dram, 0, Rights::ReadWrite)?;
    while slot.inputs().user_reset {
        slot.step(&CardOutputs::default());
    }
    let bytes: Vec<u8> = (0..=127).collect();
    let mut queue = beats(&Request::write(PAGE, &bytes), 0);
    queue.extend(beats(&Request::read(PAGE, bytes.len(), TAG), 1));

    let mut read = Vec::new();
    let start = slot.cycle();
    while read.len() < bytes.len() && slot.cycle() - start < CYCLES_MAX {
        let rq = queue.front().copied().unwrap_or_default();
        let seen = *slot.inputs();
        if rq.tvalid && seen.rq_tready {
            print_beat(&slot, "RQ", &rq.tdata);
            queue.pop_front();
        }
        slot.step(&CardOutputs { rq, rc_tready: true, ..CardOutputs::default() });
        if seen.rc.tvalid {
            print_beat(&slot, "RC", &seen.rc.tdata);
            take(&seen.rc, &mut read);
        }
    }
    println!("{} bytes read back after {} cycles", read.len(), slot.cycle() - start);
    if read != bytes || !slot.violations().is_empty() {
        return Err(format!("read {read:02x?}; broken rules: {:?}", slot.violations()).into());
    }
    Ok(())
}

/// A request in beats: its descriptor of four dwords, and the payload behind it.
fn beats(request: &Request, sequence: u64) -> VecDeque<RqBeat> {
    let kind = match request.kind {
        RequestKind::Read => request_type::MEMORY_READ,
        RequestKind::Write => request_type::MEMORY_WRITE,
    };
    let mut words = vec![0; 4];
    rq::ADDRESS.set(&mut words, request.address >> 2);
    rq::DWORD_COUNT.set(&mut words, request.dword_count.into());
    rq::TYPE.set(&mut words, kind.into());
    rq::TAG.set(&mut words, request.tag.into());
    words.extend(&request.payload);
    let count = words.len().div_ceil(BEAT_DWORDS);
    let chunks = words.chunks(BEAT_DWORDS).enumerate();
    let beat = |(number, chunk): (usize, &[u32])| {
        let mut beat = RqBeat { tvalid: true, tkeep: 0xffff, ..RqBeat::default() };
        beat.tdata[..chunk.len()].copy_from_slice(chunk);
        if number == 0 {
            rq_user::IS_SOP.set(&mut beat.tuser, 1);
            rq_user::FIRST_BE[0].set(&mut beat.tuser, request.first_be.into());
            rq_user::LAST_BE[0].set(&mut beat.tuser, request.last_be.into());
            rq_user::SEQUENCE_NUMBER[0].set(&mut beat.tuser, sequence);
        }
        if number + 1 == count {
            rq_user::IS_EOP.set(&mut beat.tuser, 1);
            rq_user::EOP_POINTER[0].set(&mut beat.tuser, chunk.len() as u64 - 1);
        }
        beat
    };
    chunks.map(beat).collect()
}

/// Tells the completions that begin in a beat, and takes the payload of all. There is one read, and
/// its completions come in order, so the bytes that the beat marks as valid follow each other.
fn take(beat: &RcBeat, read: &mut Vec<u8>) {
    let starts = rc_user::IS_SOP.get(&beat.tuser);
    for pointer in (0..4).filter(|number| starts & (1 << number) != 0) {
        let at = 4 * rc_user::SOP_POINTER[pointer].get(&beat.tuser) as usize;
        let descriptor = &beat.tdata[at..];
        println!(
            "          completion of tag {}: {} dwords from {:#x}, {} bytes to go, last: {}",
            rc::TAG.get(descriptor),
            rc::DWORD_COUNT.get(descriptor),
            rc::LOWER_ADDRESS.get(descriptor),
            rc::BYTE_COUNT.get(descriptor),
            rc::REQUEST_COMPLETED.is_set(descriptor),
        );
    }
    let valid = rc_user::BYTE_ENABLE.get(&beat.tuser);
    let bytes = beat.tdata.iter().flat_map(|dword| dword.to_le_bytes());
    let marked = bytes.enumerate().filter(|(lane, _)| valid >> lane & 1 == 1);
    read.extend(marked.map(|(_, byte)| byte));
}

/// Prints a beat, in halves; one of zeros is left out.
fn print_beat(slot: &PcieSim, stream: &str, dwords: &[u32]) {
    println!("{:>6} ns {stream} {:08x?}", slot.now_ns(), &dwords[..8]);
    if dwords[8..].iter().any(|dword| *dword != 0) {
        println!("             {:08x?}", &dwords[8..]);
    }
}
