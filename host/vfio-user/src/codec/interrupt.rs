//! What is to become of interrupts of one type.
//!
//! ```text
//!   0 argsz │ 4 flags: data 2:0, action 5:3 │ 8 index │ 12 start │ 16 count │ 20 a byte each
//! ```
//! Invariants
//! 1. A decoded order has one kind of data and one action, and as many bytes as it counts.
//!
//! Source: vfio-user protocol specification, VFIO_USER_DEVICE_SET_IRQS.

use super::bytes::{Reader, Writer};
use super::error::CodecError;
use super::memory::check_argsz;

const FIXED_BYTES: u32 = 20;
const DATA_NONE: u32 = 1 << 0;
const DATA_BOOL: u32 = 1 << 1;
const DATA_EVENT: u32 = 1 << 2;
const DATA: u32 = DATA_NONE | DATA_BOOL | DATA_EVENT;
const MASK: u32 = 1 << 3;
const UNMASK: u32 = 1 << 4;
const TRIGGER: u32 = 1 << 5;
/// More than any device has: what an index may not exceed.
const INTERRUPTS_MAX: u32 = 2048;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Held back.
    Mask,
    /// No longer held back.
    Unmask,
    /// Raised, or told where to be raised.
    Trigger,
}

/// With which of them it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// All that are named; none named: the whole type is switched off.
    All,
    /// Those whose byte is not 0.
    Some(Vec<bool>),
    /// Event descriptors come with the message, one each, or none to take them away.
    Events,
}

/// An order for interrupts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetInterrupts {
    /// Which type.
    pub index: u32,
    /// The first one.
    pub start: u32,
    /// How many.
    pub count: u32,
    /// What is done.
    pub action: Action,
    /// With which of them.
    pub choice: Choice,
}

impl SetInterrupts {
    /// Takes a payload apart.
    pub fn decode(payload: &[u8]) -> Result<Self, CodecError> {
        let mut fields = Reader::new(payload);
        let (argsz, flags, index) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let (start, count) = (fields.u32()?, fields.u32()?);
        check_argsz(argsz, FIXED_BYTES)?;
        if count > INTERRUPTS_MAX || start > INTERRUPTS_MAX {
            let (address, bytes) = (start.into(), count.into());
            return Err(CodecError::Range { address, bytes });
        }
        let action = match flags & !DATA {
            MASK => Action::Mask,
            UNMASK => Action::Unmask,
            TRIGGER => Action::Trigger,
            _ => return Err(CodecError::Flags(flags)),
        };
        let choice = match flags & DATA {
            DATA_NONE => Choice::All,
            DATA_EVENT => Choice::Events,
            DATA_BOOL => {
                let chosen = fields.take(count as usize)?;
                Choice::Some(chosen.iter().map(|byte| *byte != 0).collect())
            }
            _ => return Err(CodecError::Flags(flags)),
        };
        // A client may leave room for what it sends beside the message: descriptors.
        match choice {
            Choice::Events => {}
            _ => fields.end()?,
        }
        Ok(Self { index, start, count, action, choice })
    }

    /// The payload.
    pub fn encode(&self) -> Vec<u8> {
        let (data, chosen): (_, &[bool]) = match &self.choice {
            Choice::All => (DATA_NONE, &[]),
            Choice::Some(chosen) => (DATA_BOOL, chosen),
            Choice::Events => (DATA_EVENT, &[]),
        };
        let action = match self.action {
            Action::Mask => MASK,
            Action::Unmask => UNMASK,
            Action::Trigger => TRIGGER,
        };
        let chosen: Vec<u8> = chosen.iter().map(|chosen| u8::from(*chosen)).collect();
        let argsz = FIXED_BYTES + chosen.len() as u32;
        let fields = Writer::default().u32(argsz).u32(data | action).u32(self.index);
        fields.u32(self.start).u32(self.count).bytes(&chosen).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(choice: Choice, action: Action) -> SetInterrupts {
        SetInterrupts { index: 2, start: 1, count: 3, action, choice }
    }

    #[test]
    fn orders_read_back_as_sent() {
        for action in [Action::Mask, Action::Unmask, Action::Trigger] {
            let some = Choice::Some(vec![true, false, true]);
            for choice in [Choice::All, some, Choice::Events] {
                let order = order(choice, action);
                assert_eq!(SetInterrupts::decode(&order.encode()), Ok(order));
            }
        }
    }

    #[test]
    fn order_follows_specification_layout() {
        let bytes = order(Choice::Some(vec![true, false, true]), Action::Trigger).encode();
        assert_eq!(bytes, [23, 0, 0, 0, 34, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 1]);
    }

    #[test]
    fn exclusive_flags_are_refused() {
        let good = order(Choice::All, Action::Trigger).encode();
        for flags in [0, 1, 32, 33 | 2, 33 | 8, 33 | 64, 63, u32::MAX] {
            let mut bytes = good.clone();
            bytes[4..8].copy_from_slice(&u32::to_ne_bytes(flags));
            assert_eq!(SetInterrupts::decode(&bytes), Err(CodecError::Flags(flags)));
        }
    }

    #[test]
    fn bytes_match_their_count() {
        let good = order(Choice::Some(vec![true, false, true]), Action::Mask).encode();
        let short = CodecError::TooShort { bytes: 22, needed: 23 };
        assert_eq!(SetInterrupts::decode(&good[..22]), Err(short));
        let long = [&good[..], &[0]].concat();
        let expected = CodecError::TooLong { bytes: 24, needed: 23 };
        assert_eq!(SetInterrupts::decode(&long), Err(expected));
        let mut many = good;
        many[16..20].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert!(matches!(SetInterrupts::decode(&many), Err(CodecError::Range { .. })));
    }
}
