//! A block with faults planted in the lines of its Verilog, each switched on by number.
//!
//! ```text
//!   assign fits = a & b;    becomes    assign fits = (TOP.planted_fault == 8'd2) ? (a) : (a & b);
//!   if (a & b) begin        becomes    if ((TOP.planted_fault == 8'd2) ? (a) : (a & b)) begin
//!   localparam most = 4'd3;  becomes   wire [4 - 1:0] most = (TOP.planted_fault == 8'd2) ? ...
//!   .port(a & b),           becomes    .port((TOP.planted_fault == 8'd2) ? (a) : (a & b)),
//! ```
//! One model holds all faults of a test program, so it is built once. Number 0 is no fault.
//!
//! Invariants
//! 1. A text that does not occur exactly once, or lies in a line of another form, is a panic that
//!    names it: a fault is never silently left out.

use std::collections::BTreeMap;

use hdl::ports::{Port, PortDirection};
use verilate::design::Design;
use verilate::error::BuildError;
use verilate::options::Options;

/// Port that switches a fault on; 0 is none.
pub const FAULT_PORT: &str = "planted_fault";
/// Its width.
pub const FAULT_BITS: usize = 8;

/// A fault: a text that occurs once, and what stands there instead.
///
/// It lies within one line. Lines behind that one may be named on both sides, to tell it from
/// others. What is planted may have lines of its own before the last one: they are there with any
/// fault, so they may only declare. Where nothing is planted the statement is left out.
pub type TextFault = (&'static str, &'static str);

/// No fault is switched on: the model is as the block is, and must pass.
pub const NO_FAULT: TextFault = ("", "");

/// The number of a fault of a list.
///
/// # Panics
/// If it is not in the list.
pub fn number_of(faults: &[TextFault], fault: TextFault) -> u64 {
    if fault == NO_FAULT {
        return 0;
    }
    let at = faults.iter().position(|it| *it == fault);
    1 + at.unwrap_or_else(|| panic!("not in the list of faults: `{}`", fault.0)) as u64
}

/// The text of `top` and of what is below it, with faults that its port [`FAULT_PORT`] switches on:
/// the first one with 1.
///
/// # Panics
/// If a fault cannot be planted, or there are too many.
pub fn with_faults(top: &str, verilog: &str, faults: &[TextFault]) -> String {
    assert!(faults.len() < 1 << FAULT_BITS, "{} faults", faults.len());
    let mut lines: BTreeMap<usize, Vec<(usize, String)>> = BTreeMap::new();
    for (number, (original, planted)) in (1..).zip(faults) {
        let at = only(verilog, original);
        let start = verilog[..at].rfind('\n').map_or(0, |end| end + 1);
        let (original, planted) = in_first_line(original, planted);
        let mut faulty = line(verilog, start).to_owned();
        faulty.replace_range(at - start..at - start + original.len(), planted);
        lines.entry(start).or_default().push((number, faulty));
    }
    let mut text = verilog.to_owned();
    for (start, faulty) in lines.iter().rev() {
        let original = line(verilog, *start);
        let switched = switch_statement(top, original, faulty);
        text.replace_range(*start..start + original.len(), &switched);
    }
    with_port(top, &text)
}

/// The unoptimised model of a text with faults, as [`with_faults`] plants them.
///
/// # Panics
/// If a fault cannot be planted.
pub fn build(
    top: &str,
    verilog: &str,
    mut ports: Vec<Port>,
    faults: &[TextFault],
) -> Result<Design, BuildError> {
    ports.push(fault_port());
    let text = with_faults(top, verilog, faults);
    Design::build(top, &text, &ports, Options::QUICK)
}

/// The condition, in a module of `top` or below, that a fault is switched on.
pub fn is_on(top: &str, number: usize) -> String {
    format!("({top}.{FAULT_PORT} == {FAULT_BITS}'d{number})")
}

/// The port that switches the faults on.
pub fn fault_port() -> Port {
    Port {
        name: FAULT_PORT.to_owned(),
        direction: PortDirection::Input,
        bits: FAULT_BITS,
        is_clock: false,
    }
}

