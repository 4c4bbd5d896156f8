//! The C++ text that opens a Verilated class to Rust: one function table, one pointer per port.
//!
//! ```text
//!   [Port] ──> switch (index) { case 0: return &top->clock; ... }   checked by static_assert
//! ```
//!
//! Invariants
//! 1. Port `index` is the index in the port table; a class that stores another width than the
//!    table says does not compile. The member's name is taken from Verilator's header.
//! 2. Each model has its own `VerilatedContext`.

use std::collections::HashSet;
use std::fmt::Write;

use hdl::ports::Port;

/// Class name that every Verilated design gets.
pub(crate) const CLASS: &str = "Vdut";

/// Prefix that Verilator gives to a name that C++ or its library uses.
const TAKEN: &str = "__SYM__";

/// How Verilator spells the characters of a Verilog name in C++.
fn cpp_name(name: &str) -> String {
    let mut out = String::new();
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '_' && characters.peek() == Some(&'_') {
            characters.next();
            out.push_str("___05F");
        } else if character == '_' || character.is_ascii_alphanumeric() {
            out.push(character);
        } else {
            write!(out, "__0{:02X}", u32::from(character)).expect("a String takes all text");
        }
    }
    out
}

/// The member name of each port in the class that `header` declares. Which names Verilator treats
/// as reserved differs between versions, so the header decides; a missing port is the error.
pub(crate) fn members(ports: &[Port], header: &str) -> Result<Vec<String>, String> {
    let declared: HashSet<&str> = header.lines().filter_map(declared_port).collect();
    let member = |port: &Port| {
        let plain = cpp_name(&port.verilog_name());
        let candidates = [format!("{TAKEN}{plain}"), plain];
        let found = candidates.into_iter().find(|name| declared.contains(name.as_str()));
        found.ok_or_else(|| port.verilog_name())
    };
    ports.iter().map(member).collect()
}

/// The name in a line such as `VL_IN8(&clock,0,0);`.
fn declared_port(line: &str) -> Option<&str> {
    let (macro_name, rest) = line.trim().split_once("(&")?;
    let is_port = ["VL_IN", "VL_OUT"].iter().any(|of| macro_name.starts_with(of));
    let (name, _) = rest.split_once(',').filter(|_| is_port)?;
    Some(name)
}

/// The shim for a design with these ports, whose names in C++ are `members`.
pub(crate) fn source(ports: &[Port], members: &[String], trace: bool) -> String {
    let mut text = String::new();
    text.push_str("#include \"Vdut.h\"\n#include \"verilated.h\"\n");
    text.push_str(if trace { TRACE_HEAD } else { "" });
    text.push_str(COMMON);
    text.push_str("EXPORT void* zeronic_port(Handle* handle, uint32_t index) {\n");
    text.push_str("    switch (index) {\n");
    for (index, (port, name)) in ports.iter().zip(members).enumerate() {
        let bytes = storage_bytes(port.bits);
        writeln!(
            text,
            "    case {index}:\n        static_assert(sizeof(handle->top->{name}) == {bytes}, \
             \"{name}\");\n        return (void*)&handle->top->{name};"
        )
        .expect("a String takes all text");
    }
    text.push_str("    default: return nullptr;\n    }\n}\n");
    text.push_str(if trace { TRACE_BODY } else { NO_TRACE_BODY });
    text
}

/// Bytes in which Verilator stores a signal of this width.
pub(crate) fn storage_bytes(bits: usize) -> usize {
    match bits {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        _ => bits.div_ceil(32) * 4,
    }
}

const COMMON: &str = r#"
#define EXPORT extern "C" __attribute__((visibility("default")))

struct Handle {
    VerilatedContext* context;
    Vdut* top;
    void* trace;
};

EXPORT Handle* zeronic_new(uint32_t randomise, uint32_t seed, uint32_t trace) {
    Handle* handle = new Handle{new VerilatedContext, nullptr, nullptr};
    handle->context->randReset(randomise ? 2 : 0);
    if (randomise) handle->context->randSeed((int)seed);
    if (trace) handle->context->traceEverOn(true);
    handle->top = new Vdut{handle->context, "TOP"};
    return handle;
}

EXPORT void zeronic_delete(Handle* handle) {
    handle->top->final();
    delete handle->top;
    delete handle->context;
    delete handle;
}

EXPORT void zeronic_eval(Handle* handle) { handle->top->eval(); }

"#;

const TRACE_HEAD: &str = r#"#include "verilated_vcd_c.h"
"#;

const TRACE_BODY: &str = r#"
typedef void (*Write)(void* user, const char* text, uint64_t bytes);

struct Pipe final : public VerilatedVcdFile {
    Write out;
    void* user;
    bool open(const std::string&) override VL_MT_UNSAFE { return true; }
    void close() override VL_MT_UNSAFE {}
    // Never a failure: Verilator takes its lock twice on that path. `out` remembers one.
    ssize_t write(const char* text, ssize_t bytes) override VL_MT_UNSAFE {
        out(user, text, (uint64_t)bytes);
        return bytes;
    }
};

struct Trace {
    Pipe pipe;
    VerilatedVcdC vcd;
    Trace() : vcd{&pipe} {}
};

EXPORT int zeronic_trace_open(Handle* handle, Write out, void* user) {
    Trace* trace = new Trace;
    trace->pipe.out = out;
    trace->pipe.user = user;
    handle->top->trace(&trace->vcd, 99);
    trace->vcd.open("callback");
    handle->trace = trace;
    return 1;
}

EXPORT void zeronic_trace_dump(Handle* handle, uint64_t time) {
    ((Trace*)handle->trace)->vcd.dump(time);
}

EXPORT void zeronic_trace_close(Handle* handle) {
    Trace* trace = (Trace*)handle->trace;
    trace->vcd.close();
    delete trace;
    handle->trace = nullptr;
}
"#;

const NO_TRACE_BODY: &str = r#"
typedef void (*Write)(void* user, const char* text, uint64_t bytes);
EXPORT int zeronic_trace_open(Handle*, Write, void*) { return 0; }
EXPORT void zeronic_trace_dump(Handle*, uint64_t) {}
EXPORT void zeronic_trace_close(Handle*) {}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_as_verilator_does() {
        assert_eq!(cpp_name("packet$byte_count"), "packet__024byte_count");
        assert_eq!(cpp_name("a__b"), "a___05Fb");
    }

    #[test]
    fn verilators_header_names_ports() {
        let port = |name: &str| Port {
            name: name.to_owned(),
            direction: hdl::ports::PortDirection::Input,
            bits: 8,
            is_clock: false,
        };
        let header =
            "    VL_IN8(&clock,0,0);\n    VL_OUTW(&__SYM__queue,99,0,4);\n    int other;\n";
        let known = [port("clock"), port("queue")];
        assert_eq!(members(&known, header).expect("both are there"), ["clock", "__SYM__queue"]);
        assert_eq!(members(&[port("other")], header), Err("other".to_owned()));
    }

    #[test]
    fn storage_follows_the_width() {
        let widths = [1, 8, 9, 32, 33, 64, 65, 512];
        assert_eq!(widths.map(storage_bytes), [1, 1, 2, 4, 8, 8, 12, 64]);
    }
}
