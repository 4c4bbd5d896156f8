//! Transport for boxed transports, so that the kind can be chosen at run time.

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use crate::headers::run::Run;

use super::{
    Drained, Event, ListenerId, NextTimer, Result, StreamId, StreamInfo, StreamStatus,
    TransmitHeader, Transport, TransportCounters,
};

impl<T: Transport + ?Sized> Transport for Box<T> {
    fn poll_header(&mut self) -> Result<Option<TransmitHeader>> {
        (**self).poll_header()
    }

    fn deliver(&mut self, header: &[u8], payload_bytes: usize) -> Result<()> {
        (**self).deliver(header, payload_bytes)
    }

    fn deliver_run(&mut self, header: &[u8], run: &Run) -> Result<()> {
        (**self).deliver_run(header, run)
    }

    fn deliver_frame(&mut self, frame: &[u8]) -> Result<()> {
        (**self).deliver_frame(frame)
    }

    fn connect(&mut self, remote: SocketAddr, local: Option<SocketAddr>) -> Result<StreamId> {
        (**self).connect(remote, local)
    }

    fn listen(&mut self, local: SocketAddr) -> Result<ListenerId> {
        (**self).listen(local)
    }

    fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr> {
        (**self).listener_address(listener)
    }

    fn accept(&mut self, listener: ListenerId) -> Result<Option<StreamId>> {
        (**self).accept(listener)
    }

    fn close_listener(&mut self, listener: ListenerId) -> Result<()> {
        (**self).close_listener(listener)
    }

    fn feed(&mut self, stream: StreamId, bytes: u64) -> Result<u64> {
        (**self).feed(stream, bytes)
    }

    fn drain(&mut self, stream: StreamId, bytes_max: u64) -> Result<Drained> {
        (**self).drain(stream, bytes_max)
    }

    fn finish(&mut self, stream: StreamId) -> Result<()> {
        (**self).finish(stream)
    }

    fn close(&mut self, stream: StreamId) -> Result<()> {
        (**self).close(stream)
    }

    fn abort(&mut self, stream: StreamId) -> Result<()> {
        (**self).abort(stream)
    }

    fn status(&mut self, stream: StreamId) -> Result<StreamStatus> {
        (**self).status(stream)
    }

    fn info(&mut self, stream: StreamId) -> Result<StreamInfo> {
        (**self).info(stream)
    }

    fn addresses(&self, stream: StreamId) -> Result<(SocketAddr, SocketAddr)> {
        (**self).addresses(stream)
    }

    fn poll_event(&mut self) -> Result<Option<Event>> {
        (**self).poll_event()
    }

    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        (**self).readiness()
    }

    fn takes_old_acks(&self) -> bool {
        (**self).takes_old_acks()
    }

    fn next_timer(&mut self) -> NextTimer {
        (**self).next_timer()
    }

    fn counters(&self) -> TransportCounters {
        (**self).counters()
    }
}
