//! Prints the IR of C files: `cargo run -p touchstone-front-c --example dump -- FILE... [-- FLAGS]`.

// An example is a program of its own.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

fn main() {
    let mut files = Vec::new();
    let mut options = touchstone_front_c::Options::default();
    let mut args = std::env::args().skip(1);
    for arg in args.by_ref() {
        if arg == "--" {
            break;
        }
        files.push(arg.into());
    }
    options.flags = args.collect();
    match touchstone_front_c::lower_files(&files, &options) {
        Ok(module) => {
            for error in touchstone_ir::verify(&module) {
                eprintln!("{error}");
            }
            print!("{}", touchstone_ir::print(&module));
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}
