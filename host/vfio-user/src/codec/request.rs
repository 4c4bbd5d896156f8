//! The commands: which there are, and one taken apart.
//!
//! Invariants
//! 1. Every payload leads to a request or to an error that has an error number.
//!
//! Source: vfio-user protocol specification, Commands.

use super::access::{RegionAccess, RegionSignals, SmallWrite};
use super::error::CodecError;
use super::info::{DeviceInfo, Question};
use super::interrupt::SetInterrupts;
use super::memory::{DmaAccess, DmaMap, DmaUnmap};
use super::version::Version;

/// A command of the protocol. Those for migration are missing: nobody here has a use for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u16)]
pub enum Command {
    /// Version and capabilities, the first of all.
    Version = 1,
    /// The device may reach a range of memory.
    DmaMap = 2,
    /// It may no longer.
    DmaUnmap = 3,
    /// What the device is.
    DeviceInfo = 4,
    /// What a region is.
    RegionInfo = 5,
    /// Which descriptors stand for writes to a region.
    RegionSignals = 6,
    /// What interrupts there are of a type.
    InterruptInfo = 7,
    /// What is to become of interrupts.
    SetInterrupts = 8,
    /// Reads a region.
    RegionRead = 9,
    /// Writes a region.
    RegionWrite = 10,
    /// The server reads memory of the client.
    DmaRead = 11,
    /// The server writes memory of the client.
    DmaWrite = 12,
    /// Resets the device.
    Reset = 13,
    /// Several writes of regions.
    WriteMany = 15,
}

impl Command {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Version,
        Self::DmaMap,
        Self::DmaUnmap,
        Self::DeviceInfo,
        Self::RegionInfo,
        Self::RegionSignals,
        Self::InterruptInfo,
        Self::SetInterrupts,
        Self::RegionRead,
        Self::RegionWrite,
        Self::DmaRead,
        Self::DmaWrite,
        Self::Reset,
        Self::WriteMany,
    ];

    /// The command of a number.
    pub fn of(number: u16) -> Result<Self, CodecError> {
        let found = Self::ALL.into_iter().find(|command| command.number() == number);
        found.ok_or(CodecError::Command(number))
    }

    /// Its number.
    pub const fn number(self) -> u16 {
        self as u16
    }
}

/// A command with what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// [`Command::Version`].
    Version(Version),
    /// [`Command::DmaMap`].
    DmaMap(DmaMap),
    /// [`Command::DmaUnmap`].
    DmaUnmap(DmaUnmap),
    /// [`Command::DeviceInfo`].
    DeviceInfo,
    /// [`Command::RegionInfo`].
    RegionInfo(Question),
    /// [`Command::RegionSignals`].
    RegionSignals(RegionSignals),
    /// [`Command::InterruptInfo`].
    InterruptInfo(Question),
    /// [`Command::SetInterrupts`].
    SetInterrupts(SetInterrupts),
    /// [`Command::RegionRead`].
    RegionRead(RegionAccess),
    /// [`Command::RegionWrite`], with its data.
    RegionWrite(RegionAccess, &'a [u8]),
    /// [`Command::DmaRead`].
    DmaRead(DmaAccess),
    /// [`Command::DmaWrite`], with its data.
    DmaWrite(DmaAccess, &'a [u8]),
    /// [`Command::Reset`].
    Reset,
    /// [`Command::WriteMany`].
    WriteMany(Vec<SmallWrite>),
}

impl<'a> Request<'a> {
    /// Takes a command apart.
    pub fn decode(command: u16, payload: &'a [u8]) -> Result<Self, CodecError> {
        Ok(match Command::of(command)? {
            Command::Version => Self::Version(Version::decode(payload)?),
            Command::DmaMap => Self::DmaMap(DmaMap::decode(payload)?),
            Command::DmaUnmap => Self::DmaUnmap(DmaUnmap::decode(payload)?),
            Command::DeviceInfo => {
                DeviceInfo::check_question(payload)?;
                Self::DeviceInfo
            }
            Command::RegionInfo => Self::RegionInfo(Question::decode_region(payload)?),
            Command::RegionSignals => Self::RegionSignals(RegionSignals::decode(payload)?),
            Command::InterruptInfo => Self::InterruptInfo(Question::decode_interrupt(payload)?),
            Command::SetInterrupts => Self::SetInterrupts(SetInterrupts::decode(payload)?),
            Command::RegionRead => Self::RegionRead(RegionAccess::decode(payload)?),
            Command::RegionWrite => {
                let (access, data) = RegionAccess::decode_data(payload)?;
                Self::RegionWrite(access, data)
            }
            Command::DmaRead => Self::DmaRead(DmaAccess::decode(payload)?),
            Command::DmaWrite => {
                let (access, data) = DmaAccess::decode_data(payload)?;
                Self::DmaWrite(access, data)
            }
            Command::Reset if payload.is_empty() => Self::Reset,
            Command::Reset => {
                return Err(CodecError::TooLong { bytes: payload.len(), needed: 0 });
            }
            Command::WriteMany => Self::WriteMany(SmallWrite::decode_all(payload)?),
        })
    }

    /// Which command it is.
    pub fn command(&self) -> Command {
        match self {
            Self::Version(_) => Command::Version,
            Self::DmaMap(_) => Command::DmaMap,
            Self::DmaUnmap(_) => Command::DmaUnmap,
            Self::DeviceInfo => Command::DeviceInfo,
            Self::RegionInfo(_) => Command::RegionInfo,
            Self::RegionSignals(_) => Command::RegionSignals,
            Self::InterruptInfo(_) => Command::InterruptInfo,
            Self::SetInterrupts(_) => Command::SetInterrupts,
            Self::RegionRead(_) => Command::RegionRead,
            Self::RegionWrite(..) => Command::RegionWrite,
            Self::DmaRead(_) => Command::DmaRead,
            Self::DmaWrite(..) => Command::DmaWrite,
            Self::Reset => Command::Reset,
            Self::WriteMany(_) => Command::WriteMany,
        }
    }

    /// The payload.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Version(version) => version.encode(),
            Self::DmaMap(map) => map.encode(),
            Self::DmaUnmap(unmap) => unmap.encode(),
            Self::DeviceInfo => DeviceInfo::question(),
            Self::RegionInfo(question) => question.encode_region(),
            Self::RegionSignals(question) => question.encode(),
            Self::InterruptInfo(question) => question.encode_interrupt(),
            Self::SetInterrupts(order) => order.encode(),
            Self::RegionRead(access) => access.encode(&[]),
            Self::RegionWrite(access, data) => access.encode(data),
            Self::DmaRead(access) => access.encode(&[]),
            Self::DmaWrite(access, data) => access.encode(data),
            Self::Reset => Vec::new(),
            Self::WriteMany(writes) => SmallWrite::encode_all(writes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_specification() {
        let numbers: Vec<u16> = Command::ALL.into_iter().map(Command::number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15]);
        for number in numbers {
            assert_eq!(Command::of(number).map(Command::number), Ok(number));
        }
        for number in [0, 14, 16, 17, 18, u16::MAX] {
            assert_eq!(Command::of(number), Err(CodecError::Command(number)));
        }
    }

    #[test]
    fn reset_says_nothing() {
        assert_eq!(Request::decode(13, &[]), Ok(Request::Reset));
        let long = CodecError::TooLong { bytes: 1, needed: 0 };
        assert_eq!(Request::decode(13, &[0]), Err(long));
    }
}
