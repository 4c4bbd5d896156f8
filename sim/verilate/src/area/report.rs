//! The area and the longest paths of a design as text that is kept and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use hdl::crossings::CLOCKS;

use crate::area::fanout::Net;
use crate::area::levels::{Path, Step};
use crate::area::usage::{Block, Memory, ShiftRegisters};

/// What a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its name.
    pub name: &'static str,
    /// LUTs.
    pub luts: u64,
    /// Block RAMs of 36 Kb.
    pub brams: u64,
    /// UltraRAMs.
    pub urams: u64,
}

/// DS890: Virtex UltraScale+ VU9P.
pub const XCVU9P: Device = Device { name: "XCVU9P", luts: 1_182_240, brams: 2_160, urams: 960 };

/// A clock of the design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Name in the report.
    pub name: &'static str,
    /// Clock port of the card.
    pub port: &'static str,
    /// Its frequency in MHz.
    pub frequency_mhz: f64,
    /// Most levels of a path.
    pub levels_max: u32,
    /// How the names of its other ports begin.
    pub prefixes: &'static [&'static str],
}

/// The clocks of the card.
pub const DOMAINS: [Domain; 2] = [
    Domain {
        name: "core",
        port: CLOCKS[0].port,
        frequency_mhz: CLOCKS[0].frequency_mhz,
        levels_max: 7,
        prefixes: CLOCKS[0].prefixes,
    },
    Domain {
        name: "mac",
        port: CLOCKS[1].port,
        frequency_mhz: CLOCKS[1].frequency_mhz,
        levels_max: 5,
        prefixes: CLOCKS[1].prefixes,
    },
];

/// Words of a BRAM at its widest (UG573).
const BRAM_WORDS: u64 = 512;
/// Bits of a word of half a BRAM at its widest.
const HALF_BRAM_BITS: usize = 36;

/// Nets with more loads are shown.
pub const LOADS_SHOWN: u32 = 2_000;
/// Most loads of a net, clocks left out.
pub const LOADS_MAX: u32 = 4_096;

/// Most levels between a port and a register: behind it is logic of the vendor's core.
pub const PORT_LEVELS_MAX: u32 = 2;

/// Paths shown of each clock.
const PATHS_SHOWN: usize = 20;

/// Head of the report.
const HEAD: &str = "\
# Area and levels of the card

Written by `zeronic bench area --report docs/area.md`: default sizes, mapped by Yosys, the
hierarchy kept. How levels are counted: [verilog.md](verilog.md), under the same title.

";

/// Begin of the line that holds the fingerprint of the Verilog.
const OF_VERILOG: &str = "SHA-256 of the Verilog, comments left out: `";

/// The fingerprint of the Verilog that a kept report describes.
pub fn kept_fingerprint(text: &str) -> Option<&str> {
    let mut lines = text.lines();
    lines.find_map(|line| line.strip_prefix(OF_VERILOG)?.split('`').next())
}

/// Area and paths of a design.
#[derive(Clone, Debug)]
pub struct Report {
    /// Fingerprint of the Verilog; see [`fingerprint`](super::fingerprint).
    pub fingerprint: String,
    /// Blocks by path, the first the whole.
    pub blocks: Vec<Block>,
    /// Memories by path.
    pub memories: Vec<Memory>,
    /// Shift registers, which use memory primitives and are no memories.
    pub shift_registers: ShiftRegisters,
    /// Paths of each clock of [`DOMAINS`], worst first.
    pub paths: Vec<Vec<Path>>,
    /// Nets with more than [`LOADS_SHOWN`] loads, by falling loads.
    pub wide_nets: Vec<Net>,
}

/// `part` of `whole` in percent.
fn percent(part: f64, whole: u64) -> f64 {
    100.0 * part / whole as f64
}

impl Report {
    /// LUTs of the device in percent.
    pub fn lut_percent(&self, device: &Device) -> f64 {
        percent(self.blocks[0].usage.luts as f64, device.luts)
    }

    /// Block RAMs of the device in percent.
    pub fn bram_percent(&self, device: &Device) -> f64 {
        percent(self.blocks[0].usage.half_brams as f64 / 2.0, device.brams)
    }

