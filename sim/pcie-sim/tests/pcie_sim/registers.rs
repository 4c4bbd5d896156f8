//! Register accesses of the host, resets and the configuration ports.
//!
//! ```text
//!   mmio_write / mmio_read --CQ--> card --CC--> check --> result in order with the card's writes
//! ```

use crate::card::Bench;
use pcie_sim::descriptor::cc;
use pcie_sim::{
    CardOutputs, IommuError, MemoryId, MmioError, MmioRead, MmioResult, PcieConfig, Request, Rights,
};

const BUS: u64 = 0x10_0000_0000;
const BAR: u64 = 0x20_0000_0000;

fn bench() -> Bench {
    let mut bench = Bench::new(PcieConfig::default());
    bench.sim.map(BUS, 1 << 20, MemoryId::Dram, 0, Rights::ReadWrite).unwrap();
    bench
}

fn wait(bench: &mut Bench, read: MmioRead) -> MmioResult {
    let mut result = None;
    bench.run_until(20_000, |b| {
        result = b.sim.mmio_poll(read);
        result.is_some()
    });
    result.unwrap()
}

#[test]
fn registers_read_back_in_every_width() {
    let mut bench = bench();
    bench.sim.mmio_write32(BAR + 0x10, 0x1234_5678).unwrap();
    bench.sim.mmio_write64(BAR + 0x18, 0x1122_3344_5566_7788).unwrap();
    bench.sim.mmio_write(BAR + 0x41, &[0xaa, 0xbb]).unwrap();
    for (offset, bytes, expected) in [
        (0x10, 4, vec![0x78, 0x56, 0x34, 0x12]),
        (0x18, 8, vec![0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]),
        (0x1c, 4, vec![0x44, 0x33, 0x22, 0x11]),
        (0x40, 4, vec![0, 0xaa, 0xbb, 0]),
        (0x41, 2, vec![0xaa, 0xbb]),
        (0x42, 1, vec![0xbb]),
    ] {
        let read = bench.sim.mmio_read(BAR + offset, bytes).unwrap();
        assert_eq!(wait(&mut bench, read), Ok(expected), "{offset:#x}");
    }
    bench.assert_clean();
}

#[test]
fn write_combined_line_is_one_packet() {
    let mut bench = bench();
    let line: Vec<u8> = (0..64).collect();
    bench.sim.mmio_write(BAR + 0x80, &line).unwrap();
    bench.run(500);
    assert_eq!(bench.card.writes_seen.len(), 1);
    assert_eq!(bench.card.writes_seen[0].1.len(), 16);
    assert!((0..64).all(|i| bench.card.registers[&(BAR + 0x80 + i)] == i as u8));
}

#[test]
fn accesses_arrive_in_order_through_stalls() {
    let config = PcieConfig { cc_stall_permille: 700, idle_permille: 300, ..Default::default() };
    let mut bench = Bench::new(config);
    bench.card.cq_stall_permille = 700;
    for i in 0..200u32 {
        bench.sim.mmio_write32(BAR + 0x100, i).unwrap();
    }
    let read = bench.sim.mmio_read(BAR + 0x100, 4).unwrap();
    assert_eq!(wait(&mut bench, read), Ok(199u32.to_le_bytes().to_vec()));
    let seen: Vec<u32> = bench.card.writes_seen.iter().map(|(_, words)| words[0]).collect();
    assert_eq!(seen, (0..200).collect::<Vec<_>>());
    bench.assert_clean();
}

#[test]
fn register_result_follows_earlier_writes() {
    let config = PcieConfig { dram_write_ns: 3_000, ..PcieConfig::default() };
    let mut bench = Bench::new(config);
    bench.sim.map(BUS, 1 << 20, MemoryId::Dram, 0, Rights::ReadWrite).unwrap();
    bench.card.issue(Request::write(BUS, &[0x5a; 4]));
    bench.run_until(100, |b| !b.card.sequence_numbers.is_empty());
    let read = bench.sim.mmio_read(BAR, 4).unwrap();
    wait(&mut bench, read).unwrap();
    let mut seen = [0];
    bench.sim.read(BUS, &mut seen).unwrap();
    assert_eq!(seen, [0x5a]);
}

#[test]
fn completion_overtakes_write_not_yet_sequenced() {
    let mut config = PcieConfig::default();
    config.host_credits.posted_headers = 1;
    config.credit_return_ns = 20_000;
    let mut bench = Bench::new(config);
    bench.sim.map(BUS, 1 << 20, MemoryId::Dram, 0, Rights::ReadWrite).unwrap();
    bench.card.issue(Request::write(BUS, &[1; 4]));
    bench.card.issue(Request::write(BUS + 64, &[2; 4]));
    bench.run(50);
    assert_eq!(bench.card.sequence_numbers.len(), 1);
    let read = bench.sim.mmio_read(BAR, 4).unwrap();
    wait(&mut bench, read).unwrap();
    let mut seen = [0];
    bench.sim.read(BUS + 64, &mut seen).unwrap();
    assert_eq!(seen, [0], "the second write still waits for its credit");
}

