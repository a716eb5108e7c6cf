//! The program as its users meet it. One binary: linked once, and its tests share the cores.
//!
//! Each topic is a file; `cargo test -p touchstone-cli --test cli TOPIC::` runs one of them.

mod support;

mod addresses;
mod adequacy;
mod agree;
mod annotate;
mod bad_input;
mod brute_force;
mod compilers;
mod criteria;
mod docs;
mod edges;
mod emitted;
mod flexible;
mod floats;
mod generate;
mod googletest;
mod harm;
mod induction;
mod install;
mod java_generate;
mod java_run;
mod judges;
mod kept;
mod library;
mod lifetimes;
mod made;
mod measure;
mod measure_reports;
mod modelled;
mod on_top_of;
mod pointers;
mod prefix;
mod project;
mod project_file;
mod prover;
mod prover_fuzz;
mod random_programs;
mod report;
mod same_output;
mod sequences;
mod soundness;
mod state;
mod state_random;
mod static_list;
mod stubs;
mod surroundings;
mod testcomp;
mod trial;
mod verdicts;
mod volatile;
mod wide;
mod world;
