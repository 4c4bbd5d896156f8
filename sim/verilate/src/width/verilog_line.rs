//! Reads one emitted Verilog statement as far as the width rules need.
//!
//! ```text
//!   t = ((a) & 16'hffff) + b[(n)+:(8)];   ──>   Plain  +  Plain
//! ```
//!
//! Invariants
//! 1. `Plain` stands for a signal, a literal, a slice at a plain offset, a cast of these: things
//!    whose value does not depend on the width of what surrounds them.

/// What a plain token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signal,
    Literal,
    Cast,
}

/// A piece of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// See the head.
    Plain(Kind),
    /// With the byte at which it stands in the line.
    Operator(String, usize),
    Open,
    Close,
    /// A slice or index at an offset that is itself an expression, or text that is no expression.
    Other,
}

/// True if the statement is an assignment whose right side wraps alike at any width of at least
/// that of its target: sums, differences, bitwise operators and left shifts by a plain amount, but
/// nothing that looks at the bits above.
pub(crate) fn is_modular_assignment(line: &str) -> bool {
    let Some((_, right)) = line.split_once(" = ").or_else(|| line.split_once(" <= ")) else {
        return false;
    };
    let right = right.split(';').next().unwrap_or_default();
    let tokens = reduce(tokens(right));
    let can_carry = tokens.iter().any(carries);
    let mut before: Option<&Token> = None;
    for (index, token) in tokens.iter().enumerate() {
        let is_infix = matches!(before, Some(Token::Plain(_) | Token::Close));
        let next = tokens.get(index + 1);
        let is_fine = match token {
            Token::Other => false,
            Token::Plain(_) | Token::Open | Token::Close => true,
            Token::Operator(operator, _) => match operator.as_str() {
                "~" | "-" => true,
                "+" | "*" | "|" | "^" => is_infix,
                // An AND with a literal may be a cast: its other side was not plain.
                "&" if next == Some(&Token::Plain(Kind::Literal)) => is_infix && !can_carry,
                "&" => is_infix,
                "<<" => is_plain(next),
                // A plain value has no bits above its width.
                ">>" => is_plain(before) && is_plain(next),
                _ => false,
            },
        };
        if !is_fine {
            return false;
        }
        before = Some(token);
    }
    true
}

fn is_plain(token: Option<&Token>) -> bool {
    matches!(token, Some(Token::Plain(_)))
}

fn carries(token: &Token) -> bool {
    matches!(token, Token::Operator(o, _) if matches!(o.as_str(), "+" | "-" | "*" | "~" | "<<"))
}

/// True if the operator at byte `at` compares two plain values, one of them a literal or a cast.
pub(crate) fn compares_plain_values(line: &str, at: usize) -> bool {
    let tokens = reduce(tokens(line));
    tokens.windows(3).any(|triple| match triple {
        [Token::Plain(left), Token::Operator(operator, position), Token::Plain(right)] => {
            let is_meant = *position == at && is_comparison(operator);
            is_meant && (*left, *right) != (Kind::Signal, Kind::Signal)
        }
        _ => false,
    })
}

fn is_comparison(operator: &str) -> bool {
    matches!(operator, "==" | "!=" | "<" | ">" | "<=" | ">=")
}

/// Reduces parentheses around plain tokens, and casts of them, until none is left.
fn reduce(mut tokens: Vec<Token>) -> Vec<Token> {
    while let Some((at, length, kind)) = (0..tokens.len()).find_map(|at| foldable(&tokens, at)) {
        tokens.splice(at..at + length, [Token::Plain(kind)]);
    }
    tokens
}

/// What the tokens from `at` on fold to: where, how many, into what.
fn foldable(tokens: &[Token], at: usize) -> Option<(usize, usize, Kind)> {
    use Token::{Close, Open, Operator, Plain};
    match &tokens[at..] {
        [Open, Plain(kind), Close, ..] => Some((at, 3, *kind)),
        [Open, Plain(kind), Operator(and, _), Plain(Kind::Literal), Close, ..] if and == "&" => {
            let is_signal = *kind == Kind::Signal;
            Some((at, 5, if is_signal { Kind::Cast } else { *kind }))
        }
        _ => None,
    }
}

fn tokens(text: &str) -> Vec<Token> {
    const OPERATORS: [&str; 18] = [
        "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "<", ">", "&", "|", "^", "~", "+", "-",
        "*", "!",
    ];
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let token;
        (token, rest) = if first == '(' {
            (Token::Open, &rest[1..])
        } else if first == ')' {
            (Token::Close, &rest[1..])
        } else if is_name(first) {
            operand(rest)
        } else if let Some(operator) = OPERATORS.iter().find(|o| rest.starts_with(**o)) {
            let at = text.len() - rest.len();
            (Token::Operator((*operator).into(), at), &rest[operator.len()..])
        } else {
            (Token::Other, &rest[first.len_utf8()..])
        };
        tokens.push(token);
        rest = rest.trim_start();
    }
    tokens
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '\'')
}

/// A signal with its slices and indices, or a literal.
fn operand(text: &str) -> (Token, &str) {
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(end);
    let is_literal = name.starts_with(|c: char| c.is_ascii_digit());
    let mut token = Token::Plain(if is_literal { Kind::Literal } else { Kind::Signal });
    while rest.starts_with('[') {
        let Some(end) = closing_bracket(rest) else { return (Token::Other, "") };
        let offset = rest[1..end].split("+:").next().unwrap_or_default();
        if !matches!(reduce(tokens(offset))[..], [Token::Plain(_)]) {
            token = Token::Other;
        }
        rest = &rest[end + 1..];
    }
    (token, rest)
}

fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modular_assignments() {
        for line in [
            "t = a + 32'h1;",
            "count = a | ((32'h2) & 7'h7f);",
            "lower = (((d[(32'h2)+:(5)]) & 7'h7f) << 32'h2) | ((lead) & 7'h7f);",
            "kept = (running$q & ~(1 << (owner)) | ((word[32'h0]) << (owner)));",
            "x = -(a) - b[n];",
            "x = (a | b) & 32'hf;",
            "mask = ((32'hf) & 4'hf) >> shift;",
        ] {
            assert!(is_modular_assignment(line), "{line}");
        }
    }

    #[test]
    fn assignments_that_see_the_bits_above() {
        for line in [
            "w = ((a + 32'h1) & 16'hffff);",
            "t = (a + 32'h1) >> 32'h1;",
            "t = a + 32'h1 == b;",
            "t = |(a + 32'h1);",
            "t = ((~a) & 16'hffff);",
            "t = x[(a + 32'h1)+:(8)];",
            "t = a << (b + 32'h1);",
            "count = (a | ((32'h2) & 7'h7f)) >> b;",
            "if (a + 32'h1) begin",
        ] {
            assert!(!is_modular_assignment(line), "{line}");
        }
    }

    #[test]
    fn comparisons_of_plain_values() {
        let judge = |line: &str, operator| {
            compares_plain_values(line, line.find(operator).expect("it is there"))
        };
        assert!(judge("if ((a == 32'h3) & (b < c)) begin", "=="));
        assert!(!judge("if ((a == 32'h3) & (b < c)) begin", "< "));
        assert!(judge("if (b < (32'h4)) begin", "<"));
        assert!(judge("hit = (a == ((wide) & 8'hff));", "=="));
        assert!(judge("hit = (a == ((32'h3) & 8'hff));", "=="));
        assert!(!judge("hit = (a + b) == 32'h3;", "=="));
        assert!(!judge("t = a + 32'h3;", "+"));
    }
}
