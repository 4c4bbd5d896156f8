//! Client and server of vfio-user: with each other, with peers that misbehave, with other programs.

mod exchange;
mod hostile;
mod lspci;
