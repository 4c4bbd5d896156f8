//! What a pair of communicators does, drawn from a seed.

use rand::rngs::StdRng;
use rand::Rng;

use crate::net::Properties;

/// Steps in flight of each sender (`NCCL_STEPS`).
pub const STEPS: usize = 8;
/// Requests in flight of a communicator (`NCCL_NET_MAX_REQUESTS`).
const REQUESTS_MAX: usize = 32;
/// Most bytes of a message of a narrow plan: four packets.
const NARROW_BYTES: usize = 5000;
const POINTER_DMA_BUF: i32 = 4;

/// A plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed of all that follows.
    pub seed: u64,
    /// Devices of the one who sends and the one who receives.
    pub devices: [i32; 2],
    /// Senders that share the communicator: receives of a group.
    pub senders: usize,
    /// Most bytes of a message.
    pub bytes_max: usize,
    /// Steps that each sender makes.
    pub steps: usize,
    /// Its memory is a GPU's.
    pub is_gpu: bool,
    /// Its receives say that their completion is optional.
    pub is_optional: bool,
    /// The receiver is late now and then.
    pub is_late: bool,
}

impl Plan {
    /// Draws a plan for a plugin with so many devices.
    pub fn draw(random: &mut StdRng, devices: i32, properties: &Properties) -> Self {
        let seed = random.random();
        let devices = [0, 1].map(|_| random.random_range(0..devices));
        let most = (properties.receives_max as usize).clamp(1, REQUESTS_MAX / STEPS);
        let sizes = [64, 4096, 5000, 65_536, 131_072, 1 << 20];
        let bytes_max = sizes[random.random_range(0..sizes.len())];
        let steps = random.random_range(8..=if bytes_max > 100_000 { 16 } else { 60 });
        let takes_dma_bufs = properties.pointer_support & POINTER_DMA_BUF != 0;
        Self {
            seed,
            devices,
            senders: random.random_range(1..=most),
            bytes_max,
            steps,
            is_gpu: takes_dma_bufs && random.random_bool(0.4),
            is_optional: random.random_bool(0.3),
            is_late: random.random_bool(0.3),
        }
    }

    /// Leaves few short messages between these devices, in memory of a GPU.
    pub fn narrow(&mut self, devices: [i32; 2]) {
        self.devices = devices;
        self.bytes_max = self.bytes_max.min(NARROW_BYTES);
        self.steps = STEPS + 2;
        self.is_gpu = true;
    }

    /// Bytes of a message: often none, one, all, or odd.
    pub fn length(&self, sender: usize, step: usize) -> usize {
        let drawn = self.draw_of(sender, step);
        match drawn % 8 {
            0 => 0,
            1 => 1 + (drawn >> 8) as usize % 64.min(self.bytes_max),
            2 | 3 => self.bytes_max,
            _ => 1 + (drawn >> 8) as usize % self.bytes_max,
        }
    }

    /// The byte at a place of a message.
    pub fn byte(&self, sender: usize, step: usize, at: usize) -> u8 {
        (self.draw_of(sender, step) as usize).wrapping_add(at.wrapping_mul(131)) as u8
    }

    /// Where the message is wrong, if it is.
    pub fn first_wrong(&self, sender: usize, step: usize, bytes: &[u8]) -> Option<usize> {
        (0..bytes.len()).find(|at| bytes[*at] != self.byte(sender, step, *at))
    }

    fn draw_of(&self, sender: usize, step: usize) -> u64 {
        // SplitMix64, so that neighbours have nothing in common.
        let mut z = self.seed ^ ((sender as u64) << 32 | step as u64).wrapping_mul(0x9e37_79b9);
        z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}
