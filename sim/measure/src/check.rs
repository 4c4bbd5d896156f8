//! Which scenarios can be measured: limits of card and wire, and whether a limit can be stated.

use abi::config::{CardConfig, FRAME_BYTES_MAX};
use abi::send_descriptor::PAYLOAD_BYTES;
use ip::completion_buffer::CompletionBuffer;
use lab::frame::FCS_BYTES;

use crate::load::{link_over_wire, PURE_ACKS_RESERVE};
use crate::packets::frames::header_bytes;
use crate::scenario::{Acks, BadScenario, Order, Scenario, Size};

impl Scenario {
    /// Checks that all sizes are within the limits of the card and the wire.
    pub fn check(&self) -> Result<(), BadScenario> {
        let refuse = |text: String| Err(BadScenario(text));
        if !self.receive && !self.send {
            return refuse("neither direction is measured".to_owned());
        }
        match self.size {
            Size::Mtu(bytes) if !(576..=9000).contains(&bytes) => {
                return refuse(format!("an MTU of {bytes} is not in 576 to 9000"));
            }
            Size::Frame(bytes) if !(64..=FRAME_BYTES_MAX as u32).contains(&bytes) => {
                return refuse(format!("frames of {bytes} bytes are not in 64 to 9216"));
            }
            Size::Sweep(first, last) => {
                if first < 64 || last > FRAME_BYTES_MAX as u32 || first > last {
                    return refuse(format!("frames of {first}-{last} bytes are not in 64-9216"));
                }
                if self.send {
                    return refuse("a range of sizes can only be received".to_owned());
                }
            }
            _ => {}
        }
        if self.flows == 0 || self.flows > 16_384 {
            return refuse(format!("{} flows are not in 1 to 16384", self.flows));
        }
        self.check_tables()?;
        if self.order == Order::Random && self.flows > 256 {
            return refuse(format!("{} flows are too many for lists beyond 8", self.flows));
        }
        if self.order == Order::Random && self.fills_wire() {
            return refuse("frames that may be lost are measured in order".to_owned());
        }
        if self.rival.is_some() {
            // Frames without payload: no window stalls because its owner takes nothing.
            if self.send || self.size != Size::Frame(64) {
                return refuse("owners compete for received frames of 64 bytes".to_owned());
            }
            if !self.flows.is_multiple_of(2) {
                return refuse(format!("{} flows do not make two owners", self.flows));
            }
        }
        let buffer = CompletionBuffer {
            headers: self.pcie.completion_headers,
            data: self.pcie.completion_data,
        };
        if !buffer.is_supported() {
            return refuse(format!(
                "no card is built for a completion buffer of {} headers and {} times 16 bytes",
                buffer.headers, buffer.data
            ));
        }
        for burst in [self.burst, self.send_burst] {
            if burst == 0 || burst > 64 {
                return refuse(format!("bursts of {burst} packets are not in 1 to 64"));
            }
        }
        self.check_payload()?;
        let is_pure = self.receive && self.send && self.acks == Acks::Pure;
        if is_pure && link_over_wire(self) < PURE_ACKS_RESERVE {
            let bytes = self.frame_bytes();
            return refuse(format!(
                "frames of {bytes} bytes both ways are as much as the link carries or more, and \
                 pure ACKs would be lost with them: no limit can be stated; let ACKs ride in data"
            ));
        }
        Ok(())
    }

    /// Checks that the card's tables take the flows, each with a region for each direction.
    fn check_tables(&self) -> Result<(), BadScenario> {
        let Some(sizes) = CardConfig::find_config(&self.card) else {
            return Ok(());
        };
        let (flows, name) = (u32::from(self.flows), &self.card);
        let regions = flows * (u32::from(self.receive) + u32::from(self.send));
        for (what, needed, bits) in [
            ("flows", flows, sizes.flow_bits),
            ("regions, one for each flow and direction,", regions, sizes.region_bits),
        ] {
            let limit = 1 << bits;
            if needed > limit {
                let text = format!("{needed} {what} are too many: the {name} card has {limit}");
                return Err(BadScenario(text));
            }
        }
        Ok(())
    }

