//! The scoreboard against a state for each byte.

use rand::Rng;
use tcp::config::Config;
use tcp::rack::Rack;
use tcp::rtt::Rtt;
use tcp::scoreboard::{Delivered, Scoreboard, Stamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Byte {
    Unsent,
    InFlight(u64),
    Lost(u64),
    Sacked,
    Acknowledged,
}

const SIZE: usize = 3_000;

struct Model {
    bytes: Vec<Byte>,
    una: usize,
    next: usize,
    transmission: u64,
    /// RACK: the last transmission that has come.
    newest: u64,
    repeated: Vec<bool>,
}

impl Model {
    fn count(&self, of: impl Fn(&Byte) -> bool) -> u64 {
        self.bytes.iter().filter(|byte| of(byte)).count() as u64
    }

    /// What of a span is new, and the highest transmission in it.
    fn deliver(&mut self, from: usize, to: usize, into: Byte) -> (u64, Option<u64>) {
        let (mut new, mut highest) = (0, None);
        for byte in &mut self.bytes[from..to] {
            if let Byte::InFlight(number) | Byte::Lost(number) = *byte {
                new += 1;
                highest = highest.max(Some(number));
            }
            *byte = into;
        }
        (new, highest)
    }
}

#[test]
fn scoreboard_agrees_with_bytewise_state() {
    // Long: each operation stands beside what it does to the bytes of the model.
    let mut random = super::random();
    let (mut lost_sum, mut sacked_sum, mut restored_sum) = (0, 0, 0);
    for _ in 0..60 {
        let mut board = Scoreboard::default();
        let mut rack = Rack::default();
        let rtt = Rtt::new(&Config::default());
        let mut model = Model {
            bytes: vec![Byte::Unsent; SIZE],
            una: 0,
            next: 0,
            transmission: 1,
            newest: 0,
            repeated: vec![false; SIZE],
        };
        for now_ns in 1..300_u64 {
            let stamp = Stamp { sent_ns: now_ns, ..Stamp::default() };
            let mut delivered = Delivered::default();
            let mut expected = (0, None);
            match random.random_range(0..12) {
                0..=4 if model.next < SIZE => {
                    let end = (model.next + random.random_range(1..60)).min(SIZE);
                    board.send(model.next as u64, end as u64, stamp);
                    model.bytes[model.next..end].fill(Byte::InFlight(model.transmission));
                    model.next = end;
                    model.transmission += 1;
                }
                5..=7 if model.una < model.next => {
                    let start = random.random_range(model.una..model.next);
                    let end = (start + random.random_range(1..80)).min(model.next);
                    board.sack(start as u64, end as u64, &mut delivered);
                    expected = model.deliver(start, end, Byte::Sacked);
                    sacked_sum += expected.0;
                }
                8 if model.una < model.next => {
                    let to = random.random_range(model.una..=(model.una + 40).min(model.next));
                    board.acknowledge(to as u64, &mut delivered);
                    expected = model.deliver(model.una, to, Byte::Acknowledged);
                    model.una = to;
                }
                9..=10 => {
                    if let Some(lost) = board.next_lost() {
                        let end = lost.end.min(lost.start + random.random_range(1..40));
                        board.repeat(lost.start, end, stamp);
                        let span = lost.start as usize..end as usize;
                        model.bytes[span.clone()].fill(Byte::InFlight(model.transmission));
                        model.repeated[span].fill(true);
                        model.transmission += 1;
                    }
                }
                11 if random.random_bool(0.2) => {
                    board.lose_all();
                    let head_is_sacked = model.bytes.get(model.una) == Some(&Byte::Sacked);
                    let numbers = model.transmission;
                    for byte in &mut model.bytes {
                        match *byte {
                            Byte::InFlight(number) => *byte = Byte::Lost(number),
                            Byte::Sacked if head_is_sacked => *byte = Byte::Lost(numbers),
                            _ => {}
                        }
                    }
                    if head_is_sacked {
                        break;
                    }
                    if random.random_bool(0.5) {
                        restored_sum += board.restore();
                        for byte in &mut model.bytes {
                            if let Byte::Lost(number) = *byte {
                                *byte = Byte::InFlight(number);
                            }
                        }
                    }
                }
                _ => {}
            }
            assert_eq!(delivered.bytes, expected.0);
            assert_eq!(delivered.newest.map(|it| it.transmission), expected.1);
            if let Some(newest) = delivered.newest {
                rack.deliver(newest.transmission, newest.is_repeated, 1, &rtt);
                model.newest = model.newest.max(newest.transmission);
            }
            // Everything that was sent before what has come is lost, without a window.
            let (lost, _) = board.detect_losses(now_ns + 1_000, &rack, 0);
            let mut expected_lost = 0;
            for byte in &mut model.bytes {
                if let Byte::InFlight(number) = *byte {
                    if number < model.newest {
                        *byte = Byte::Lost(number);
                        expected_lost += 1;
                    }
                }
            }
            assert_eq!(lost, expected_lost);
            lost_sum += lost;
            let in_flight = model.count(|byte| matches!(byte, Byte::InFlight(_)));
            assert_eq!(board.in_flight_bytes(), in_flight);
            assert_eq!(board.sacked_bytes(), model.count(|byte| *byte == Byte::Sacked));
            let first = model.bytes.iter().position(|byte| matches!(byte, Byte::Lost(_)));
            assert_eq!(board.next_lost().map(|it| it.start as usize), first);
        }
    }
    seed::enough("bytes lost", lost_sum, 5_000);
    seed::enough("bytes SACKed", sacked_sum, 5_000);
    seed::enough("bytes restored", restored_sum, 500);
}
