//! What is connected to a model and clocked with it.

use verilate::verilated::Model;

/// Something connected to a model and clocked with it: a driver, a sink, a monitor.
pub trait Agent {
    /// Just before the rising edge: read what the registers are about to see.
    fn sample(&mut self, model: &Model);
    /// Just after it: set the inputs for the next cycle.
    fn drive(&mut self, model: &mut Model);
}
