//! What a soak draws from its seed: demos and scenarios, each a command of this program.

use std::fmt::Display;

use host::transport::IPV6_MTU_BYTES_MIN;

use crate::shared::config::ModelName;

/// MTUs that are drawn as often as all others together: the least of IPv4 and of IPv6, Ethernet's,
/// the largest.
const MTU_EDGES: [u64; 4] = [576, 1280, 1500, 9000];
/// Largest probability of a fault of the wire, per mille.
const FAULT_PERMILLE_MAX: u64 = 100;
/// Faults of the wire, by option.
pub const FAULTS: [&str; 4] = ["--loss", "--reorder", "--duplicate", "--corrupt"];
/// TCPs of either end that a run follows from its seed with.
const STACKS: [&str; 2] = ["smoltcp", "tcp"];
/// Controllers of our own TCP.
const CONTROLLERS: [&str; 3] = ["model", "cubic", "dctcp"];
/// The kernel's where the machine has it: its timers run by the wall clock.
const STACK_OF_MACHINE: &str = "auto";

/// A demo or a scenario to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The card's sizes.
    pub config: &'static str,
    /// The words behind the program's name.
    pub arguments: Vec<String>,
}

impl Trial {
    /// The command that repeats it.
    pub fn command(&self) -> String {
        format!("zeronic {}", self.arguments.join(" "))
    }
}

