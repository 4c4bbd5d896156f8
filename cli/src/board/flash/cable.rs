//! The cable of the command line, and which program serves it.
//!
//! ```text
//!   xvc:HOST:PORT          a server of XVC: openFPGALoader where it knows the board, else Vivado
//!   hw_server[:HOST:PORT]  Vivado's hardware server
//!   anything else          a cable of openFPGALoader, by its name there
//!   ...#SERIAL             the one of several with this in its serial number
//! ```

use std::net::{SocketAddr, ToSocketAddrs};

use board::description::Board;

use crate::shared::options::UsageError;

/// A cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cable {
    /// A server of XVC.
    Xvc(SocketAddr),
    /// Vivado's hardware server: where it is, and which of its cables.
    HwServer(String, Option<String>),
    /// A cable of openFPGALoader, and which of several.
    Named(String, Option<String>),
}

/// Where Vivado's hardware server is unless told otherwise.
const HW_SERVER: &str = "localhost:3121";

/// Boards that openFPGALoader knows: its name of device and package, the cable on the board, and
/// whether it has a bridge to the flash of this package. Source: its `board.hpp` and the bridges
/// that come with version 1.1.1.
const KNOWN: [(&str, &str, &str, bool); 2] = [
    ("vcu118", "xcvu9p-flga2104", "jtag-smt2-nc", true),
    ("vcu1525", "xcvu9p-fsgd2104", "ft4232", false),
];

/// Which program does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// openFPGALoader: the cable, and the device as it names it.
    Loader {
        /// The cable.
        cable: Cable,
        /// Device and package.
        part: &'static str,
    },
    /// Vivado: where its hardware server is, and the server of XVC behind that.
    Vivado {
        /// Host and port of the hardware server.
        url: String,
        /// Part of a cable's name there.
        target: Option<String>,
        /// Server of XVC that the hardware server opens.
        xvc: Option<SocketAddr>,
    },
}

/// Reads `--cable`.
pub fn parse(text: &str) -> Result<Cable, UsageError> {
    if let Some(address) = text.strip_prefix("xvc:") {
        let failed = |why: &str| UsageError(format!("--cable {text}: {why}"));
        let mut found = address.to_socket_addrs().map_err(|error| failed(&error.to_string()))?;
        // openFPGALoader takes IPv4 alone.
        let found = found.find(SocketAddr::is_ipv4);
        return found.map(Cable::Xvc).ok_or_else(|| failed("no IPv4 address"));
    }
    let (name, serial) = match text.split_once('#') {
        Some((name, serial)) => (name, Some(serial.to_owned())),
        None => (text, None),
    };
    Ok(match name.split_once(':') {
        None if name == "hw_server" => Cable::HwServer(HW_SERVER.to_owned(), serial),
        Some(("hw_server", url)) => Cable::HwServer(url.to_owned(), serial),
        _ => Cable::Named(name.to_owned(), serial),
    })
}

/// Chooses the program.
pub fn choose(board: &Board, cable: Option<Cable>, volatile: bool) -> Result<Way, UsageError> {
    let known = KNOWN.iter().find(|known| known.0 == board.name);
    let served = known.filter(|known| volatile || known.3);
    match (cable, served) {
        (Some(Cable::HwServer(url, target)), _) => Ok(Way::Vivado { url, target, xvc: None }),
        (Some(cable), Some((_, part, ..))) => Ok(Way::Loader { cable, part }),
        (None, Some((_, part, cable, _))) => {
            Ok(Way::Loader { cable: Cable::Named((*cable).to_owned(), None), part })
        }
        (Some(Cable::Named(name, _)), None) => Err(UsageError(format!(
            "--cable {name}: openFPGALoader cannot do that to {}; its flash is written by \
             Vivado: --cable hw_server or xvc:HOST:PORT",
            board.name
        ))),
        (Some(Cable::Xvc(address)), None) => {
            Ok(Way::Vivado { url: HW_SERVER.to_owned(), target: None, xvc: Some(address) })
        }
        (None, None) => Ok(Way::Vivado { url: HW_SERVER.to_owned(), target: None, xvc: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use board::boards::find;

    fn way(board: &str, cable: Option<&str>, volatile: bool) -> Result<Way, UsageError> {
        let cable = cable.map(|cable| parse(cable).expect("a cable"));
        choose(find(board).expect("a board"), cable, volatile)
    }

    #[test]
    fn known_boards_use_loader_names() {
        let named =
            |name: &str, part| Way::Loader { cable: Cable::Named(name.to_owned(), None), part };
        let vcu118 = "xcvu9p-flga2104";
        assert_eq!(way("vcu118", None, false).ok(), Some(named("jtag-smt2-nc", vcu118)));
        assert_eq!(way("vcu118", Some("ft4232"), false).ok(), Some(named("ft4232", vcu118)));
        let vcu1525 = named("ft4232", "xcvu9p-fsgd2104");
        assert_eq!(way("vcu1525", None, true).ok(), Some(vcu1525));
    }

    #[test]
    fn all_others_go_by_vivado() {
        let vivado = |url: &str, xvc: Option<&str>| Way::Vivado {
            url: url.to_owned(),
            target: None,
            xvc: xvc.map(|xvc| xvc.parse().expect("an address")),
        };
        let local = "localhost:3121";
        assert_eq!(way("vcu1525", None, false).ok(), Some(vivado(local, None)));
        assert_eq!(way("u250", None, true).ok(), Some(vivado(local, None)));
        let far = Some("hw_server:lab:3122");
        assert_eq!(way("vcu118", far, false).ok(), Some(vivado("lab:3122", None)));
        let xvc = Some("xvc:127.0.0.1:2542");
        let behind = vivado(local, Some("127.0.0.1:2542"));
        assert_eq!(way("u55c", xvc, false).ok(), Some(behind));
        let error = way("u280", Some("ft4232"), false).expect_err("it cannot");
        assert!(error.0.contains("ft4232") && error.0.contains("hw_server"), "{error}");
        assert!(parse("xvc:nowhere").is_err());
        let one = Cable::HwServer("localhost:3121".to_owned(), Some("K01".to_owned()));
        assert_eq!(parse("hw_server#K01").ok(), Some(one));
        let one = Cable::Named("ft4232".to_owned(), Some("A5".to_owned()));
        assert_eq!(parse("ft4232#A5").ok(), Some(one));
    }
}
