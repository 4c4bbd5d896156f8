//! A card with a fault to switch on, and the two runs of a check.

use std::mem::ManuallyDrop;

use host::driver::device::DeviceConfig;
use host::driver::rings::RingSizes;
use pcie_sim::PcieConfig;
use sim::card::SimulatedCard;
use sim::direct::Direct;
use sim::switched::FAULT_PORT;

use sim::faults::{build_with_faults, Fault};

/// What a check finds: `Err` says how the rule is broken.
pub type Found = Result<(), String>;

/// Ends a check with `Err` unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        let holds: bool = $condition;
        if !holds {
            return Err(format!($($text)+));
        }
    };
}

/// A card with a fault that is not switched on yet.
pub struct Rig {
    /// The card and its driver.
    pub direct: Direct,
    fault: Option<Fault>,
}

impl Rig {
    fn new(pcie: &PcieConfig, config: &DeviceConfig, fault: Option<Fault>) -> Rig {
        let card = SimulatedCard::of(&build_with_faults(), pcie.clone()).expect("a card");
        let rings = RingSizes { slow_bits: 3, ..config.rings };
        let config = DeviceConfig { rings, ..*config };
        Rig { direct: Direct::open(card, pcie, config), fault }
    }

    /// Switches the fault on, if this run has one.
    pub fn arm(&mut self) {
        if let Some(fault) = self.fault {
            let model = &mut self.direct.machine.card.borrow_mut().model;
            let port = model.port(FAULT_PORT);
            model.set(port, fault as u64);
        }
    }
}

/// Runs a check without and with a fault.
///
/// # Panics
/// If it finds something without the fault, or nothing with it.
pub fn proves(fault: Fault, pcie: &PcieConfig, check: impl Fn(&mut Rig) -> Found) {
    proves_with(fault, pcie, &DeviceConfig::with_seed(1), check);
}

/// The same with a driver that is opened so.
///
/// # Panics
/// See [`proves`].
pub fn proves_with(
    fault: Fault,
    pcie: &PcieConfig,
    config: &DeviceConfig,
    check: impl Fn(&mut Rig) -> Found,
) {
    let mut rig = Rig::new(pcie, config, None);
    if let Err(broken) = check(&mut rig) {
        panic!("{broken}");
    }
    // A card that does the wrong thing may never end what it was asked for, which closing waits
    // for.
    let mut rig = ManuallyDrop::new(Rig::new(pcie, config, Some(fault)));
    match check(&mut rig) {
        Ok(()) => panic!("{fault:?} went unnoticed"),
        Err(broken) => println!("{fault:?} is caught: {broken}"),
    }
}

/// Bytes that follow from where they are and from nothing else.
pub fn pattern(salt: u8, bytes: usize) -> Vec<u8> {
    let byte = |at: usize| (at as u32).wrapping_mul(0x9e37_79b1) >> 24;
    (0..bytes).map(|at| byte(at) as u8 ^ salt).collect()
}
