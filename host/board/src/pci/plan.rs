//! What is to be done to exchange the image of a card, and what cannot be done, before anything is.
//!
//! ```text
//!   device, bridge, capabilities ──► ExchangePlan { steps, notes }   or all reasons why not
//! ```

use std::fmt;
use std::io;
use std::path::PathBuf;

use abi::pci_ids::{DEVICE_ID, VENDOR_ID};
use abi::window::PortOperation;
use thiserror::Error;

use super::config::{read, Function, Register};
use super::kernel::{Address, Kernel};

/// Bit of COMMAND: SERR# is reported.
const COMMAND_SERR: u32 = 1 << 8;
/// Bit of Device Control: fatal errors are reported.
const CONTROL_FATAL: u32 = 1 << 2;
/// Bits of the AER mask that the standard defines; the others stay as they are.
const AER_ERRORS: u32 = 0x07ff_f030;
/// Bits of DPC Control: what triggers it.
const DPC_TRIGGER: u32 = 0b11;
/// Bit of DPC Status: it has triggered.
const DPC_TRIGGERED: u32 = 1;
/// Bit of Link Capabilities: the status of the data link layer is reported.
const LINK_REPORTS: u32 = 1 << 20;

/// How the new image gets into the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// A program writes it over a cable, while the device is off the bus.
    Program,
    /// The card loads it from its flash.
    Boot(PortOperation),
}

/// Why nothing is begun.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// There is no such device.
    #[error("there is no device {device}: {reason}")]
    NoDevice {
        /// The device.
        device: Address,
        /// What the system said.
        reason: String,
    },
    /// It is another device.
    #[error(
        "{device} is {vendor:04x}:{id:04x}, not a card ({VENDOR_ID:04x}:{DEVICE_ID:04x}); \
         --foreign does it all the same"
    )]
    Foreign {
        /// The device.
        device: Address,
        /// Its vendor id.
        vendor: u16,
        /// Its device id.
        id: u16,
    },
    /// Nothing above the device can be told to be silent.
    #[error("{device} has no bridge above it: nothing can keep its errors from the system")]
    NoBridge {
        /// The device.
        device: Address,
    },
    /// The bridge has no PCI Express capability.
    #[error("bridge {bridge} has no PCI Express capability: its fatal errors cannot be masked")]
    NotExpress {
        /// The bridge.
        bridge: Address,
    },
    /// Others would lose their link as well.
    #[error(
        "below bridge {bridge} are also {}: they would be lost with {device}",
        others.join(", ")
    )]
    Others {
        /// The bridge.
        bridge: Address,
        /// The device.
        device: Address,
        /// The other functions.
        others: Vec<String>,
    },
    /// A file must be written and cannot be.
    #[error("{} cannot be written: {reason}; run as root", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The bridge has cut the link already.
    #[error("bridge {bridge}: DPC has triggered (DPC Status 0x{status:04x}); its link is cut")]
    Contained {
        /// The bridge.
        bridge: Address,
        /// The register.
        status: u32,
    },
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Bits of a register of the bridge are changed.
    Change {
        /// The register.
        register: Register,
        /// Bits that become 0.
        clear: u32,
        /// Bits that become 1.
        set: u32,
        /// What that does.
        what: &'static str,
    },
    /// The driver lets the device go.
    Unbind(String),
    /// The system forgets the device.
    Remove,
    /// A program writes the image.
    Program,
    /// The card loads an image from its flash.
    Boot(PortOperation),
    /// The link comes up again; first it goes down, where the card itself begins.
    Wait {
        /// It is up still, and must go down first.
        is_up: bool,
    },
}

