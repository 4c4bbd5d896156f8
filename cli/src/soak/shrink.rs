//! The smallest trial that still fails: what makes no difference goes, numbers become small.
//!
//! ```text
//!   trial that fails ─► leave out, halve, take the usual ─► still fails? ─ yes ─► again from there
//!                                                            none does ─► that is it
//! ```

use super::draw::{Trial, FAULTS};

/// Trials that are run for one, at most.
const TRIALS_MAX: usize = 200;
/// Options that may be left out.
const LEFT_OUT: [&str; 5] = ["--ipv6", "--coalesce", "--harm", "--close-at", "--forged"];
/// Of them, those without a value.
const FLAGS: [&str; 2] = ["--ipv6", "--coalesce"];
/// Numbers that may be halved.
const HALVED: [&str; 2] = ["--connections", "--bytes"];
/// Options that have a usual value.
const USUAL: [(&str, &str); 3] = [("--mtu", "1500"), ("--config", "small"), ("--memory", "dram")];

/// The smallest trial that fails as far as single steps lead to it; the trial itself fails.
pub fn smallest<E>(
    trial: &Trial,
    mut fails: impl FnMut(&Trial) -> Result<bool, E>,
) -> Result<Trial, E> {
    let mut least = trial.clone();
    let mut left = TRIALS_MAX;
    'again: loop {
        for smaller in smaller(&least) {
            if left == 0 {
                return Ok(least);
            }
            left -= 1;
            if fails(&smaller)? {
                least = smaller;
                continue 'again;
            }
        }
        return Ok(least);
    }
}

/// Trials that are one step smaller, the largest steps first.
fn smaller(trial: &Trial) -> Vec<Trial> {
    let place = |name: &str| trial.arguments.iter().position(|word| word == name);
    let mut found = Vec::new();
    for name in LEFT_OUT.into_iter().chain(FAULTS) {
        let Some(at) = place(name) else { continue };
        let mut arguments = trial.arguments.clone();
        arguments.drain(at..at + if FLAGS.contains(&name) { 1 } else { 2 });
        found.push(Trial { arguments, ..trial.clone() });
    }
    let mut put = |name: &str, value: String| {
        let Some(at) = place(name).filter(|at| trial.arguments[at + 1] != value) else { return };
        let mut arguments = trial.arguments.clone();
        arguments[at + 1] = value;
        found.push(Trial { arguments, ..trial.clone() });
    };
    for name in HALVED {
        let value = place(name).and_then(|at| trial.arguments[at + 1].parse::<u64>().ok());
        for smaller in value.into_iter().flat_map(|value| [1, value / 2, value - value / 4]) {
            put(name, smaller.max(1).to_string());
        }
    }
    for (name, value) in USUAL {
        put(name, value.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn trial(text: &str) -> Trial {
        let arguments = text.split(' ').map(str::to_owned).collect();
        Trial { config: "default", arguments }
    }

    #[test]
    fn what_makes_no_difference_goes() {
        let whole = trial(
            "scenario --connections 8 --bytes 5000 --buffer 64 --close-at 17 --loss 3.0% --reorder \
             1.0% --harm full --config default --mtu 9000 --seed 5",
        );
        let has = |trial: &Trial, words: &str| trial.command().contains(words);
        let bytes = |trial: &Trial| {
            let at = trial.arguments.iter().position(|word| word == "--bytes").expect("bytes");
            trial.arguments[at + 1].parse::<u64>().expect("a number")
        };
        let fails = |it: &Trial| {
            Ok::<_, Infallible>(has(it, "--loss 3.0%") && has(it, "--seed 5") && bytes(it) >= 100)
        };
        let least = smallest(&whole, fails).expect("no error");
        assert!((100..140).contains(&bytes(&least)), "{}", least.command());
        let rest = least.command().replace(&format!("--bytes {}", bytes(&least)), "--bytes N");
        let expected =
            "zeronic scenario --connections 1 --bytes N --buffer 64 --loss 3.0% --config \
                        small --mtu 1500 --seed 5";
        assert_eq!(rest, expected);
    }

    #[test]
    fn a_trial_that_needs_all_of_it_stays() {
        let whole = trial("demo --bytes 1 --seed 5 --ipv6");
        assert_eq!(smallest(&whole, |_| Ok::<_, Infallible>(false)), Ok(whole));
    }
}
