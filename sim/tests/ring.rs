//! The ring fetcher against a host memory that answers late, out of step and sometimes with an abort.

use dma::ring::Ring;
use dma::ring_state::COMMAND_RING;
use sim::bench::Bench;

#[test]
fn builds() {
    let bench = Bench::of(&mut Ring::<2, 4>::new(COMMAND_RING), "ring").expect("builds");
    println!("{}", bench.model.design().warnings());
}