/// The text with that port as the first one of a module.
///
/// # Panics
/// If there is no such module with ports.
pub fn with_port(module: &str, verilog: &str) -> String {
    let head = format!("module {module} (\n");
    let port = format!("{head}    input wire [{}:0] {FAULT_PORT},\n", FAULT_BITS - 1);
    replace_once(verilog, &head, &port)
}

/// A text of Verilog in which `planted` stands in place of `original`.
///
/// # Panics
/// If `original` does not occur exactly once: the fault would not be planted, or in another place.
pub fn replace_once(verilog: &str, original: &str, planted: &str) -> String {
    let at = only(verilog, original);
    let (before, rest) = verilog.split_at(at);
    [before, planted, &rest[original.len()..]].concat()
}

/// A fault without the lines that only tell it from others.
fn in_first_line<'a>(original: &'a str, planted: &'a str) -> (&'a str, &'a str) {
    let Some((first, others)) = original.split_once('\n') else { return (original, planted) };
    match planted.split_once('\n') {
        Some((planted, same)) if same == others => (first, planted),
        _ => panic!("more than a line differs: `{original}`"),
    }
}

/// Byte offset of a text.
fn only(verilog: &str, original: &str) -> usize {
    let mut found = verilog.match_indices(original);
    match (found.next(), found.count()) {
        (None, _) => panic!("the text to replace is not found: `{original}`"),
        (Some((at, _)), 0) => at,
        (_, more) => panic!("the text to replace is there {} times: `{original}`", more + 1),
    }
}

/// The line that begins at an offset, without its end.
fn line(verilog: &str, start: usize) -> &str {
    verilog[start..].lines().next().unwrap_or_default()
}

/// What comes before the expression of a statement, the expression, and what comes behind it.
fn parts(line: &str) -> Option<[&str; 3]> {
    let code = line.trim();
    let indent = line.len() - line.trim_start().len();
    if let Some(rest) = code.strip_suffix(") begin") {
        let start = indent + rest.find("if (")? + "if (".len();
        let end = indent + rest.len();
        return Some([&line[..start], &line[start..end], &line[end..]]);
    }
    if code.starts_with('.') {
        let start = line.find('(')? + 1;
        let end = line.rfind(')')?;
        return Some([&line[..start], &line[start..end], &line[end..]]);
    }
    let end = indent + code.strip_suffix(';')?.len();
    let assigned = [" = ", " <= "].map(|sign| line.find(sign).map(|at| at + sign.len()));
    let start = assigned.into_iter().flatten().min()?;
    Some([&line[..start], &line[start..end], &line[end..]])
}

/// The width of a constant: what stands before the first apostrophe.
fn literal_bits(constant: &str) -> &str {
    let bits = constant.split('\'').next().and_then(|text| text.rsplit(' ').next());
    let is_number = |text: &&str| text.bytes().all(|digit| digit.is_ascii_digit());
    let bits = bits.filter(is_number).filter(|_| constant.contains('\''));
    bits.unwrap_or_else(|| panic!("a constant without a width: `{}`", constant.trim()))
}

