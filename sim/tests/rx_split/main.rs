use rx_split::RxSplit;
use sim::bench::Bench;
#[test]
fn builds() {
    let mut dut = RxSplit::<10, 2, 4>::default();
    let bench = Bench::of(&mut dut, "rx_split").expect("builds");
    let _ = bench.now();
}
