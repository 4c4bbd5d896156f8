//! Interrupts: to the one who waits, kept until one does, refused where there are none.

use std::os::fd::AsFd;

use vfio_user::codec::{Action, Command};
use vfio_user::description::{INTERRUPT_ERROR, INTERRUPT_MSIX};
use vfio_user::{ClientError, Errno, Event};

use super::toy::{wait, ID, VECTORS};
use super::{open, word, LIMIT};

#[test]
fn interrupts_reach_the_waiting_one() {
    let (_served, mut client) = open("interrupts");
    let events: Vec<Event> = (0..VECTORS).map(|_| Event::new().unwrap()).collect();
    let list: Vec<_> = events.iter().map(AsFd::as_fd).collect();
    client.attach(INTERRUPT_MSIX, 0, &list).unwrap();
    for vector in [0, 15, 16, VECTORS - 1] {
        client.post(0, 0x24, &[vector as u8]).unwrap();
        assert!(wait(&events[vector as usize], LIMIT), "vector {vector}");
        assert_eq!(events[vector as usize].take(), 1);
    }
    let left: u64 = events.iter().map(Event::take).sum();
    assert_eq!(left, 0, "no other vector was told");
}

#[test]
fn unheard_interrupt_is_told_later_once() {
    let (_served, mut client) = open("pending");
    client.write(0, 0x24, &[3]).unwrap();
    client.write(0, 0x24, &[3]).unwrap();
    assert_eq!(word(&mut client, 0x30), 1 << 3);
    let event = Event::new().unwrap();
    client.attach(INTERRUPT_MSIX, 3, &[event.as_fd()]).unwrap();
    assert_eq!(event.take(), 1);
    assert_eq!(word(&mut client, 0x30), 0);
    client.act(INTERRUPT_MSIX, 3, Action::Mask).unwrap();
    client.write(0, 0x24, &[3]).unwrap();
    assert_eq!(event.take(), 0);
    client.act(INTERRUPT_MSIX, 3, Action::Unmask).unwrap();
    assert_eq!(event.take(), 1);
    client.act(INTERRUPT_MSIX, 3, Action::Trigger).unwrap();
    assert_eq!(event.take(), 1);
    client.detach(INTERRUPT_MSIX).unwrap();
    client.write(0, 0x24, &[3]).unwrap();
    assert_eq!(event.take(), 0);
}

#[test]
fn interrupts_before_reset_are_forgotten() {
    let (_served, mut client) = open("forgotten");
    client.write(0, 0x24, &[3]).unwrap();
    client.reset().unwrap();
    assert_eq!(word(&mut client, 0x30), 0);
    let event = Event::new().unwrap();
    client.attach(INTERRUPT_MSIX, 3, &[event.as_fd()]).unwrap();
    assert_eq!(event.take(), 0);
}

/// What comes as an event may be anything that a client has: a full pipe, here.
#[test]
fn event_that_takes_nothing_stops_nobody() {
    let (_served, mut client) = open("full");
    let (_reader, mut writer) = std::io::pipe().unwrap();
    // As many bytes as Linux gives a pipe.
    std::io::Write::write_all(&mut writer, &[0; 1 << 16]).unwrap();
    client.attach(INTERRUPT_MSIX, 0, &[writer.as_fd()]).unwrap();
    client.write(0, 0x24, &[0]).unwrap();
    assert_eq!(word(&mut client, 0), ID);
}

#[test]
fn missing_interrupts_are_refused() {
    let (served, mut client) = open("no-interrupts");
    let event = Event::new().unwrap();
    for (index, start) in [(INTERRUPT_MSIX, VECTORS), (0, 0), (5, 0), (INTERRUPT_ERROR, 1)] {
        let result = client.attach(index, start, &[event.as_fd()]);
        let (socket, error) = (served.socket.clone(), Errno::INVAL);
        let command = Command::SetInterrupts;
        assert_eq!(result, Err(ClientError::Refused { socket, command, error }), "{index}");
    }
    client.attach(INTERRUPT_ERROR, 0, &[event.as_fd()]).unwrap();
}
