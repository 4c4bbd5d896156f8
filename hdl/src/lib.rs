//! The assembled card: the top block that only connects, and its Verilog.
