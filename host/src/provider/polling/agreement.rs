//! Key, header profile and install of a flow, which a protocol tells one by one, agree: otherwise
//! the card would never find the flow for one of its packets, and nothing would say so.

use abi::flow_key;

use crate::error::protocol::ProtocolError;
use crate::protocol::{FlowKey, Install};
use crate::records::profile::Profile;

/// The header profile of TCP, which every card has.
const TCP: u8 = 0;
/// IP protocol numbers of TCP and UDP.
const IP_PROTOCOLS: [u8; 2] = [6, 17];

/// Checks what a protocol says of flow `flow`: its key, where it receives, and its install, against
/// the header profiles that it had the card set.
pub fn check(
    flow: u16,
    key: Option<&FlowKey>,
    install: &Install,
    profiles: &[(u8, Profile)],
) -> Result<(), ProtocolError> {
    let Some(key) = key else { return Ok(()) };
    let number = key[flow_key::FAMILY_PROFILE] >> 4;
    if number != install.profile {
        let install = install.profile;
        return Err(ProtocolError::ProfilesDiffer { flow, key: number, install });
    }
    let expected = IP_PROTOCOLS[usize::from(number != TCP)];
    let found = key[flow_key::PROTOCOL];
    if found != expected {
        return Err(ProtocolError::WrongIpProtocol { flow, found, profile: number, expected });
    }
    let message_key = &key[flow_key::MESSAGE_KEY];
    let used = message_key.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1) as u8;
    let mut allowed = 0;
    if number != TCP {
        let profile = profiles.iter().find(|(of, _)| *of == number);
        let Some((_, profile)) = profile else {
            return Err(ProtocolError::UnknownProfile { flow, profile: number });
        };
        let port = u16::from_be_bytes([
            key[flow_key::LOCAL_PORT.start],
            key[flow_key::LOCAL_PORT.start + 1],
        ]);
        if port != profile.port {
            let expected = profile.port;
            return Err(ProtocolError::WrongPort { flow, port, profile: number, expected });
        }
        allowed = profile.message_key.1;
    }
    match used <= allowed {
        true => Ok(()),
        false => Err(ProtocolError::LongMessageKey { flow, bytes: used, profile: number, allowed }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILES: &[(u8, Profile)] =
        &[(2, Profile { port: 7700, header_bytes: 20, position: (8, 4), message_key: (0, 4) })];

    fn key_of(profile: u8, protocol: u8, port: u16, message: &[u8]) -> FlowKey {
        let mut key = [0; flow_key::KEY_BYTES];
        key[flow_key::FAMILY_PROFILE] = profile << 4 | 4;
        key[flow_key::PROTOCOL] = protocol;
        key[flow_key::LOCAL_PORT].copy_from_slice(&port.to_be_bytes());
        key[flow_key::MESSAGE_KEY.start..][..message.len()].copy_from_slice(message);
        key
    }

    fn judge(key: &FlowKey, profile: u8) -> Result<(), String> {
        let install = Install { profile, receive_first: 0, send_first: 0, early: Vec::new() };
        check(9, Some(key), &install, PROFILES).map_err(|error| error.to_string())
    }

    #[test]
    fn agreeing_key_and_install_pass() {
        assert_eq!(judge(&key_of(0, 6, 80, &[]), 0), Ok(()));
        assert_eq!(judge(&key_of(2, 17, 7700, &[1, 2, 3, 4]), 2), Ok(()));
        let install = Install { profile: 3, receive_first: 0, send_first: 0, early: Vec::new() };
        assert!(check(9, None, &install, PROFILES).is_ok(), "it only sends");
    }

    #[test]
    fn each_disagreement_is_named() {
        for (key, profile, text) in [
            (key_of(2, 17, 7700, &[]), 0, "flow 9: its key has header profile 2, its install 0"),
            (key_of(3, 17, 7700, &[]), 3, "flow 9: the protocol has set no header profile 3"),
            (
                key_of(0, 17, 80, &[]),
                0,
                "flow 9: IP protocol 17 in its key, header profile 0 has 6",
            ),
            (
                key_of(2, 6, 7700, &[]),
                2,
                "flow 9: IP protocol 6 in its key, header profile 2 has 17",
            ),
            (
                key_of(2, 17, 80, &[]),
                2,
                "flow 9: local port 80 in its key, header profile 2 has 7700",
            ),
            (
                key_of(2, 17, 7700, &[0, 0, 0, 0, 1]),
                2,
                "flow 9: a message key of 5 bytes, header profile 2 has 4",
            ),
            (key_of(0, 6, 80, &[1]), 0, "flow 9: a message key of 1 bytes, header profile 0 has 0"),
        ] {
            assert_eq!(judge(&key, profile), Err(text.to_owned()));
        }
    }
}
