//! The language of the scripts: one thing on a line, `#` begins a comment.
//!
//! ```text
//! set NAME VALUE            before anything else: a setting, see below
//! connect │ listen │ accept │ refuse
//! offer N │ grant N │ finish │ release │ abort       calls; N is a stream offset
//! peer PORT                 the lines that follow are about this peer; the first is 4000
//! isn N                     where the numbers of this peer begin; relative ones begin at 0
//! +TIME                     time passes, with all that falls due meanwhile
//! < SEGMENT                 a segment arrives, its payload can be kept
//! <! SEGMENT                a segment arrives whose payload cannot be kept
//! <~ SEGMENT                an ACK whose timestamp echoes our last one
//! > SEGMENT                 this is sent next, and was sent by now
//! within TIME > SEGMENT     it is sent next, as soon as that
//! none │ none TIME          nothing is sent now, or for that long
//! event EVENT               opened │ accepted N │ acknowledged N │ end-of-stream │ ended WORDS
//! verdict taken A:B │ ignored │ refused               of the last segment that arrived
//! state STATE │ window LOW HIGH (cwnd, bytes) │ count NAME N
//! newer                     our last SYN's number is behind that of the one before
//! icmp too-big N at SEQ │ icmp hard N at SEQ │ icmp soft at SEQ     and: believed │ not believed
//!
//! SEGMENT   FLAGS START:END ack N [win N] [mss N] [wscale N] [sackok] [ts V:E] [sack A:B,A:B]
//!           [ce │ ect] [run N [last-ack N] [last-win N] [last-ts V:E]]
//! FLAGS     of S A F R P U E (ECE) C (CWR); `.` for none
//! TIME      a number with ns, us, ms or s
//! ```
//! Settings: `sack`, `timestamps` (on or off); `tick`, `rto_min`, `ack_delay`, `time_wait` (TIME);
//! `mss`, `wscale`, `timeouts`, `syn_timeouts`, `challenges`, `half_open`, `time_waits` (numbers);
//! `law` (cubic, dctcp, model); `ecn` (off, classic, exact); `path_mtu` (BASE:MOST); `isn`, our
//! first number. Counters: `lost`, `repeated` (bytes), `timeouts`, `undone`, `tail_probes`,
//! `duplicates`, `challenges`, `withheld`, `old`, `time_waits`, `connections`.
//!
//! START and END are numbers relative to the SYN, END - START is the payload. With `run` it is a
//! run of packets with N bytes each, the last with the rest, whose last packet says the same as the
//! first unless it is said otherwise. `win` and options of a SYN are compared only where they are
//! given; flags, numbers, payload and SACK blocks always.

use tcp::segment::{Codepoint, Flags, Run, SackBlock, Segment, Timestamps};

/// What may come of a line.
pub type Outcome<T> = Result<T, String>;

const FLAGS: [(char, Flags); 8] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('E', Flags::ECE),
    ('C', Flags::CWR),
    ('A', Flags::ACK),
    ('P', Flags::PSH),
    ('U', Flags::URG),
];

/// A segment as a script says it, numbers relative.
#[derive(Clone, Debug, Default)]
pub struct Said {
    pub segment: Segment,
    pub window: Option<u16>,
    pub codepoint: Option<Codepoint>,
    pub last_window: Option<u16>,
}

pub fn number<N: std::str::FromStr>(text: &str) -> Outcome<N> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

pub fn time_ns(text: &str) -> Outcome<u64> {
    for (unit, ns) in [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)] {
        if let Some(count) = text.strip_suffix(unit) {
            if let Ok(count) = count.parse::<u64>() {
                return Ok(count * ns);
            }
        }
    }
    Err(format!("`{text}` is not a time"))
}

fn pair(text: &str) -> Outcome<(u32, u32)> {
    let (from, to) = text.split_once(':').ok_or_else(|| format!("`{text}` is not A:B"))?;
    Ok((number(from)?, number(to)?))
}

