//! The Verilog of a whole card, in a named configuration.
//!
//! ```text
//!   name ──► Card::new ──► ports::design ──► EmittedCard
//! ```
//! A card is large, so it is made and walked on a stack of its own.

use ip::completion_buffer::CompletionBuffer;
use rust_hdl_core::prelude::*;
use verilog::ModuleNames;

use crate::card::{DefaultCard, LabCard, SmallCard};
use crate::ports::{design, ports_of, EmitError, Port};

/// The card is large as a Rust value: it is made and walked on a stack of its own.
const STACK_BYTES: usize = 1 << 30;

/// Stands before the name of every module of the card but the top's, unless one asks for another
/// prefix: names like `fifo` and `control` are those of other designs too.
pub const PREFIX: &str = "zeronic_";

/// The emitted card of one configuration.
#[derive(Clone, Debug)]
pub struct EmittedCard {
    /// Name of the top module.
    pub top: &'static str,
    /// What the name of every other module begins with.
    pub prefix: String,
    /// Verilog of the whole card.
    pub design: verilog::Design,
    /// Ports of the top module.
    pub ports: Vec<Port>,
    /// The receive list is behind registers, for a die beside that of the rest.
    pub has_far_list: bool,
}

/// Why a card cannot be emitted.
#[derive(Debug, thiserror::Error)]
pub enum CardEmitError {
    /// The system cannot provide the stack of the thread.
    #[error("no thread with a stack of {STACK_BYTES} bytes: {0}; is `ulimit -v` set?")]
    Stack(std::io::Error),
    /// The card has no Verilog.
    #[error(transparent)]
    Emit(#[from] EmitError),
}

/// Emits the card in a named configuration, for the default completion buffer and with the usual
/// prefix; `None` if there is no such configuration.
pub fn emit_card(config: &str) -> Option<Result<EmittedCard, CardEmitError>> {
    emit_card_for(config, CompletionBuffer::default(), PREFIX)
}

/// Emits the card in a named configuration, for a PCIe hard block with this completion buffer, its
/// modules named with `prefix`; `None` if there is no such configuration.
pub fn emit_card_for(
    config: &str,
    buffer: CompletionBuffer,
    prefix: &str,
) -> Option<Result<EmittedCard, CardEmitError>> {
    let card = match config {
        "default" => {
            try_on_large_stack(|| emitted(&mut DefaultCard::new(buffer), "zeronic", prefix))
        }
        "default-slices" => try_on_large_stack(|| {
            let mut card = DefaultCard::new(buffer).with_die_slices();
            let emitted = emitted(&mut card, "zeronic", prefix)?;
            Ok(EmittedCard { has_far_list: true, ..emitted })
        }),
        "lab" => try_on_large_stack(|| emitted(&mut LabCard::new(buffer), "zeronic_lab", prefix)),
        "small" => {
            try_on_large_stack(|| emitted(&mut SmallCard::new(buffer), "zeronic_small", prefix))
        }
        _ => return None,
    };
    Some(card.map_err(CardEmitError::Stack).and_then(|card| Ok(card?)))
}

fn emitted<B: Block>(
    card: &mut B,
    top: &'static str,
    prefix: &str,
) -> Result<EmittedCard, EmitError> {
    let called = ModuleNames { prefix, ..ModuleNames::plain(top) };
    let design = design(card, called)?;
    // At the top, a port has exactly the vendor's name.
    let flat = |port: Port| Port { name: port.verilog_name(), ..port };
    let ports = ports_of(card).into_iter().map(flat).collect();
    Ok(EmittedCard { top, prefix: prefix.to_owned(), design, ports, has_far_list: false })
}

/// Runs `work` on a stack of its own, a gigabyte of address space: for code that makes or walks a
/// card, or a large stage of it, as a Rust value. A panic is resumed in the caller.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    try_on_large_stack(work).expect("the system gives a thread a gigabyte of address space")
}

/// As [`on_large_stack`], but returns an error if the system cannot provide the stack.
fn try_on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        let done = thread.join();
        Ok(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