/// What is to be done.
#[derive(Clone, Debug)]
pub struct ExchangePlan {
    /// The device.
    pub device: Address,
    /// The bridge above it.
    pub bridge: Address,
    /// The steps, in order. Behind them all that they changed is restored, the last first.
    pub steps: Vec<Step>,
    /// What is not as one would have it.
    pub notes: Vec<String>,
    /// Link Status, where it says whether the link is up.
    pub(super) link_status: Option<Register>,
    /// Uncorrectable Error Status, whose new errors are forgotten at the end.
    pub(super) aer_status: Option<Register>,
}

impl ExchangePlan {
    /// Plans for a device; else all that is in the way.
    pub fn new(
        kernel: &impl Kernel,
        device: &Address,
        load: Load,
        foreign: bool,
    ) -> Result<Self, Vec<Refusal>> {
        let no_device = |error: io::Error| {
            vec![Refusal::NoDevice { device: device.clone(), reason: error.to_string() }]
        };
        let folder = kernel.devices().join(device.name());
        let function = Function::of_folder(kernel, &folder).map_err(no_device)?;
        let place = kernel.resolve(&folder).map_err(no_device)?;
        let mut refusals = Vec::new();
        let (vendor, id) = function.ids;
        if (vendor, id) != (VENDOR_ID, DEVICE_ID) && !foreign {
            refusals.push(Refusal::Foreign { device: device.clone(), vendor, id });
        }
        let above = place.parent().and_then(|folder| folder.file_name());
        let above = above.and_then(|name| name.to_string_lossy().parse::<Address>().ok());
        let Some(bridge) = above else {
            refusals.push(Refusal::NoBridge { device: device.clone() });
            return Err(refusals);
        };
        let mut plan = Self {
            device: device.clone(),
            bridge,
            steps: Vec::new(),
            notes: Vec::new(),
            link_status: None,
            aer_status: None,
        };
        let planned = plan.add(kernel, load, &mut refusals).map_err(no_device);
        match (planned, refusals.is_empty()) {
            (Ok(()), true) => Ok(plan),
            (Err(more), _) => Err([refusals, more].concat()),
            (Ok(()), false) => Err(refusals),
        }
    }

    /// Adds steps, notes and refusals.
    fn add(
        &mut self,
        kernel: &impl Kernel,
        load: Load,
        refusals: &mut Vec<Refusal>,
    ) -> io::Result<()> {
        let folder = kernel.devices().join(self.device.name());
        let above = kernel.devices().join(self.bridge.name());
        let names = kernel.names(&kernel.resolve(&above)?)?;
        let is_other = |name: &String| name.parse::<Address>().is_ok_and(|it| it != self.device);
        let others: Vec<String> = names.into_iter().filter(is_other).collect();
        if !others.is_empty() {
            refusals.push(Refusal::Others {
                bridge: self.bridge.clone(),
                device: self.device.clone(),
                others,
            });
        }
        self.mask(kernel, &Function::of_folder(kernel, &above)?, refusals)?;
        let driver = kernel.resolve(&folder.join("driver"));
        let driver = driver.ok().and_then(|path| Some(path.file_name()?.to_owned()));
        let driver = driver.map(|name| name.to_string_lossy().into_owned());
        let mut written = vec![above.join("config"), above.join("rescan"), folder.join("remove")];
        match driver {
            Some(driver) => {
                written.push(kernel.drivers().join(&driver).join("unbind"));
                written.push(kernel.drivers().join(&driver).join("bind"));
                self.steps.push(Step::Unbind(driver));
            }
            None => self.notes.push(format!("{} has no driver", self.device)),
        }
        match load {
            Load::Program => self.steps.extend([Step::Remove, Step::Program]),
            Load::Boot(operation) => {
                written.push(folder.join("resource0"));
                self.steps.extend([Step::Boot(operation), Step::Remove]);
            }
        }
        self.steps.push(Step::Wait { is_up: load != Load::Program });
        for path in written {
            if let Err(error) = kernel.may_write(&path) {
                let reason = error.to_string();
                refusals.push(Refusal::NotWritable { path, reason });
            }
        }
        Ok(())
    }