    /// UltraRAMs of the device in percent.
    pub fn uram_percent(&self, device: &Device) -> f64 {
        percent(self.blocks[0].usage.urams as f64, device.urams)
    }

    /// Levels of the longest path of a clock, by its place in [`DOMAINS`].
    pub fn levels(&self, domain: usize) -> u32 {
        self.paths[domain].first().map_or(0, |path| path.levels)
    }

    /// Levels of the longest path of a clock that ends in a block.
    pub fn levels_in(&self, block: &str, domain: usize) -> u32 {
        let ends_in = |path: &&Path| {
            let rest = path.block.strip_prefix(block);
            rest.is_some_and(|r| block.is_empty() || r.is_empty() || r.starts_with('/'))
        };
        let path = self.paths[domain].iter().find(ends_in);
        path.map_or(0, |path| path.levels)
    }

    /// Levels of the longest path between a port of the card and a register.
    pub fn port_levels(&self) -> u32 {
        let paths = self.paths.iter().flatten();
        let at_ports = paths.filter(|path| path.port.is_some());
        at_ports.map(|path| path.levels).max().unwrap_or(0)
    }

    /// Loads of the net that has most, as far as they are above [`LOADS_SHOWN`].
    pub fn loads_max(&self) -> u32 {
        self.wide_nets.first().map_or(0, |net| net.loads)
    }

    /// The text.
    pub fn markdown(&self, device: &Device) -> String {
        let mut text = HEAD.to_owned();
        self.summary(device, &mut text);
        put(
            &mut text,
            &format!(
                "\nLongest path between a port and a register: {} levels, to keep to \
                 {PORT_LEVELS_MAX}.\n",
                self.port_levels()
            ),
        );
        self.block_table(&mut text);
        self.memory_table(&mut text);
        net_table(&self.wide_nets, &mut text);
        port_table(&self.paths, &mut text);
        for (domain, paths) in DOMAINS.iter().zip(&self.paths) {
            path_table(domain, paths, &mut text);
        }
        text
    }

    fn summary(&self, device: &Device, text: &mut String) {
        let total = self.blocks[0].usage;
        put(text, &format!("{OF_VERILOG}{}`.\n\n", self.fingerprint));
        put(text, &format!("| what | used | of {} |\n|---|---|---|\n", device.name));
        let mut row = |what: &str, used: String, percent: f64| {
            put(text, &format!("| {what} | {used} | {percent:.2} % |\n"));
        };
        row("LUTs", total.luts.to_string(), self.lut_percent(device));
        let brams = total.half_brams as f64 / 2.0;
        row("BRAMs", brams.to_string(), self.bram_percent(device));
        row("URAMs", total.urams.to_string(), self.uram_percent(device));
        for (index, domain) in DOMAINS.iter().enumerate() {
            put(
                text,
                &format!(
                    "\nLongest path at {:.2} MHz (`{}`): {} levels, to keep to {}.\n",
                    domain.frequency_mhz,
                    domain.port,
                    self.levels(index),
                    domain.levels_max
                ),
            );
        }
    }

    fn block_table(&self, text: &mut String) {
        put(text, "\n## Blocks\n\n");
        put(
            text,
            "| block | module | LUTs | of memory | flip-flops | BRAM | URAM | core | mac |\n\
             |---|---|---|---|---|---|---|---|---|\n",
        );
        for block in &self.blocks {
            let usage = block.usage;
            let path = match block.path.as_str() {
                "" => "all",
                path => path,
            };
            put(
                text,
                &format!(
                    "| {path} | `{}` | {} | {} | {} | {} | {} | {} | {} |\n",
                    block.module,
                    usage.luts,
                    usage.memory_luts,
                    usage.registers,
                    usage.half_brams as f64 / 2.0,
                    usage.urams,
                    self.levels_in(&block.path, 0),
                    self.levels_in(&block.path, 1),
                ),
            );
        }
    }