#[test]
fn card_status_reaches_the_host() {
    for (status, poisoned, expected) in [
        (1, 0, MmioError::UnsupportedRequest),
        (4, 0, MmioError::CompleterAbort),
        (0, 1, MmioError::Poisoned),
    ] {
        let mut bench = bench();
        bench.card.mute = true;
        let read = bench.sim.mmio_read(BAR, 4).unwrap();
        bench.run(300);
        // A refusal carries five dwords for the log of the hard block.
        let mut words = vec![0; if status == 0 { 4 } else { 8 }];
        cc::BYTE_COUNT.set(&mut words, 4);
        cc::DWORD_COUNT.set(&mut words, u64::from(status == 0));
        cc::STATUS.set(&mut words, status);
        cc::POISONED.set(&mut words, poisoned);
        bench.card.send_cc(&words);
        assert_eq!(wait(&mut bench, read), Err(expected));
        bench.assert_clean();
    }
}

#[test]
fn wrong_accesses_are_errors() {
    let mut bench = bench();
    let sim = &mut bench.sim;
    let no_bar = MmioError::NoBar { address: 0x1000, bytes: 4 };
    assert_eq!(sim.mmio_write32(0x1000, 0), Err(no_bar));
    assert_eq!(sim.mmio_write(BAR + 60, &[0; 8]), Err(MmioError::Length(8)));
    assert_eq!(sim.mmio_read(BAR, 0), Err(MmioError::Length(0)));
    let end = BAR + (16 << 20);
    assert_eq!(sim.mmio_write32(end, 0), Err(MmioError::NoBar { address: end, bytes: 4 }));
}

#[test]
fn disabled_memory_decoding_answers_without_card() {
    let mut bench = bench();
    bench.sim.set_memory_enable(false);
    let read = bench.sim.mmio_read(BAR, 4).unwrap();
    assert_eq!(wait(&mut bench, read), Err(MmioError::UnsupportedRequest));
    assert!(bench.card.writes_seen.is_empty());
    assert_eq!(bench.sim.inputs().cfg_function_status, 0b100);
}

#[test]
fn unadmitted_read_times_out_without_harm() {
    let mut bench = bench();
    bench.card.cq_np_req = 0;
    let admitted = bench.sim.inputs().pcie_cq_np_req_count;
    for _ in 0..admitted {
        let read = bench.sim.mmio_read(BAR, 4).unwrap();
        wait(&mut bench, read).unwrap();
    }
    let read = bench.sim.mmio_read(BAR, 4).unwrap();
    bench.sim.mmio_write32(BAR + 4, 9).unwrap();
    assert_eq!(wait(&mut bench, read), Err(MmioError::Timeout));
    assert_eq!(bench.card.registers.get(&(BAR + 4)), Some(&9), "the write passes");
    bench.card.cq_np_req = 1;
    bench.run(1000);
    let read = bench.sim.mmio_read(BAR + 4, 4).unwrap();
    assert_eq!(wait(&mut bench, read), Ok(vec![9, 0, 0, 0]));
    bench.assert_clean();
}

#[test]
fn configuration_shows_on_the_ports() {
    let mut bench = bench();
    bench.sim.set_max_payload(512).unwrap();
    bench.sim.set_max_read_request(4096).unwrap();
    bench.sim.set_msix(true, true);
    bench.step();
    let inputs = bench.sim.inputs();
    assert_eq!((inputs.cfg_max_payload, inputs.cfg_max_read_req), (2, 5));
    assert_eq!((inputs.cfg_interrupt_msix_enable, inputs.cfg_interrupt_msix_mask), (1, 1));
    assert_eq!(inputs.cfg_function_status, 0b110);
    assert_eq!((inputs.cfg_negotiated_width, inputs.cfg_current_speed), (4, 2));
    assert_eq!((inputs.cfg_fc_ph, inputs.cfg_fc_pd, inputs.cfg_fc_nph), (127, 2032, 127));
    assert!(bench.sim.set_max_payload(4096).is_err());
}