    /// What the bridge must not report.
    fn mask(
        &mut self,
        kernel: &impl Kernel,
        bridge: &Function,
        refusals: &mut Vec<Refusal>,
    ) -> io::Result<()> {
        let folder = kernel.devices().join(self.bridge.name());
        let mut change = |register, clear, set, what| {
            self.steps.push(Step::Change { register, clear, set, what });
        };
        change(bridge.command(), COMMAND_SERR, 0, "SERR# is not reported");
        match bridge.device_control() {
            Some(control) => change(control, CONTROL_FATAL, 0, "fatal errors are not reported"),
            None => refusals.push(Refusal::NotExpress { bridge: self.bridge.clone() }),
        }
        match bridge.aer_mask() {
            Some(mask) => change(mask, 0, AER_ERRORS, "uncorrectable errors are not reported"),
            None => self.notes.push(format!("bridge {}: no AER", self.bridge)),
        }
        if let (Some(control), Some(status)) = (bridge.dpc_control(), bridge.dpc_status()) {
            let status = read(kernel, &folder, status)?;
            if status & DPC_TRIGGERED != 0 {
                refusals.push(Refusal::Contained { bridge: self.bridge.clone(), status });
            }
            let what = "DPC does not cut the link";
            self.steps.push(Step::Change { register: control, clear: DPC_TRIGGER, set: 0, what });
        }
        self.aer_status = bridge.aer_status();
        let reports = match bridge.link_capabilities() {
            Some(capabilities) => read(kernel, &folder, capabilities)? & LINK_REPORTS != 0,
            None => false,
        };
        match reports {
            true => self.link_status = bridge.link_status(),
            false => self.notes.push(format!(
                "bridge {} does not say whether its link is up: a fixed time is waited",
                self.bridge
            )),
        }
        Ok(())
    }

    /// A step in words.
    pub fn describe(&self, step: &Step) -> String {
        let (device, bridge) = (&self.device, &self.bridge);
        match step {
            Step::Change { register, clear, set, what } => {
                let digits = 2 * usize::from(register.bytes);
                let (name, offset) = (register.name, register.offset);
                let bits = match clear {
                    0 => format!("set bits 0x{set:0digits$x}"),
                    clear => format!("clear bits 0x{clear:0digits$x}"),
                };
                format!("bridge {bridge}: {name} (0x{offset:03x}): {bits}; {what}")
            }
            Step::Unbind(driver) => format!("{device}: driver {driver} lets it go"),
            Step::Remove => format!("{device}: the system forgets it"),
            Step::Program => format!("{device}: the image is written"),
            Step::Boot(operation) => {
                let slot = match operation {
                    PortOperation::BootGolden => "golden",
                    _ => "user",
                };
                format!("{device}: the card loads the {slot} image from its flash")
            }
            Step::Wait { .. } => format!("bridge {bridge}: the link comes up"),
        }
    }

    /// How what a step changed is restored, in words; `None`: it changed nothing that lasts.
    pub fn describe_undo(&self, step: &Step) -> Option<String> {
        let (device, bridge) = (&self.device, &self.bridge);
        match step {
            Step::Change { register, .. } => {
                let (name, offset) = (register.name, register.offset);
                Some(format!("bridge {bridge}: {name} (0x{offset:03x}): as before"))
            }
            Step::Unbind(driver) => Some(format!("{device}: driver {driver} takes it")),
            Step::Remove => Some(format!("{device}: the system looks for it")),
            Step::Program | Step::Boot(_) | Step::Wait { .. } => None,
        }
    }

    /// All that a run does, a line each.
    pub fn lines(&self) -> Vec<String> {
        let steps = self.steps.iter().map(|step| self.describe(step));
        let undo = self.steps.iter().rev();
        steps.chain(undo.filter_map(|step| self.describe_undo(step))).collect()
    }
}

impl fmt::Display for ExchangePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
