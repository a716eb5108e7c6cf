//! The trial: killed runs, full disks, hostile files and functions, and objects of any size. Nothing is lost or torn, nothing panics, every
//! limit holds. Short here; `TOUCHSTONE_LONG=1` repeats with many more seeds.

#[path = "trial/explained.rs"]
mod explained;
#[path = "trial/full.rs"]
mod full;
#[path = "trial/hostile.rs"]
mod hostile;
#[path = "trial/killed.rs"]
mod killed;
#[path = "trial/large.rs"]
mod large;
#[path = "trial/room.rs"]
mod room;
#[path = "trial/sandbox.rs"]
mod sandbox;