    /// Explains which memories are in LUTs, with their figures.
    fn explain_lut_memories(&self) -> String {
        let found: Vec<&Memory> = self.memories.iter().filter(|m| m.is_distributed()).collect();
        let words_max = found.iter().map(|memory| memory.words).max().unwrap_or(0);
        let bits = found.iter().map(|memory| memory.words * memory.bits as u64);
        let halves = found.iter().map(|memory| {
            let wide = memory.bits.div_ceil(HALF_BRAM_BITS) as u64;
            wide * memory.words.div_ceil(BRAM_WORDS)
        });
        let (bits, halves) = (bits.sum::<u64>(), halves.sum::<u64>());
        let all_bits = halves * BRAM_WORDS * HALF_BRAM_BITS as u64;
        format!(
            "Each is inferred: `ram_style` in its block says what it is to become\n\
             (`hdl/stream/src/memory.rs`, `hdl/stream/src/block_ram.rs`). {count} lie in LUTs, as \
             they are read in\nthe cycle in which their address comes, and a BRAM answers a cycle \
             later or two: heads of queues,\nalso of those between the clocks, and what is kept \
             of an owner, a read tag, a counter or a packet on\nits way. Nor would they fill one: \
             the deepest has {words_max} words, where a BRAM has at least {BRAM_WORDS}; in BRAMs\n\
             they would take {brams} and use {percent:.0} % of their bits.\n\n",
            count = found.len(),
            brams = halves as f64 / 2.0,
            percent = percent(bits as f64, all_bits.max(1)),
        )
    }

    fn memory_table(&self, text: &mut String) {
        put(text, "\n## Memories\n\n");
        put(text, &self.explain_lut_memories());
        put(text, "| memory | words x bits | became | output registered |\n|---|---|---|---|\n");
        for memory in &self.memories {
            let registered = match (memory.is_distributed(), memory.is_registered) {
                (true, _) => "-",
                (false, true) => "yes",
                (false, false) => "no",
            };
            put(
                text,
                &format!(
                    "| {} | {} x {} | {} | {registered} |\n",
                    memory.path,
                    memory.words,
                    memory.bits,
                    count_primitives(&memory.primitives)
                ),
            );
        }
        let shift_registers = &self.shift_registers;
        put(
            text,
            &format!(
                "\nBeside them, shift registers, which are flip-flops in a row and no memories: \
                 {}, in {} blocks.\n",
                count_primitives(&shift_registers.primitives),
                shift_registers.instances
            ),
        );
    }
}

/// Primitives with their counts.
fn count_primitives(primitives: &BTreeMap<String, usize>) -> String {
    let parts = primitives.iter();
    let parts: Vec<String> = parts.map(|(kind, count)| format!("{count} {kind}")).collect();
    match parts.is_empty() {
        true => "none".to_owned(),
        false => parts.join(", "),
    }
}

fn put(text: &mut String, more: &str) {
    // Writing to a String cannot fail.
    let _ = text.write_str(more);
}

fn net_table(nets: &[Net], text: &mut String) {
    put(
        text,
        &format!(
            "\n## Fan-out\n\nNets with more than {LOADS_SHOWN} loads, clocks left out; at most \
             {LOADS_MAX} are to be. A load is a pin of a\nprimitive: of a register with an enable, \
             one for each bit.\n\n| net | driven by | loads | of them enables and resets \
             |\n|---|---|---|---|\n"
        ),
    );
    for net in nets {
        let driver = net.driver.as_deref().unwrap_or("port");
        let row = format!("| {} | {driver} | {} | {} |\n", net.path, net.loads, net.controls);
        put(text, &row);
    }
}

/// The ports with longer paths than is good for them, each with its longest.
fn port_table(paths: &[Vec<Path>], text: &mut String) {
    put(
        text,
        &format!(
            "\n## Ports\n\nPaths between a port and a register with more than {PORT_LEVELS_MAX} \
             levels: behind a port is logic of the vendor's core,\nso a register belongs close \
             to it on this side. The longest of each port.\n\n"
        ),
    );
    let mut seen = BTreeSet::new();
    let mut rows = String::new();
    for path in paths.iter().flatten() {
        let Some(port) = &path.port else { continue };
        if path.levels > PORT_LEVELS_MAX && seen.insert(port) {
            let (levels, start, end) = (path.levels, &path.start, &path.end);
            put(&mut rows, &format!("| {port} | {levels} | {start} | {end} |\n"));
        }
    }
    match rows.is_empty() {
        true => put(text, "None.\n"),
        false => put(text, &format!("| port | levels | from | to |\n|---|---|---|---|\n{rows}")),
    }
}

