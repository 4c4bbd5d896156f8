//! What the host reads and writes in BAR 0.

use abi::config::{EPOCH_MAX, FLOW_BANKS, PROFILES};
use abi::flow_key::Secret;
use abi::{counters as n, profile, registers as r, ABI_VERSION};

use super::{GoldenDevice, Memory, Owner, CODES, SEND_CODES};
use crate::packet::Profile;

/// STATUS of a card with bus mastering, on a link and a wire that are up.
const STATUS: u32 = 0b110 | r::STATUS_WIRE_UP | r::STATUS_MAC_CLOCK | r::STATUS_WIRE_ALIGNED;

/// What the contract offers, but for pushed slots: reading a ring takes no time.
const FEATURES: u32 =
    r::FEATURE_IPV6 | r::FEATURE_TSO | r::FEATURE_PROFILES | r::FEATURE_ARM | r::FEATURE_COALESCE;

// The first offset behind each array of registers.
const SECRETS_END: u32 = r::HASH_SECRET + FLOW_BANKS as u32 * r::HASH_SECRET_STRIDE;
const PROFILES_END: u32 = r::PROFILES + PROFILES as u32 * r::PROFILE_STRIDE;
const DROPS_END: u32 = n::COUNTERS_DROP + 8 * CODES as u32;
const DISPOSITIONS_END: u32 = n::COUNTERS_DISPOSITION + 8 * CODES as u32;
// The group of runs is the last one.
const RUNS: u32 =
    n::COUNTERS_STAGE + n::COUNTER_GROUP_STRIDE * (n::COUNTER_GROUPS.len() as u32 - 1);
const RUNS_END: u32 = RUNS + n::COUNTER_GROUP_STRIDE;
const SEND_ERRORS_END: u32 = n::COUNTERS_SEND_ERROR + 8 * SEND_CODES as u32;

impl GoldenDevice {
    /// Reads a register.
    pub fn read_register(&self, offset: u32) -> u32 {
        let c = &self.config;
        let counter = |counters: &[u64], base: u32| {
            let at = (offset - base) as usize;
            let value = counters.get(at / 8).copied().unwrap_or(0);
            if at.is_multiple_of(8) {
                value as u32
            } else {
                (value >> 32) as u32
            }
        };
        let bytes = |values: [usize; 4]| {
            values.iter().enumerate().fold(0, |word, (i, &v)| word | (v as u32) << (8 * i))
        };
        match offset {
            r::ID => r::ID_VALUE,
            r::VERSION => ABI_VERSION,
            r::SIZES_0 => bytes([c.flow_bits, c.bucket_bits, c.segment_bits, c.region_bits]),
            r::SIZES_1 => bytes([c.page_bits, c.owner_bits, 0, 0]),
            r::FEATURES => FEATURES,
            r::EPOCH => self.epoch.into(),
            r::CONTROL => self.control,
            r::STATUS => STATUS,
            n::COUNTERS_DROP..DROPS_END => counter(&self.drops, n::COUNTERS_DROP),
            n::COUNTERS_DISPOSITION..DISPOSITIONS_END => {
                counter(&self.dispositions, n::COUNTERS_DISPOSITION)
            }
            n::COUNTERS_SEND_ERROR..SEND_ERRORS_END => {
                counter(&self.send_errors, n::COUNTERS_SEND_ERROR)
            }
            RUNS..RUNS_END => counter(&self.runs.counters, RUNS),
            at if at >= r::DOORBELLS && at % r::DOORBELL_STRIDE == r::DOORBELL_STATUS => {
                let owner = self.owners.get(((at - r::DOORBELLS) / r::DOORBELL_STRIDE) as usize);
                let [command, send] = owner.map_or([false; 2], |owner| owner.stopped);
                let bit = |bit: u32, is_set: bool| if is_set { bit } else { 0 };
                bit(r::STATUS_COMMAND_STOPPED, command) | bit(r::STATUS_SEND_STOPPED, send)
            }
            _ => 0,
        }
    }

