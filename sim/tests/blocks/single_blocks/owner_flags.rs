//! The marks of owners against a list of them: owners are enabled and disabled while others, or the
//! same, write their first indices.
//!
//! ```text
//!   enable, disable ─┐
//!   indices written ─┴──► OwnerFlags ──► enabled and written since? = what the list says
//! ```

use std::collections::BTreeSet;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rx_split::admit::owner_flags::OwnerFlags;
use rx_split::owner_decode::OwnerWrite;
use seed::{enough, seed};
use sim::harness::bench::Bench;
use sim::harness::payload::bytes_of;
use verilate::width::lint_width_warnings;

const OWNERS: u64 = 8;

/// What the block must know.
#[derive(Default)]
struct Marks {
    enabled: BTreeSet<u64>,
    produced: BTreeSet<u64>,
}

impl Marks {
    /// An update comes before a write of the same cycle: the owner that is enabled has none.
    fn cycle(&mut self, update: Option<u64>, switched: Option<(u64, bool)>, reset: bool) {
        self.produced.extend(update);
        if let Some((owner, on)) = switched {
            self.enabled.remove(&owner);
            if on {
                self.enabled.insert(owner);
                self.produced.remove(&owner);
            }
        }
        if reset {
            self.enabled.clear();
        }
    }
}

fn show(bench: &mut Bench, marks: &Marks, cycle: u64) {
    for owner in 0..OWNERS {
        bench.set("owner", owner);
        bench.set("other", owner);
        let enabled = bench.get("is_enabled") == 1;
        assert_eq!(enabled, marks.enabled.contains(&owner), "cycle {cycle}: {owner} enabled");
        // An owner that is not enabled has no entries: its mark says nothing.
        if enabled {
            let written = marks.produced.contains(&owner);
            for port in ["has_produced", "other_has_produced"] {
                let got = bench.get(port) == 1;
                assert_eq!(got, written, "cycle {cycle}: indices of {owner} written, {port}");
            }
        }
    }
}

#[test]
fn enabled_owner_takes_no_others_mark() {
    let mut random = SmallRng::seed_from_u64(seed());
    let mut block = OwnerFlags::<3, 8>::default();
    let mut bench = Bench::of(&mut block, "owner_flags").expect("builds");
    lint_width_warnings(bench.model.design().warnings()).expect("only masked casts");
    let mut marks = Marks::default();
    let mut at_once = 0;
    for cycle in 0..20_000 {
        let owner = random.random_range(0..OWNERS);
        let update = random.random_bool(0.5).then(|| random.random_range(0..OWNERS));
        let switched = random.random_bool(0.3).then(|| (owner, random.random_bool(0.7)));
        let reset = cycle == 0 || random.random_ratio(1, 500);
        let write = OwnerWrite {
            enable: switched.is_some(),
            switch: switched.is_some_and(|(_, on)| on),
            ..OwnerWrite::default()
        };
        let port = bench.model.port("write");
        bench.model.set_bytes(port, &bytes_of(write));
        for (port, value) in [
            ("write_owner", owner),
            ("update", update.is_some().into()),
            ("update_owner", update.unwrap_or_default()),
            ("reset", reset.into()),
        ] {
            bench.set(port, value);
        }
        bench.cycle(&mut []);
        let is_first = |owner: &u64| !marks.produced.contains(owner);
        let enables = switched.is_some_and(|(owner, on)| on && update != Some(owner));
        at_once += u64::from(enables && update.as_ref().is_some_and(is_first));
        marks.cycle(update, switched, reset);
        show(&mut bench, &marks, cycle);
    }
    enough("first entries as another owner is enabled", at_once, 300);
}