fn path_table(domain: &Domain, paths: &[Path], text: &mut String) {
    let mut histogram: BTreeMap<u32, usize> = BTreeMap::new();
    for path in paths {
        *histogram.entry(path.levels).or_default() += 1;
    }
    put(text, &format!("\n## Paths of `{}`\n\n", domain.port));
    let over = histogram.range(domain.levels_max + 1..);
    let counts: Vec<String> =
        over.rev().map(|(levels, count)| format!("{count} of {levels}")).collect();
    let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    put(
        text,
        &format!("Pairs of registers beyond {} levels: {counts}.\n\n```text\n", domain.levels_max),
    );
    for path in paths.iter().take(PATHS_SHOWN) {
        put(text, &format!("{:3}  {}\n", path.levels, path.start));
        for (place, parts) in by_place(&path.steps) {
            put(text, &format!("       {place}: {parts}\n"));
        }
        put(text, &format!("     {}\n\n", path.end));
    }
    put(text, "```\n");
}

/// The steps of a path by instance, equal ones counted.
fn by_place(steps: &[Step]) -> Vec<(String, String)> {
    let mut places: Vec<(String, Vec<(String, usize)>)> = Vec::new();
    for step in steps {
        let what = match &step.net {
            Some(net) => format!("{} ({net})", step.kind),
            None => step.kind.clone(),
        };
        if places.last().is_none_or(|last| last.0 != step.instance) {
            places.push((step.instance.clone(), Vec::new()));
        }
        let Some((_, parts)) = places.last_mut() else { continue };
        match parts.last_mut() {
            Some((last, count)) if *last == what => *count += 1,
            _ => parts.push((what, 1)),
        }
    }
    let name = |(what, count): (String, usize)| match count {
        1 => what,
        count => format!("{count} {what}"),
    };
    places
        .into_iter()
        .map(|(place, parts)| {
            let parts: Vec<String> = parts.into_iter().map(name).collect();
            (place, parts.join(", "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::area::cells::Usage;

    fn block(path: &str, usage: Usage) -> Block {
        Block { path: path.to_owned(), module: "card".to_owned(), usage }
    }

    #[test]
    fn device_shares_match_the_whole() {
        let whole = Usage { luts: 250, half_brams: 30, urams: 5, ..Usage::default() };
        let report = Report {
            fingerprint: String::new(),
            blocks: vec![block("", whole), block("part", Usage::default())],
            memories: Vec::new(),
            shift_registers: ShiftRegisters::default(),
            paths: Vec::new(),
            wide_nets: Vec::new(),
        };
        let device = Device { name: "device", luts: 1_000, brams: 30, urams: 50 };
        assert_eq!(report.lut_percent(&device), 25.0);
        assert_eq!(report.bram_percent(&device), 50.0);
        assert_eq!(report.uram_percent(&device), 10.0);
    }

    #[test]
    fn steps_name_instances_equal_ones_counted() {
        let step = |instance: &str, kind: &str, net: Option<&str>| Step {
            instance: instance.to_owned(),
            kind: kind.to_owned(),
            net: net.map(str::to_owned),
        };
        let steps = [
            step("a", "LUT6", Some("sum")),
            step("a", "LUT6", None),
            step("a", "LUT6", None),
            step("b", "CARRY8", None),
            step("a", "LUT6", None),
        ];
        let line = |place: &str, parts: &str| (place.to_owned(), parts.to_owned());
        let expected = [line("a", "LUT6 (sum), 2 LUT6"), line("b", "CARRY8"), line("a", "LUT6")];
        assert_eq!(by_place(&steps), expected);
    }
}
