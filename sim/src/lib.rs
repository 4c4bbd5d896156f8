//! The system under test: Verilated card, MAC model, drivers, monitors, checkers.
