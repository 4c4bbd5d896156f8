//! Judges Verilator's width warnings: which are harmless and which indicate a bug.
//!
//! The emitter casts by an AND with a mask and prints literals 32 bits wide. What is harmless:
//! 1. An AND between a mask and a plain signal (or a slice of one): a cast.
//! 2. A comparison of a plain signal with a literal or a cast: zero extension changes neither.
//! 3. A sum, difference, bitwise operator or shift in an assignment whose right side holds
//!    only such: the assignment truncates it to the width that Rust gave it.
//! 4. An assignment that cuts off a literal, a cast, or a case of rule 3.
//! 5. A bit or slice offset narrower or wider than the index needs.
//!
//! Every other warning fails: an operator whose operand is widened where the carry is visible.
//!
//! The rules read the source line that Verilator quotes, so they hold for the emitter's one
//! statement per line; custom Verilog in a block is held to them as well.

mod verilog_line;

use std::fmt;

use verilog_line::{compares_plain_values, is_modular_assignment};

/// A width warning that is not harmless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WidthFinding {
    /// `file:line:column`.
    pub place: String,
    /// Verilator's sentence.
    pub message: String,
    /// The source line.
    pub line: String,
    /// Where in `line` the operator stands, in bytes.
    pub column: usize,
}

impl fmt::Display for WidthFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n    {}", self.place, self.message, self.line)
    }
}

/// Lists the warnings in Verilator's output that may mean a difference to the Rust.
pub fn lint_width_warnings(text: &str) -> Result<(), Vec<WidthFinding>> {
    let findings: Vec<WidthFinding> =
        warnings(text).filter(|warning| !is_harmless(warning)).collect();
    if findings.is_empty() {
        Ok(())
    } else {
        Err(findings)
    }
}

fn warnings(text: &str) -> impl Iterator<Item = WidthFinding> + '_ {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len()).filter_map(move |index| {
        let rest = lines[index].strip_prefix("%Warning-WIDTH")?;
        let (_, rest) = rest.split_once(": ")?;
        let (place, message) = rest.split_once(": ")?;
        let quoted = lines[index + 1..].iter().take(3).find_map(|line| {
            let (number, code) = line.split_once(" | ")?;
            number.trim().parse::<u32>().ok().map(|_| code)
        });
        let quoted = quoted.unwrap_or_default();
        let indent = quoted.len() - quoted.trim_start().len();
        let column: usize = place.rsplit(':').next()?.parse().ok()?;
        Some(WidthFinding {
            place: place.into(),
            message: message.trim_end_matches('.').into(),
            line: quoted.trim().into(),
            column: column.saturating_sub(1 + indent),
        })
    })
}

fn is_harmless(warning: &WidthFinding) -> bool {
    let message = &warning.message;
    if message.starts_with("Bit extraction of") {
        return true;
    }
    let Some((operator, operand)) = operator_and_operand(message) else { return false };
    let is_plain = matches!(operand, "VARREF" | "CONST" | "SEL" | "ARRAYSEL");
    match operator {
        "AND" => is_plain || is_modular_assignment(&warning.line),
        "EQ" | "NEQ" | "LT" | "LTE" | "GT" | "GTE" => {
            is_plain && compares_plain_values(&warning.line, warning.column)
        }
        "ADD" | "SUB" | "OR" | "XOR" | "NOT" | "SHIFTL" | "SHIFTR" => {
            is_modular_assignment(&warning.line)
        }
        "ASSIGN" | "ASSIGNDLY" | "ASSIGNW" => match operand {
            "CONST" | "AND" => true,
            "ADD" | "SUB" | "OR" | "XOR" | "NOT" | "SHIFTL" | "SHIFTR" => {
                is_modular_assignment(&warning.line)
            }
            _ => false,
        },
        "CASE" => operand == "CONST" || operand == "VARREF",
        _ => false,
    }
}

/// From `Operator ADD expects 32 bits on the LHS, but LHS's VARREF 'a' generates 8 bits`.
fn operator_and_operand(message: &str) -> Option<(&str, &str)> {
    let operator = message.strip_prefix("Operator ")?.split(' ').next()?;
    let operand = message.split_once("'s ")?.1.split(' ').next()?;
    Some((operator, operand))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(message: &str, line: &str) -> String {
        let note = "    : ... note: In instance 'top'";
        let column = line.find("==").unwrap_or(6) + 2;
        let head = format!("%Warning-WIDTHEXPAND: design.v:5:{column}: {message}.");
        format!("{head}\n{note}\n    5 |  {line}\n")
    }

    fn add(line: &str) -> String {
        let message =
            "Operator ADD expects 32 bits on the LHS, but LHS's VARREF 'a' generates 8 bits";
        warning(message, line)
    }

    #[test]
    fn cast_of_plain_signal_is_harmless() {
        let message =
            "Operator AND expects 16 bits on the LHS, but LHS's VARREF 'a' generates 8 bits";
        assert_eq!(lint_width_warnings(&warning(message, "w = ((a) & 16'hffff);")), Ok(()));
    }

    #[test]
    fn assigned_sum_is_harmless_compared_not() {
        assert_eq!(lint_width_warnings(&add("t = a + 32'h1;")), Ok(()));
        let found = lint_width_warnings(&add("if (a + 32'h1 == b) begin")).expect_err("fails");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, "design.v:5:16");
        assert_eq!(found[0].line, "if (a + 32'h1 == b) begin");
        assert!(lint_width_warnings(&add("w = ((a + 32'h1) & 16'hffff);")).is_err());
        assert!(lint_width_warnings(&add("t = (a + 32'h1) >> 32'h1;")).is_err());
    }

    #[test]
    fn assigned_or_is_harmless_shifted_not() {
        let message =
            "Operator OR expects 32 bits on the LHS, but LHS's VARREF 'a' generates 7 bits";
        let line = "count = a | ((32'h2) & 7'h7f);";
        assert_eq!(lint_width_warnings(&warning(message, line)), Ok(()));
        let line = "count = (a | ((32'h2) & 7'h7f)) >> b;";
        assert!(lint_width_warnings(&warning(message, line)).is_err());
        let line = "count = a | ((b + 32'h2) & 7'h7f);";
        assert!(lint_width_warnings(&warning(message, line)).is_err());
    }

    #[test]
    fn literal_comparison_is_harmless_signals_not() {
        let message =
            "Operator EQ expects 32 bits on the LHS, but LHS's VARREF 'a' generates 8 bits";
        assert_eq!(lint_width_warnings(&warning(message, "if (a == 32'h3) begin")), Ok(()));
        assert!(lint_width_warnings(&warning(message, "if (a == wide) begin")).is_err());
    }

    #[test]
    fn inversion_and_shift_are_not_harmless() {
        for operator in ["NOT", "SHIFTL", "SHIFTR", "NEGATE"] {
            let message = format!(
                "Operator {operator} expects 16 bits on the LHS, but LHS's VARREF 'a' generates 8 \
                 bits"
            );
            assert!(
                lint_width_warnings(&warning(&message, "w = ((~a) & 16'hffff);")).is_err(),
                "{operator}"
            );
        }
    }

    #[test]
    fn other_warnings_are_not_judged() {
        assert_eq!(
            lint_width_warnings("%Warning-UNUSED: a.v:1:1: Signal is not used: 'x'.\n"),
            Ok(())
        );
    }
}
