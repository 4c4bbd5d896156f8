//! A kernel as a list of statements: loops unrolled, names resolved, joins as assignments.

use rust_hdl_core::ast::{
    VerilogBlock, VerilogBlockOrConditional as Otherwise, VerilogConditional,
    VerilogExpression as Ast, VerilogLink, VerilogLinkDetails, VerilogMatch,
    VerilogStatement as Statement,
};

use crate::error::{Found, Reason};
use crate::expr::Expr;
use crate::lower::Lower;
use crate::path::{parse_number, resolve, Loops};
use crate::table::{Kind, Table};
use crate::value::Value;

/// What a match arm compares with; None: all other values.
pub(crate) type Label = Option<Expr>;

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    /// `target[low +: width] = value`.
    Assign {
        target: usize,
        low: usize,
        width: usize,
        value: Expr,
    },
    If {
        test: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// The last arm has no label.
    Case {
        test: Expr,
        arms: Vec<(Label, Vec<Stmt>)>,
    },
}

/// Two pads that are one net.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PadJoin(pub(crate) usize, pub(crate) usize);

/// The statements of `code`, and the pads joined in it.
pub(crate) fn statements(code: &VerilogBlock, table: &Table) -> Found<(Vec<Stmt>, Vec<PadJoin>)> {
    let mut builder = Builder { lower: Lower { table, loops: Loops::default() }, pads: Vec::new() };
    let statements = builder.block(code)?;
    Ok((statements, builder.pads))
}

struct Builder<'a> {
    lower: Lower<'a>,
    pads: Vec<PadJoin>,
}

impl Builder<'_> {
    fn block(&mut self, block: &VerilogBlock) -> Found<Vec<Stmt>> {
        let mut statements = Vec::new();
        for statement in block {
            self.statement(statement, &mut statements)?;
        }
        Ok(statements)
    }

    fn statement(&mut self, statement: &Statement, out: &mut Vec<Stmt>) -> Found<()> {
        match statement {
            Statement::Assignment(target, value) => {
                let target = self.target(target)?;
                let width = self.lower.table.signals[target].width;
                out.push(self.assign(target, 0, width, value)?);
            }
            Statement::SliceAssignment { base, width, offset, replacement } => {
                let target = self.target(base)?;
                let whole = self.lower.table.signals[target].width;
                let name = || self.lower.table.signals[target].field.clone();
                let low = self.lower.number(offset);
                let low = low.ok_or_else(|| (name(), Reason::NotAssignable))? as usize;
                if low + width > whole {
                    let end = low + width;
                    return Err((name(), Reason::PartBeyondEnd { end, width: whole }));
                }
                if *width > 0 {
                    out.push(self.assign(target, low, *width, replacement)?);
                }
            }
            Statement::If(conditional) => out.push(self.conditional(conditional)?),
            Statement::Match(choice) => out.push(self.choice(choice)?),
            Statement::Loop(body) => {
                for value in body.from.as_usize()..body.to.as_usize() {
                    let index = body.index.trim_start_matches("r#").to_owned();
                    self.lower.loops.0.push((index, value as u64));
                    let unrolled = self.block(&body.block);
                    self.lower.loops.0.pop();
                    out.extend(unrolled?);
                }
            }
            Statement::Comment(_) => {}
            Statement::Link(links) => {
                for link in links {
                    self.link(link, out)?;
                }
            }
            Statement::Macro(block) => out.extend(self.block(block)?),
        }
        Ok(())
    }

    fn target(&self, ast: &Ast) -> Found<usize> {
        let Ast::Signal(text) = ast else {
            return Err((crate::show::show(ast), Reason::NotAssignable));
        };
        self.find_target(&resolve(text, &self.lower.loops)?)
    }

    fn find(&self, field: &str) -> Found<usize> {
        let found = self.lower.table.find(field);
        found.ok_or_else(|| (field.replace('$', "."), Reason::UnknownName))
    }

    fn find_target(&self, field: &str) -> Found<usize> {
        let signal = self.find(field)?;
        let entry = &self.lower.table.signals[signal];
        if !entry.kind.is_target() {
            return Err((field.replace('$', "."), Reason::NotAssignable));
        }
        if entry.is_signed {
            return Err((field.replace('$', "."), Reason::Signed));
        }
        Ok(signal)
    }

    fn assign(&self, target: usize, low: usize, width: usize, value: &Ast) -> Found<Stmt> {
        Ok(Stmt::Assign { target, low, width, value: self.lower.expression(value, Some(width))? })
    }

    fn conditional(&mut self, conditional: &VerilogConditional) -> Found<Stmt> {
        let test = self.lower.expression(&conditional.test, Some(1))?;
        let then = self.block(&conditional.then)?;
        let otherwise = match &conditional.otherwise {
            Otherwise::Block(block) => self.block(block)?,
            Otherwise::Conditional(statement) => {
                let mut out = Vec::new();
                self.statement(statement, &mut out)?;
                out
            }
            Otherwise::None => Vec::new(),
        };
        Ok(Stmt::If { test, then, otherwise })
    }

    /// Rust's `match` covers all values, so the last arm needs no label.
    fn choice(&mut self, choice: &VerilogMatch) -> Found<Stmt> {
        let test = self.lower.expression(&choice.test, None)?;
        let width = test.width(self.lower.table);
        let mut arms = Vec::new();
        for (index, case) in choice.cases.iter().enumerate() {
            let is_last = index + 1 == choice.cases.len();
            let label = match case.condition.as_str() {
                "default" | "_" => None,
                text => Some(self.label(text, width)?),
            };
            let ends = label.is_none();
            arms.push((label.filter(|_| !is_last), self.block(&case.block)?));
            if ends {
                break;
            }
        }
        Ok(Stmt::Case { test, arms })
    }

    fn label(&self, text: &str, width: usize) -> Found<Expr> {
        let number = match text {
            "true" => Some(1),
            "false" => Some(0),
            _ => parse_number(text),
        };
        if let Some(number) = number {
            let value = Value::of(number);
            if value.bits() > width {
                return Err((text.to_owned(), Reason::LiteralTooWide(width)));
            }
            return Ok(Expr::Const(value, width));
        }
        let path = text.replace("::", "$");
        let found = self.lower.table.find_enum(&path);
        let value = found.ok_or((text.replace('$', "::"), Reason::MatchArm))?;
        if value.width != width {
            return Err((text.replace('$', "::"), Reason::MatchArm));
        }
        let position = self.lower.table.enums.iter().position(|e| e == value);
        position.map(Expr::Enum).ok_or((text.replace('$', "::"), Reason::MatchArm))
    }

    fn link(&mut self, link: &VerilogLink, out: &mut Vec<Stmt>) -> Found<()> {
        let (details, forward) = match link {
            VerilogLink::Forward(details) => (details, true),
            VerilogLink::Backward(details) => (details, false),
            VerilogLink::Bidirectional(details) => {
                let owner = self.find(&self.end(details, &details.owner_name)?)?;
                let other = self.find(&self.end(details, &details.other_name)?)?;
                let is_pad = |signal: usize| {
                    let kind = self.lower.table.signals[signal].kind;
                    matches!(kind, Kind::Pad | Kind::ChildPad(_))
                };
                if !is_pad(owner) || !is_pad(other) {
                    return Err((details.owner_name.clone(), Reason::Pad));
                }
                self.pads.push(PadJoin(owner, other));
                return Ok(());
            }
        };
        let (source, sink) = match forward {
            true => (&details.owner_name, &details.other_name),
            false => (&details.other_name, &details.owner_name),
        };
        let source = self.find(&self.end(details, source)?)?;
        let target = self.find_target(&self.end(details, sink)?)?;
        let (left, right) =
            (self.lower.table.signals[target].width, self.lower.table.signals[source].width);
        if left != right {
            let name = self.lower.table.signals[target].field.clone();
            return Err((name, Reason::WidthMismatch { left, right }));
        }
        out.push(Stmt::Assign { target, low: 0, width: left, value: Expr::Signal(source) });
        Ok(())
    }

    fn end(&self, details: &VerilogLinkDetails, owner: &str) -> Found<String> {
        let owner = resolve(owner, &self.lower.loops)?;
        let mine = resolve(&details.my_name, &self.lower.loops)?;
        Ok(match (owner.is_empty(), mine.is_empty()) {
            (_, true) => owner,
            (true, _) => mine,
            _ => format!("{owner}${mine}"),
        })
    }
}