/// The generator of the trials: SplitMix64 (Steele, Lea, Flood 2014).
pub struct Draw(pub u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `count`.
    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// A number of bytes: short ones as often as long ones, on a scale of powers of two.
    fn bytes(&mut self, most: u64) -> u64 {
        let low = 1 << self.below(u64::from(most.ilog2()) + 1);
        low + self.below(low.min(most - low + 1))
    }

    fn mtu(&mut self) -> u64 {
        let edge = self.one(&MTU_EDGES);
        let any = MTU_EDGES[0] + self.below(MTU_EDGES[3] - MTU_EDGES[0] + 1);
        self.one(&[edge, any])
    }

    /// The next trial: on the RTL a demo, on the golden model a demo or a scenario.
    pub fn trial(&mut self, bytes_max: u64, model: ModelName) -> Trial {
        match model {
            ModelName::Golden if self.one(&[false, true]) => self.scenario(bytes_max),
            model => self.demo(bytes_max, model),
        }
    }

    /// Per mille that a fault happens, mostly none.
    fn per_cent(&mut self) -> String {
        let permille = self.below(FAULT_PERMILLE_MAX + 1);
        let permille = self.one(&[0, permille]);
        format!("{}.{}%", permille / 10, permille % 10)
    }

    /// The next scenario: as many connections as buffers are small, and what disturbs them.
    fn scenario(&mut self, bytes_max: u64) -> Trial {
        let mut arguments = vec!["scenario".to_owned()];
        let mut option = |name: &str, value: &dyn Display| {
            arguments.extend([name.to_owned(), value.to_string()]);
        };
        let buffer_bits = self.below(17);
        // With a window of a few bytes each of them takes a round trip.
        let bytes = self.bytes(bytes_max.min(512 << buffer_bits));
        option("--connections", &(1 + self.below(8)));
        option("--bytes", &bytes);
        option("--buffer", &(1_u64 << buffer_bits));
        let close_at = self.below(bytes + 1);
        if self.one(&[false, true]) {
            option("--close-at", &close_at);
        }
        for fault in FAULTS {
            option(fault, &self.per_cent());
        }
        option("--forged", &self.per_cent());
        if let Some(harm) =
            self.one(&[None, None, None, Some("commands"), Some("sends"), Some("full")])
        {
            option("--harm", &harm);
        }
        option("--controller", &self.one(&CONTROLLERS));
        let config = self.one(&["default", "small"]);
        option("--config", &config);
        option("--mtu", &self.mtu());
        option("--seed", &self.below(1 << 32));
        if self.one(&[false, true]) {
            arguments.push("--coalesce".to_owned());
        }
        Trial { config, arguments }
    }

    /// The next demo. Every demo takes equally many numbers, whatever they are.
    fn demo(&mut self, bytes_max: u64, model: ModelName) -> Trial {
        let mut arguments = vec!["demo".to_owned()];
        let mut option = |name: &str, value: &dyn Display| {
            arguments.extend([name.to_owned(), value.to_string()]);
        };
        option("--bytes", &self.bytes(bytes_max));
        let mut stacks = STACKS.to_vec();
        match model {
            ModelName::Rtl => stacks.push(STACK_OF_MACHINE),
            ModelName::Golden => option("--model", &model.name()),
        }
        option("--peer", &self.one(&stacks));
        option("--transport", &self.one(&stacks));
        option("--controller", &self.one(&CONTROLLERS));
        option("--memory", &self.one(&["dram", "gpu"]));
        let config = self.one(&["default", "small"]);
        option("--config", &config);
        let (mtu, ipv6) = (self.mtu(), self.one(&[false, true]));
        option("--mtu", &mtu);
        for fault in FAULTS {
            option(fault, &self.per_cent());
        }
        option("--seed", &self.below(1 << 32));
        if ipv6 && mtu >= u64::from(IPV6_MTU_BYTES_MIN) {
            arguments.push("--ipv6".to_owned());
        }
        if self.one(&[false, true]) {
            arguments.push("--coalesce".to_owned());
        }
        Trial { config, arguments }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;

    use super::*;
    use crate::Arguments;

    fn demos_on(model: ModelName, seed: u64, bytes_max: u64) -> Vec<Trial> {
        let mut draw = Draw(seed);
        (0..500).map(|_| draw.demo(bytes_max, model)).collect()
    }

    fn demos(seed: u64, bytes_max: u64) -> Vec<Trial> {
        demos_on(ModelName::Rtl, seed, bytes_max)
    }

    #[test]
    fn a_seed_gives_the_same_demos() {
        assert_eq!(demos(7, 1 << 20), demos(7, 1 << 20));
        assert_ne!(demos(7, 1 << 20), demos(8, 1 << 20));
    }

    #[test]
    fn demos_are_commands_within_the_limits() {
        let (mut least, mut most, mut both) = (u64::MAX, 0, BTreeSet::new());
        for demo in demos(3, 5000) {
            let words = demo.command();
            let parsed = Arguments::try_parse_from(words.split(' '));
            assert!(parsed.is_ok(), "{words}: {parsed:?}");
            let value = |name: &str| {
                let at = demo.arguments.iter().position(|word| word == name);
                let text = &demo.arguments[at.expect("an option") + 1];
                text.trim_end_matches('%').parse::<f64>().expect("a number")
            };
            let bytes = value("--bytes") as u64;
            (least, most) = (least.min(bytes), most.max(bytes));
            assert!(FAULTS.iter().all(|fault| value(fault) <= 10.0), "{words}");
            let ipv6 = words.contains("--ipv6");
            assert!(!ipv6 || value("--mtu") >= 1280.0, "{words}");
            both.insert((ipv6, value("--loss") > 0.0, demo.config));
        }
        assert!(least < 4 && (4500..=5000).contains(&most), "{least} {most}");
        assert_eq!(both.len(), 8, "{both:?}");
        assert!(demos(3, 1).iter().all(|demo| demo.arguments[2] == "1"));
    }

    #[test]
    fn scenarios_are_commands_with_all_that_may_happen() {
        let mut draw = Draw(9);
        let trials = (0..500).map(|_| draw.trial(20_000, ModelName::Golden));
        let scenarios = Vec::from_iter(trials.filter(|it| it.arguments[0] == "scenario"));
        assert!((200..300).contains(&scenarios.len()), "{}", scenarios.len());
        for scenario in &scenarios {
            let words = scenario.command();
            let parsed = Arguments::try_parse_from(words.split(' '));
            assert!(parsed.is_ok(), "{words}: {parsed:?}");
        }
        for option in ["--close-at", "--harm commands", "--harm sends", "--harm full", "--coalesce"]
        {
            let has = |it: &&Trial| it.command().contains(option);
            assert!(scenarios.iter().filter(has).count() > 20, "{option}");
        }
    }

    /// On the golden model nothing is left to the machine; on the RTL every TCP has its turn.
    #[test]
    fn golden_model_demo_has_no_kernel() {
        let golden = demos_on(ModelName::Golden, 5, 5000);
        let is_golden = |demo: &Trial| demo.command().contains(" --model golden ");
        assert!(golden.iter().all(is_golden));
        for (demos, stacks) in [(golden, 2), (demos(5, 5000), 3)] {
            for end in ["--peer", "--transport"] {
                let found: BTreeSet<&str> = demos
                    .iter()
                    .filter_map(|demo| {
                        let at = demo.arguments.iter().position(|word| word == end)?;
                        demo.arguments.get(at + 1).map(String::as_str)
                    })
                    .collect();
                assert_eq!(found.len(), stacks, "{found:?}");
                assert_eq!(found.contains("auto"), stacks == 3);
            }
        }
    }
}