/// The statement of a line with what each fault makes of it.
fn switch_statement(top: &str, original: &str, faulty: &[(usize, String)]) -> String {
    let [head, expression, tail] = parts(original)
        .unwrap_or_else(|| panic!("not a statement in one line: `{}`", original.trim()));
    let mut all = expression.to_owned();
    let (mut before, mut guards) = (String::new(), String::new());
    for (number, text) in faulty {
        let (declared, statement) = text.rsplit_once('\n').unwrap_or(("", text));
        if statement.trim().is_empty() {
            guards += &format!("if (!{}) ", is_on(top, *number));
            continue;
        }
        let same = parts(statement).filter(|[start, _, end]| [*start, *end] == [head, tail]);
        let [_, expression, _] = same
            .unwrap_or_else(|| panic!("more than an expression differs: `{}`", statement.trim()));
        if !declared.is_empty() {
            before += declared;
            before.push('\n');
        }
        all = format!("{} ? ({expression}) : ({all})", is_on(top, *number));
    }
    let indent = head.len() - head.trim_start().len();
    let (space, head) = head.split_at(indent);
    let head = match head.strip_prefix("localparam ") {
        Some(name) => format!("wire [{} - 1:0] {name}", literal_bits(original)),
        None => head.to_owned(),
    };
    format!("{before}{space}{guards}{head}{all}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "module leaf (
    input wire a,
    output wire b
);
    localparam most = 4'd3;
    assign b = a & c[0];
    child it (
        .x(a),
        .y(b)
    );
    always @(*) begin
        d = a;
        if (a & (~c[1])) begin
            e <= 4'd5;
        end
    end
endmodule
";

    fn plant_faults(faults: &[TextFault]) -> String {
        with_faults("leaf", TEXT, faults)
    }

    fn has(text: &str, part: &str) {
        assert!(text.contains(part), "{text}");
    }

    #[test]
    fn expressions_and_conditions_are_switched() {
        let text = plant_faults(&[("a & c[0]", "a"), ("(~c[1])", "c[2]"), ("4'd5", "4'd2")]);
        let on = |number: u8| format!("(leaf.planted_fault == 8'd{number})");
        has(&text, &format!("\n    assign b = {} ? (a) : (a & c[0]);\n", on(1)));
        has(&text, &format!("if ({} ? (a & c[2]) : (a & (~c[1]))) begin\n", on(2)));
        has(&text, &format!("\n            e <= {} ? (4'd2) : (4'd5);\n", on(3)));
        has(&text, "module leaf (\n    input wire [7:0] planted_fault,\n    input wire a,\n");
    }

    #[test]
    fn switched_connections_keep_lines_apart() {
        let text = plant_faults(&[(".x(a)", ".x(b)"), ("b)\n    );", "a)\n    );")]);
        has(&text, ".x((leaf.planted_fault == 8'd1) ? (b) : (a)),\n");
        has(&text, ".y((leaf.planted_fault == 8'd2) ? (a) : (b))\n");
        let faults = [("a", "b"), ("c", "d")];
        assert_eq!(number_of(&faults, ("c", "d")), 2);
        assert_eq!(number_of(&faults, NO_FAULT), 0);
    }

    #[test]
    fn constants_become_nets_of_their_width() {
        let text = plant_faults(&[("4'd3", "4'd7")]);
        let expected = "wire [4 - 1:0] most = (leaf.planted_fault == 8'd1) ? (4'd7) : (4'd3);\n";
        has(&text, expected);
    }

    #[test]
    fn two_faults_may_share_a_line() {
        let text = plant_faults(&[("a & c[0]", "a"), ("c[0]", "c[3]")]);
        let on = |number: u8| format!("(leaf.planted_fault == 8'd{number})");
        let expected = format!("{} ? (a & c[3]) : ({} ? (a) : (a & c[0]));", on(2), on(1));
        has(&text, &expected);
    }

    #[test]
    fn statement_may_be_omitted_or_declared() {
        let late = "reg late;\n    always @(posedge clock) late <= a;\n    assign b = late;";
        let text = plant_faults(&[("d = a;", ""), ("assign b = a & c[0];", late)]);
        has(&text, "\n        if (!(leaf.planted_fault == 8'd1)) d = a;\n");
        let expected = "\n    reg late;\n    always @(posedge clock) late <= a;\n    assign b = \
                        (leaf.planted_fault == 8'd2) ? (late) : (a & c[0]);\n";
        has(&text, expected);
    }

    #[test]
    #[should_panic(expected = "more than an expression differs: `assign c = a & c[0];`")]
    fn another_target_is_refused() {
        plant_faults(&[("assign b", "assign c")]);
    }

    #[test]
    #[should_panic(expected = "not a statement in one line: `always @(*) begin`")]
    fn another_form_is_refused() {
        plant_faults(&[("@(*)", "@(posedge clock)")]);
    }

    #[test]
    #[should_panic(expected = "the text to replace is there 3 times: `a & `")]
    fn ambiguous_text_is_named() {
        with_faults("leaf", &TEXT.replace("d = a", "d = a & a"), &[("a & ", "")]);
    }

    #[test]
    fn text_is_replaced_in_place() {
        let faulty = replace_once(TEXT, "d = a;", "d = ~a;");
        assert_eq!(faulty.replace("= ~", "= "), TEXT);
        assert_ne!(faulty, TEXT);
    }

    #[test]
    #[should_panic(expected = "the text to replace is not found: `a | c`")]
    fn moved_text_is_named() {
        plant_faults(&[("a | c", "a")]);
    }
}
