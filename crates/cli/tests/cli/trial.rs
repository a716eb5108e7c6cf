//! The trial: killed runs, full disks, hostile files and functions, and objects of any size. Nothing is lost or torn, nothing panics, every
//! limit holds. Short here; `TOUCHSTONE_LONG=1` repeats with many more seeds.

mod explanations;
mod full_disk;
mod hostile;
mod killed;
mod large;
mod room;
mod sandbox;