fn timestamps(text: &str) -> Outcome<Timestamps> {
    pair(text).map(|(value, echo)| Timestamps { value, echo })
}

/// Reads a segment.
pub fn segment(words: &[&str]) -> Outcome<Said> {
    let [flags, numbers, rest @ ..] = words else {
        return Err("a segment has flags and numbers".to_owned());
    };
    let mut said = Said::default();
    for letter in flags.chars().filter(|letter| *letter != '.') {
        let flag = FLAGS.iter().find(|(it, _)| *it == letter);
        let (_, flag) = flag.ok_or_else(|| format!("no flag {letter}"))?;
        said.segment.flags = said.segment.flags | *flag;
    }
    let (start, end) = pair(numbers)?;
    said.segment.sequence = start;
    said.segment.payload_bytes = end.wrapping_sub(start);
    let (mut last_ack, mut last_timestamps, mut segment_bytes) = (None, None, None);
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        let mut value = || rest.next().copied().ok_or_else(|| format!("{word} of what"));
        match *word {
            "ack" => said.segment.acknowledgement = number(value()?)?,
            "win" => said.window = Some(number(value()?)?),
            "mss" => said.segment.options.mss_bytes = Some(number(value()?)?),
            "wscale" => said.segment.options.window_scale = Some(number(value()?)?),
            "sackok" => said.segment.options.is_sack_permitted = true,
            "run" => segment_bytes = Some(number(value()?)?),
            "last-ack" => last_ack = Some(number(value()?)?),
            "last-win" => said.last_window = Some(number(value()?)?),
            "last-ts" => last_timestamps = Some(timestamps(value()?)?),
            "ce" => said.codepoint = Some(Codepoint::Experienced),
            "ect" => said.codepoint = Some(Codepoint::Capable0),
            "ts" => said.segment.options.timestamps = Some(timestamps(value()?)?),
            "sack" => {
                for block in value()?.split(',') {
                    let (start, end) = pair(block)?;
                    said.segment.options.sack.push(SackBlock { start, end });
                }
            }
            other => return Err(format!("no such word in a segment: {other}")),
        }
    }
    let segment = &mut said.segment;
    segment.run = segment_bytes.map(|segment_bytes| Run {
        segment_bytes,
        acknowledgement: last_ack.unwrap_or(segment.acknowledgement),
        window: 0,
        timestamps: last_timestamps.or(segment.options.timestamps),
    });
    Ok(said)
}

/// Writes a segment as a script would say it.
pub fn show(segment: &Segment) -> String {
    let letters = FLAGS.iter().filter(|(_, flag)| segment.flags.has(*flag));
    let flags: String = letters.map(|(letter, _)| *letter).collect();
    let end = segment.sequence.wrapping_add(segment.payload_bytes);
    let flags = if flags.is_empty() { "." } else { &flags };
    let mut text = format!("{flags} {}:{end} ack {}", segment.sequence, segment.acknowledgement);
    let blocks: Vec<String> =
        segment.options.sack.iter().map(|block| format!("{}:{}", block.start, block.end)).collect();
    if !blocks.is_empty() {
        text += &format!(" sack {}", blocks.join(","));
    }
    text
}

/// What of a sent segment is not as said, as text; `None` if all is.
pub fn differs(sent: &Segment, said: &Said) -> Option<String> {
    let options = &said.segment.options;
    let has = [
        show(sent) == show(&said.segment),
        said.window.is_none_or(|window| window == sent.window),
        said.codepoint.is_none_or(|codepoint| codepoint == sent.codepoint),
        options.mss_bytes.is_none() || options.mss_bytes == sent.options.mss_bytes,
        options.window_scale.is_none() || options.window_scale == sent.options.window_scale,
        !options.is_sack_permitted || sent.options.is_sack_permitted,
        options.timestamps.is_none() || options.timestamps == sent.options.timestamps,
    ];
    let text = format!("{} win {} {:?}", show(sent), sent.window, sent.options);
    has.contains(&false).then_some(text)
}