impl Stmt {
    /// Calls `visit` for every signal assigned.
    pub(crate) fn targets(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Stmt::Assign { target, .. } => visit(*target),
            Stmt::If { then, otherwise, .. } => {
                then.iter().for_each(|s| s.targets(visit));
                otherwise.iter().for_each(|s| s.targets(visit));
            }
            Stmt::Case { arms, .. } => {
                for (_, block) in arms {
                    block.iter().for_each(|s| s.targets(visit));
                }
            }
        }
    }

    /// Calls `visit` for every signal read.
    pub(crate) fn reads(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Stmt::Assign { value, .. } => value.reads(visit),
            Stmt::If { test, then, otherwise } => {
                test.reads(visit);
                then.iter().for_each(|s| s.reads(visit));
                otherwise.iter().for_each(|s| s.reads(visit));
            }
            Stmt::Case { test, arms } => {
                test.reads(visit);
                for (_, block) in arms {
                    block.iter().for_each(|s| s.reads(visit));
                }
            }
        }
    }

    /// What is left when only assignments to `kept` stay.
    pub(crate) fn project(&self, kept: &dyn Fn(usize) -> bool) -> Option<Stmt> {
        match self {
            Stmt::Assign { target, .. } => kept(*target).then(|| self.clone()),
            Stmt::If { test, then, otherwise } => {
                let (then, otherwise) = (project_all(then, kept), project_all(otherwise, kept));
                (!then.is_empty() || !otherwise.is_empty()).then(|| Stmt::If {
                    test: test.clone(),
                    then,
                    otherwise,
                })
            }
            Stmt::Case { test, arms } => {
                let arms: Vec<_> = arms
                    .iter()
                    .map(|(label, block)| (label.clone(), project_all(block, kept)))
                    .collect();
                let empty = arms.iter().all(|(_, block)| block.is_empty());
                (!empty).then(|| Stmt::Case { test: test.clone(), arms })
            }
        }
    }
}

/// The statements as far as they assign to `kept`.
pub(crate) fn project_all(statements: &[Stmt], kept: &dyn Fn(usize) -> bool) -> Vec<Stmt> {
    statements.iter().filter_map(|s| s.project(kept)).collect()
}
