//! Tests of `tables::segment_list::search_loop`.

use stream::prelude::*;
use tables::messages::SearchToken;
use tables::segment_list::search_loop::*;

/// Three searches go before a fetch that waits. An epoch takes the fetch away: the next place is
/// not kept for it.
#[test]
fn searches_continue_after_withdrawn_fetch() {
    let mut dut = SearchLoop::<4>::default();
    dut.connect_all();
    check_all(&dut).expect("checks");
    dut.tokens.valid.next = true;
    dut.fetch.payload.next = SearchToken { fetch: true, ..SearchToken::default() };
    // Whether a fetch, and whether a search was taken.
    let mut step = |fetches: bool, reset: bool| {
        dut.clock.next = Clock { clk: false };
        dut.fetch.valid.next = fetches;
        dut.reset.next = reset;
        assert!(simulate(&mut dut, 20));
        let taken =
            (fetches & dut.fetch.ready.val(), dut.tokens.valid.val() & dut.tokens.ready.val());
        dut.clock.next = Clock { clk: true };
        assert!(simulate(&mut dut, 20));
        taken
    };
    for _ in 0..2 {
        let mut places: Vec<(bool, bool)> = (0..4).map(|_| step(true, false)).collect();
        assert_eq!(places.pop(), Some((true, false)), "every fourth place");
        assert_eq!(places, [(false, true); 3]);
    }
    for _ in 0..3 {
        assert_eq!(step(true, false), (false, true));
    }
    step(false, true);
    for _ in 0..4 {
        assert_eq!(step(false, false), (false, true));
    }
}