    /// Checks the payload of a descriptor, and that headers fit into the frames.
    fn check_payload(&self) -> Result<(), BadScenario> {
        let together = u64::from(self.send_burst) * self.payload_bytes(false) as u64;
        let most = PAYLOAD_BYTES.max();
        if self.send && self.order == Order::InOrder && together > most {
            let burst = self.send_burst;
            return Err(BadScenario(format!(
                "a descriptor of {burst} packets has {together} bytes of payload; at most {most}"
            )));
        }
        let least = (header_bytes(true, self.timestamps()) + 1) as u64 + FCS_BYTES;
        let bytes = match self.size {
            Size::Sweep(first, _) => u64::from(first),
            _ => self.frame_bytes() as u64,
        };
        if bytes < least && (0..self.flows).any(|flow| self.is_ipv6(flow)) {
            return Err(BadScenario(format!(
                "an IPv6 frame with payload has at least {least} bytes, not {bytes}"
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Family, Rival};

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let mut scenario = Scenario::new(Size::Mtu(1500));
        assert!(scenario.check().is_err());
        scenario.receive = true;
        assert_eq!(scenario.check(), Ok(()));
        scenario.size = Size::Mtu(9001);
        assert!(scenario.check().is_err());
        scenario.size = Size::Frame(63);
        assert!(scenario.check().is_err());
        scenario.size = Size::Frame(64);
        assert_eq!(scenario.check(), Ok(()));
        scenario.pcie.completion_headers = 128;
        assert_eq!(scenario.check(), Ok(()));
        // Not even the largest read would fit, or more than the card can count.
        for headers in [7, 257] {
            scenario.pcie.completion_headers = headers;
            assert!(scenario.check().is_err());
        }
        scenario.pcie.completion_headers = 256;
        scenario.order = Order::Random;
        assert!(scenario.check().is_err());
        scenario.order = Order::InOrder;
        // One flow cannot belong to two owners.
        scenario.rival = Some(Rival::Greedy);
        assert!(scenario.check().is_err());
        scenario.flows = 2;
        assert_eq!(scenario.check(), Ok(()));
        assert_eq!([0, 1].map(|flow| scenario.burst_of(flow)), [1, 3]);
        scenario.size = Size::Frame(128);
        assert!(scenario.check().is_err());
    }

    #[test]
    fn descriptor_holds_at_most_its_field() {
        let mut scenario = Scenario::new(Size::Mtu(9000));
        scenario.send = true;
        scenario.send_burst = 29;
        assert_eq!(scenario.check(), Ok(()));
        scenario.send_burst = 30;
        let bad = scenario.check().expect_err("268440 bytes").to_string();
        assert!(bad.contains("268440") && bad.contains("262143"), "{bad}");
        // Each packet has a descriptor of its own.
        scenario.order = Order::Random;
        assert_eq!(scenario.check(), Ok(()));
    }

    #[test]
    fn acks_that_may_vanish_are_unlimited() {
        for (size, is_right) in [
            (Size::Frame(128), false),
            (Size::Frame(1518), true),
            (Size::Mtu(576), false),
            // Measured: some are lost.
            (Size::Mtu(640), false),
            (Size::Mtu(850), true),
            (Size::Mtu(1500), true),
            (Size::Mtu(9000), true),
        ] {
            let scenario = Scenario {
                receive: true,
                send: true,
                send_burst: 7,
                acks: Acks::Pure,
                ..Scenario::new(size)
            };
            assert_eq!(scenario.check().is_ok(), is_right, "{size:?}");
        }
    }

    #[test]
    fn card_takes_flows_up_to_entries() {
        let mut scenario = Scenario::new(Size::Mtu(1500));
        (scenario.receive, scenario.flows) = (true, 16_384);
        assert_eq!(scenario.check(), Ok(()));
        scenario.send = true;
        assert_eq!(scenario.check(), Ok(()));
        (scenario.card, scenario.flows) = ("small".to_owned(), 65);
        let bad = scenario.check().expect_err("65 flows").to_string();
        assert!(bad.contains("65 flows") && bad.contains("64"), "{bad}");
        scenario.flows = 33;
        let bad = scenario.check().expect_err("66 regions").to_string();
        assert!(bad.contains("66 regions") && bad.contains("64"), "{bad}");
        scenario.flows = 32;
        assert_eq!(scenario.check(), Ok(()));
    }

    #[test]
    fn frames_below_ipv6_are_refused() {
        let mut scenario = Scenario::new(Size::Frame(78));
        scenario.receive = true;
        scenario.family = Family::Mixed;
        // The first flow is IPv4.
        assert_eq!(scenario.check(), Ok(()));
        scenario.flows = 2;
        let bad = scenario.check().expect_err("no payload").to_string();
        assert!(bad.contains("78") && bad.contains("79"), "{bad}");
        scenario.size = Size::Frame(79);
        assert_eq!(scenario.check(), Ok(()));
        assert_eq!(scenario.payload_bytes(true), 1);
    }
}