    /// Writes a register and does all that follows from it.
    pub fn write_register(&mut self, offset: u32, value: u32, memory: &mut dyn Memory) {
        let contexts_end = r::CONTEXTS + ((self.owners.len() as u32) << 6);
        let doorbells_end = r::DOORBELLS + ((self.owners.len() as u32) << 12);
        match offset {
            r::CONTROL if value & r::CONTROL_RESET != 0 => self.start_epoch(),
            r::CONTROL => self.control = value,
            r::COALESCE_CYCLES => self.runs.cycles = value.min(u16::MAX.into()),
            r::HASH_SECRET..SECRETS_END => {
                let at = offset - r::HASH_SECRET;
                let bank = (at / r::HASH_SECRET_STRIDE) as usize;
                let word = (at % r::HASH_SECRET_STRIDE / 4) as usize;
                let secret = &mut self.tables.secrets[bank];
                let mut words = *secret.words();
                if let Some(slot) = words.get_mut(word) {
                    *slot = value;
                    *secret = Secret::new(words);
                }
            }
            r::PROFILES..PROFILES_END => {
                self.profile_words[((offset - r::PROFILES) / 4) as usize] = value;
                self.read_profiles();
            }
            at if (r::CONTEXTS..contexts_end).contains(&at) => {
                let at = at - r::CONTEXTS;
                let owner = &mut self.owners[(at / r::CONTEXT_STRIDE) as usize];
                let field = at % r::CONTEXT_STRIDE;
                owner.context[(field / 4) as usize] = value;
                if field == r::CONTEXT_ENABLE && value & 1 == 1 {
                    *owner = Owner { context: owner.context, ..Owner::default() };
                }
            }
            at if (r::DOORBELLS..doorbells_end).contains(&at) => {
                let at = at - r::DOORBELLS;
                let owner = (at / r::DOORBELL_STRIDE) as usize;
                let doorbell = (at % r::DOORBELL_STRIDE / 4) as usize;
                if let Some(slot) = self.owners[owner].doorbells.get_mut(doorbell) {
                    *slot = value;
                }
                self.take_commands(owner, memory);
                self.take_sends(owner, memory);
            }
            _ => {}
        }
    }

    fn start_epoch(&mut self) {
        self.epoch = self.epoch % EPOCH_MAX + 1;
        self.control = 0;
        self.held = None;
        self.runs.forget();
        self.tables.clear();
        self.owners.fill(Owner::default());
    }

    fn read_profiles(&mut self) {
        for number in 1..4 {
            let mut record = [0; 8];
            record[..4].copy_from_slice(&self.profile_words[2 * number].to_le_bytes());
            let word0 = record;
            record[..4].copy_from_slice(&self.profile_words[2 * number + 1].to_le_bytes());
            self.tables.profiles[number] = Profile {
                enabled: profile::ENABLE.get(&word0) == 1,
                port: profile::PORT.get(&word0) as u16,
                header_bytes: profile::HEADER_BYTES.get(&record) as usize,
                position_offset: profile::POSITION_OFFSET.get(&record) as usize,
                position_bytes: profile::POSITION_BYTES.get(&record) as usize,
                message_key_offset: profile::MESSAGE_KEY_OFFSET.get(&record) as usize,
                message_key_bytes: profile::MESSAGE_KEY_BYTES.get(&record) as usize,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use abi::config::SMALL;

    use super::*;

    #[test]
    fn counter_is_exactly_two_words() {
        let mut device = GoldenDevice::new(SMALL);
        device.dispositions[2] = 0x8765_4321_9abc_def0;
        let at = n::COUNTERS_DISPOSITION + 8 * 2;
        let words = [at - 4, at, at + 4, at + 8].map(|at| device.read_register(at));
        assert_eq!(words, [0, 0x9abc_def0, 0x8765_4321, 0]);
    }
}