/// What is available, the limit and what was given back, as `cfg_fc_sel` chooses. The limit goes on
/// with what comes back.
#[test]
fn credits_show_the_selected_kind() {
    let mut bench = bench();
    for number in 0..5 {
        bench.card.issue(Request::write(BUS + 64 * number, &[1; 32]));
    }
    bench.card.issue(Request::read(BUS, 4, 1));
    bench.settle();
    bench.run(1000);
    let mut shown = |cfg_fc_sel| {
        let outputs = CardOutputs {
            rc_tready: true,
            cq_tready: true,
            pcie_cq_np_req: 1,
            cfg_fc_sel,
            ..CardOutputs::default()
        };
        (0..2).for_each(|_| bench.step_with(&outputs));
        let inputs = bench.sim.inputs();
        (inputs.cfg_fc_ph, inputs.cfg_fc_pd, inputs.cfg_fc_nph)
    };
    assert_eq!(shown(4), (127, 2032, 127));
    assert_eq!(shown(5), (127 + 5, 2032 + 10, 127 + 1));
    assert_eq!(shown(6), (5, 10, 1));
    assert_eq!(shown(0), (0, 0, 0));
}

/// No memory is behind the window of the interrupts; beside it there may be.
#[test]
fn nothing_is_mapped_over_the_interrupts() {
    let mut bench = bench();
    let config = PcieConfig::default();
    let (first, page) = (config.interrupt_base, 4096);
    let end = first + config.interrupt_bytes;
    let mut map = |at, pages| {
        let memory = MemoryId::Dram;
        bench.sim.map(at, pages * page, memory, 2 << 20, Rights::ReadWrite)
    };
    for (at, pages) in [(first, 1), (end - page, 1), (first - page, 2), (end - page, 2)] {
        assert_eq!(map(at, pages), Err(IommuError::Overlap(first)), "{at:#x}");
    }
    assert_eq!(map(first - page, 1), Ok(()));
    assert_eq!(map(end, 1), Ok(()));
}

#[test]
fn interrupts_arrive_in_written_order() {
    let mut bench = bench();
    bench.sim.set_msix(true, false);
    for vector in 0..4u8 {
        let address = 0xfee0_0000 + 64 * u64::from(3 - vector);
        bench.card.issue(Request::write(address, &[vector, 0, 0, 0]));
    }
    bench.settle();
    bench.run(1000);
    let taken = std::iter::from_fn(|| bench.sim.next_interrupt());
    let taken: Vec<_> = taken.map(|it| (it.address, it.data)).collect();
    let expected = [(0xc0, 0), (0x80, 1), (0x40, 2), (0, 3)];
    assert_eq!(taken, expected.map(|(at, data)| (0xfee0_0000 + at, data)));
    bench.assert_clean();
}

#[test]
fn function_reset_discards_reads_and_completions() {
    let mut bench = bench();
    bench.card.issue(Request::read(BUS, 512, 5));
    bench.run(100);
    bench.sim.start_function_reset();
    bench.run(1000);
    let seen: Vec<_> =
        bench.card.completions.iter().map(|c| (c.tag, c.error, c.completed)).collect();
    assert_eq!(seen, vec![(5, 8, true)]);
    assert_eq!(bench.sim.inputs().cfg_flr_in_process, 1);
    assert_eq!(bench.sim.inputs().cfg_function_status, 0);
    assert!(bench.sim.function_reset_running());
    bench.card.flr_done = true;
    bench.run(2);
    assert!(!bench.sim.function_reset_running());
    bench.sim.enable_device();
    bench.card.issue(Request::read(BUS, 16, 5));
    bench.settle();
    assert_eq!(bench.bytes_of(5), vec![0; 16]);
    bench.assert_clean();
}

#[test]
fn link_loss_drops_flight_and_recovers() {
    let mut bench = bench();
    let read = bench.sim.mmio_read(BAR, 4).unwrap();
    for tag in 0..20 {
        bench.card.issue(Request::read(BUS, 512, tag));
    }
    bench.run(100);
    bench.sim.link_down();
    bench.card = crate::card::Card::new(1);
    assert_eq!(bench.sim.mmio_poll(read), Some(Err(MmioError::LinkDown)));
    assert_eq!(bench.sim.mmio_read(BAR, 4), Err(MmioError::LinkDown));
    bench.run(1000);
    let inputs = bench.sim.inputs();
    assert!(inputs.user_reset && inputs.cfg_phy_link_down && !inputs.user_lnk_up);
    bench.sim.link_up();
    bench.run(20);
    assert!(!bench.sim.inputs().user_reset);
    assert_eq!(bench.sim.inputs().cfg_function_status, 0);
    bench.sim.enable_device();
    bench.card.issue(Request::read(BUS, 4, 0));
    bench.settle();
    assert_eq!(bench.card.completions.len(), 1);
    bench.assert_clean();
}
