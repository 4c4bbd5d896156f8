//! A made-up system whose kernel binds, unbinds and refuses.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use super::super::device::{AerCounts, LinkRate};
use super::super::kernel::Sysfs;
use super::*;

const ADDRESS: &str = "0000:01:00.0";
const BRIDGE: &str = "0000:00:01.0";

/// Files of a made-up system, and the kernel behind them.
struct Made {
    root: PathBuf,
    files: Sysfs,
    /// The driver that the kernel has for the device.
    own: Option<&'static str>,
    /// VFIO's probe fails, as without an IOMMU.
    refuses_vfio: bool,
    /// The write that fails, counted from here.
    fails_at: Option<usize>,
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

impl Made {
    fn new(name: &str, own: Option<&'static str>) -> Self {
        let root = std::env::temp_dir().join(format!("zeronic-bind-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let real = root.join("devices/pci0000:00").join(BRIDGE).join(ADDRESS);
        fs::create_dir_all(&real).expect("a folder");
        let links = root.join("bus/pci/devices");
        fs::create_dir_all(&links).expect("a folder");
        symlink(&real, links.join(ADDRESS)).expect("a link");
        symlink(real.parent().expect("a bridge"), links.join(BRIDGE)).expect("a link");
        for driver in ["vfio-pci", "e1000e"] {
            fs::create_dir_all(root.join("bus/pci/drivers").join(driver)).expect("a folder");
        }
        let files = Sysfs::new(&root);
        let mut made = Self { root, files, own, refuses_vfio: false, fails_at: None };
        made.put("driver_override", "(null)\n");
        made.probe();
        made
    }

    fn device(&self) -> PathBuf {
        self.root.join("bus/pci/devices").join(ADDRESS)
    }

    fn put(&self, file: &str, text: &str) {
        let path = self.device().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// What the kernel does when it looks for a driver.
    fn probe(&mut self) {
        let wanted = fs::read_to_string(self.device().join("driver_override")).expect("a file");
        let driver = match wanted.trim() {
            "(null)" | "" => self.own,
            "vfio-pci" if self.refuses_vfio => None,
            "vfio-pci" => Some("vfio-pci"),
            other => panic!("{other}"),
        };
        if let (Some(driver), false) = (driver, self.device().join("driver").exists()) {
            let folder = self.root.join("bus/pci/drivers").join(driver);
            symlink(folder, self.device().join("driver")).expect("a link");
        }
    }

    fn driver(&self) -> Option<String> {
        PciDevice::at(self, &address()).expect("a device").driver(self)
    }
}

impl Kernel for Made {
    fn devices(&self) -> PathBuf {
        self.files.devices()
    }

    fn drivers(&self) -> PathBuf {
        self.files.drivers()
    }

    fn read(&self, path: &Path, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.files.read(path, offset, bytes)
    }

    fn write(&mut self, path: &Path, _offset: u64, bytes: &[u8]) -> io::Result<()> {
        if let Some(left) = &mut self.fails_at {
            if *left == 0 {
                self.fails_at = None;
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            *left -= 1;
        }
        match path.file_name().and_then(|name| name.to_str()) {
            Some("driver_override") => fs::write(path, bytes),
            Some("unbind") => fs::remove_file(self.device().join("driver")),
            Some("drivers_probe") => {
                self.probe();
                Ok(())
            }
            other => panic!("{other:?}"),
        }
    }

    fn wait(&mut self, _time: Duration) {}

    fn is_asked_to_end(&self) -> bool {
        false
    }
}

fn address() -> Address {
    ADDRESS.parse().expect("an address")
}

#[test]
fn driver_comes_back_as_it_was() {
    for (name, own) in [("back", Some("e1000e")), ("none", None)] {
        let mut made = Made::new(name, own);
        let own = own.map(str::to_owned);
        let vfio = Some(VFIO_DRIVER.to_owned());
        let bound = bind(&mut made, &address()).expect("it is bound");
        assert_eq!(bound, Bound { before: own.clone(), now: vfio.clone() });
        assert_eq!(made.driver(), vfio);
        let again = bind(&mut made, &address()).expect("it is");
        assert_eq!(again, Bound { before: vfio.clone(), now: vfio.clone() });
        let back = give_back(&mut made, &address()).expect("it goes back");
        assert_eq!(back, Bound { before: vfio, now: own.clone() });
        assert_eq!(made.driver(), own);
        let again = give_back(&mut made, &address()).expect("it is there");
        assert_eq!(again, Bound { before: own.clone(), now: own });
    }
}

/// Each write fails once: the driver has its device all the same.
#[test]
fn failed_step_leaves_the_old_driver() {
    for step in 0..3 {
        let mut made = Made::new(&format!("step{step}"), Some("e1000e"));
        made.fails_at = Some(step);
        let error = bind(&mut made, &address()).expect_err("a write fails").to_string();
        assert!(error.contains("run as root"), "{error}");
        assert_eq!(made.driver().as_deref(), Some("e1000e"), "step {step}");
    }
}

#[test]
fn refusals_name_device_and_remedy() {
    let mut made = Made::new("refused", Some("e1000e"));
    made.refuses_vfio = true;
    let error = bind(&mut made, &address()).expect_err("no IOMMU").to_string();
    assert!(error.contains(ADDRESS) && error.contains("intel_iommu=on"), "{error}");
    assert_eq!(made.driver().as_deref(), Some("e1000e"));
    made.put("net/eth0/operstate", "up\n");
    let error = bind(&mut made, &address()).expect_err("in use").to_string();
    assert!(error.contains("eth0") && error.contains("down first"), "{error}");
    made.put("net/eth0/operstate", "down\n");
    fs::remove_dir(made.root.join("bus/pci/drivers/vfio-pci")).expect("a folder");
    let error = bind(&mut made, &address()).expect_err("no driver").to_string();
    assert!(error.contains("modprobe vfio-pci"), "{error}");
    let other = "0000:02:00.0".parse().expect("an address");
    let error = bind(&mut made, &other).expect_err("no device").to_string();
    assert!(error.contains("0000:02:00.0"), "{error}");
}

#[test]
fn sysfs_tells_of_a_device() {
    let made = Made::new("facts", Some("e1000e"));
    let device = PciDevice::at(&made, &address()).expect("a device");
    assert_eq!(device.link(&made), None);
    assert_eq!((device.node(&made), device.aer(&made)), (None, None));
    for (file, text) in [
        ("config", "\u{1}\u{2}\u{3}\u{4}"),
        ("current_link_speed", "8.0 GT/s PCIe\n"),
        ("current_link_width", "16\n"),
        ("max_link_speed", "16.0 GT/s PCIe\n"),
        ("max_link_width", "16\n"),
        ("numa_node", "1\n"),
        ("local_cpulist", "0-3\n"),
        ("aer_dev_correctable", "RxErr 2\nBadTLP 1\nTOTAL_ERR_COR 3\n"),
        ("aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 0\n"),
        ("aer_dev_fatal", "DLP 1\nTOTAL_ERR_FATAL 1\n"),
        ("vfio-dev/vfio3/dev", "1:2\n"),
        ("iommu_group/type", "DMA-FQ\n"),
    ] {
        made.put(file, text);
    }
    assert_eq!(device.link(&made), Some(LinkRate { gt_per_s: 8.0, lanes: 16 }));
    assert_eq!(device.best_link(&made), Some(LinkRate { gt_per_s: 16.0, lanes: 16 }));
    assert_eq!(device.node(&made), Some(1));
    assert_eq!(device.near_cores(&made).as_deref(), Some("0-3"));
    assert_eq!(device.aer(&made), Some(AerCounts { correctable: 3, nonfatal: 0, fatal: 1 }));
    assert_eq!(device.vfio_name(&made).as_deref(), Some("vfio3"));
    assert_eq!(device.group_kind(&made).as_deref(), Some("DMA-FQ"));
    assert_eq!(device.bridge(&made).expect("a bridge").address.name(), BRIDGE);
    assert_eq!(device.ids(&made).expect("ids"), (0x0201, 0x0403));
    assert_eq!(PciDevice::with_ids(&made, (0x0201, 0x0403)).expect("a list"), [device]);
}
