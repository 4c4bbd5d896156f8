//! Messages that count up, into a block and out of it.

use stream::prelude::*;

/// How many messages went in, and how many came out.
#[derive(Debug, Default)]
pub struct Counted {
    pub sent: u32,
    pub got: u32,
}

impl Counted {
    /// Offers the next message, or none.
    pub fn offer(&self, sink: &mut MessageSink<Bits<8>>, valid: bool) {
        sink.valid.next = valid;
        sink.payload.next = bits::<8>(u64::from(self.sent & 0xff));
    }

    /// Counts what both sides take in this cycle; what comes out is in order. Whether one came.
    #[track_caller]
    pub fn take(&mut self, sink: &MessageSink<Bits<8>>, source: &MessageSource<Bits<8>>) -> bool {
        if sink.valid.val() && sink.ready.val() {
            self.sent += 1;
        }
        let came = source.valid.val() && source.ready.val();
        if came {
            assert_eq!(source.payload.val().to_u32(), self.got & 0xff);
            self.got += 1;
        }
        came
    }
}
