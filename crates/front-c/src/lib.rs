//! The front end for C: clang's typed AST becomes IR.
//!
//! clang does the parsing, typing, implicit conversions and constant values; this crate reads its JSON as a stream and
//! lowers one declaration at a time. A bird's-eye view, in the order of a file's way through:
//!
//! - `flags`, `clang`: how to compile the file, and running clang;
//! - `ast`, `source`: nodes with resolved positions; spans and source text as the user sees them;
//! - `tokens`, `typename`, `operand_type`, `scope`, `ctype`: clang spells types as text; what they mean, their layout, their data types;
//! - `unit`, `consts`, `init`, `strings`, `offsetof`: declarations, constants, initialisers;
//! - `func`, `stmt`, `expr`, `place`, `aggregate`, `call`, `atomic`, `decide`, `tidy`: function bodies;
//! - `points`, `pure`: where coverage speaks of the source, and the expressions that it asks about there;
//! - `arrays`: array parameters keep their declared length;
//! - `follow`: what a preprocessed text does to data, for state coverage;
//! - `hazards`: where a preprocessed text can go wrong, for probes of run-time errors;
//! - `link`, `models`, `startup`: several files, the C library and what runs around `main` become one module.
//!
//! Invariants, as absences: a construct that is not supported is never an error and never dropped, it is a
//! [`TermKind::Unsupported`](touchstone_ir::TermKind::Unsupported) with its place; there is no preprocessor and no
//! type checker here; no other crate sees clang's AST.

#![warn(missing_docs)]

mod aggregate;
mod arrays;
mod assembly;
mod ast;
mod atomic;
mod bit_width;
mod bits;
mod call;
mod clang;
mod compatible;
mod complex;
mod consts;
mod ctype;
mod decide;
mod error;
mod expr;
mod externals;
mod flags;
mod float_formula;
mod floats;
mod follow;
mod func;
mod hazards;
mod init;
mod lifetimes;
mod link;
mod long_const;
mod long_double;
mod long_math;
mod math;
mod models;
mod offsetof;
mod operand_type;
mod overflow;
mod pack;
mod pair;
mod place;
mod points;
mod pure;
mod scope;
mod source;
mod startup;
mod stmt;
mod strings;
mod tidy;
mod tokens;
mod typename;
mod unit;
mod variadic;
mod vector;
mod vla;
mod volatile;
mod wide;

pub use error::FrontError;
pub use flags::flags_for;
pub use follow::{
    Action, Argument, Escape, Followed, FollowedFunction, Gives, Lvalue, Origin, PointeeSize, Target, follow,
    follow_tests,
};
pub use hazards::{After, Hazard, HazardKind, Root, hazards};

pub use clang::gnu_version;
pub use pair::{Dump, Texts, dump_both};

use clang::Input;
use ctype::WideFields;
use link::Program;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_ir::Module;
use unit::{Selection, Unit};

/// How to read C.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The clang to use; `None`: `TOUCHSTONE_CLANG`, then `clang`, then the newest `clang-NN` (14 or later) on the path.
    pub clang: Option<PathBuf>,
    /// Compile flags given by the user.
    pub flags: Vec<String>,
    /// A compile_commands.json, from which per-file flags come.
    pub compile_commands: Option<PathBuf>,
    /// The directory that holds `touchstone.h` and `klee/klee.h`, as made by [`write_headers`].
    pub include_dir: Option<PathBuf>,
    /// What the program's surroundings may give it.
    pub surroundings: Surroundings,
    /// The compiler that translates the program in the end: clang then claims its version of GNU C, so that both see the
    /// same side of `#if __GNUC__ >= 5`. `None`: as clang does by itself.
    pub compiler: Option<String>,
    /// How `offsetof` is understood.
    pub offsets: Offsets,
    /// Whether the C library's functions get bodies.
    pub library: Library,
    /// What clang says of the one file that is lowered, if it was asked already.
    pub dump: Option<Dump>,
}

/// What becomes of functions of the C library that the program calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Library {
    /// They have bodies: the program can be executed.
    #[default]
    Modelled,
    /// They stay declared: the program is only looked at, and need not be read with its library.
    Declared,
}

/// How `offsetof` is understood. clang's JSON does not say of what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Offsets {
    /// clang sees the address of the member beside it, in a macro. For text that was not preprocessed: macros move places.
    #[default]
    Spelled,
    /// From its text.
    FromText,
    /// From its text, and some value where that says nothing. For text that is only looked at.
    Guessed,
    /// Not at all: as whoever reads the text before the preprocessor, where a macro hides it.
    Opaque,
}

/// What of a program's surroundings is an input. What isn't stops whoever asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Surroundings {
    /// What functions return that nobody defines; and time and chance.
    pub externals: bool,
    /// What functions return that the program does not have, where a pointer leads to one.
    pub callbacks: bool,
    /// Standard input, of at most so many bytes.
    pub stdin: Option<u32>,
    /// Variables of the environment, of at most so many characters.
    pub environment: Option<u32>,
    /// What volatile objects hold, at every read anew.
    pub volatile: bool,
}

/// Writes `touchstone.h` and `klee/klee.h` into a directory, which is made if it is not there.
pub fn write_headers(dir: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(dir.join("klee"))?;
    write_header(&dir.join("touchstone.h"), include_str!("../include/touchstone.h"))?;
    write_header(&dir.join("klee").join("klee.h"), include_str!("../include/klee/klee.h"))
}

/// KLEE's own header, in a directory of the user's, is not ours to replace.
fn write_header(path: &Path, text: &str) -> std::io::Result<()> {
    match std::fs::read(path) {
        Ok(there) if there == text.as_bytes() => Ok(()),
        Ok(there) if !String::from_utf8_lossy(&there).to_lowercase().contains("touchstone") && !there.is_empty() => {
            let said = format!("{} was not written by Touchstone and would be replaced", path.display());
            Err(std::io::Error::new(std::io::ErrorKind::AlreadyExists, said))
        }
        _ => std::fs::write(path, text),
    }
}

/// Reads C files and links them into one module.
pub fn lower_files(files: &[PathBuf], options: &Options) -> Result<Module, FrontError> {
    touchstone_base::on_deep_stack(|| lower_all(files, options))
}

fn lower_all(files: &[PathBuf], options: &Options) -> Result<Module, FrontError> {
    for file in files {
        check_readable(file)?;
    }
    let clang = clang::find(options.clang.as_deref())?;
    let mut own = BTreeSet::new();
    let mut options = options.clone();
    loop {
        let program = match lower_program(files, &options, &clang, &own) {
            // `offsetof(struct s { int x; }, x)` can't be written twice.
            Err(FrontError::DoesNotCompile { .. }) if options.offsets == Offsets::Spelled => {
                options.offsets = Offsets::FromText;
                continue;
            }
            program => program?,
        };
        // A recognised name that a later file defines after all: once more, knowing that.
        let mut conflicts: Vec<String> =
            program.recognised.iter().filter(|name| program.overrides(name)).cloned().collect();
        if program.redirects() {
            conflicts
                .extend(models::TO_CONSOLE.iter().filter(|name| !own.contains(**name)).map(|name| name.to_string()));
        }
        if conflicts.is_empty() {
            return Ok(program.finish());
        }
        own.extend(conflicts);
    }
}

fn check_readable(file: &Path) -> Result<(), FrontError> {
    let not_readable = |source| FrontError::NotReadable { file: file.to_path_buf(), source };
    if file.to_str().is_none() {
        // Positions, reports and tests have to say it.
        let why = "its name is not UTF-8; rename it, or read it through a link";
        return Err(not_readable(std::io::Error::new(std::io::ErrorKind::InvalidInput, why)));
    }
    if std::fs::metadata(file).map_err(not_readable)?.is_dir() {
        return Err(FrontError::IsDirectory { file: file.to_path_buf() });
    }
    std::fs::File::open(file).map(drop).map_err(not_readable)
}

fn lower_program(
    files: &[PathBuf],
    options: &Options,
    clang: &Path,
    own: &BTreeSet<String>,
) -> Result<Program, FrontError> {
    let mut program = Program::new(own.clone());
    for file in files {
        program.sources.file_id(&mut program.files, &file.to_string_lossy());
    }
    program.given_files = program.files.len();
    program.types.fresh_volatile = options.surroundings.volatile;
    program.types.offsets = options.offsets;
    let claimed = options.compiler.as_deref().and_then(clang::gnu_version);
    for file in files {
        let mut flags = flags_for(file, options)?;
        flags.splice(0..0, claimed.clone());
        // Who only looks at a program does not miss them.
        let executes = options.library == Library::Modelled;
        program.hooked |= executes && flags.iter().any(|flag| flag == "-finstrument-functions");
        if options.offsets == Offsets::Spelled {
            flags.push(offsetof::SPELLED.to_string());
            flags.extend(clang::OTHER_NAMES.map(str::to_string));
        }
        let name = file.to_string_lossy().into_owned();
        let dump = options.dump.as_ref().filter(|_| files.len() == 1);
        let source = Source { input: Input::File(file), name: &name, path: file, flags: &flags, dump };
        lower_unit(&mut program, clang, &source, Selection::Program)?;
    }
    program.types.fresh_volatile = false;
    if options.library == Library::Modelled {
        models::add(&mut program, clang, options.surroundings)?;
    }
    if options.surroundings.callbacks {
        externals::make_callbacks(&mut program);
    }
    if options.surroundings.externals {
        externals::make_inputs(&mut program);
    }
    Ok(program)
}

/// A text to be lowered.
struct Source<'a> {
    input: Input<'a>,
    /// Its name as positions show it.
    name: &'a str,
    /// Its name in messages.
    path: &'a Path,
    flags: &'a [String],
    /// What clang says of it, if it was asked already.
    dump: Option<&'a Dump>,
}

fn lower_unit(
    program: &mut Program,
    clang: &Path,
    source: &Source<'_>,
    selection: Selection,
) -> Result<(), FrontError> {
    program.types.char_signed = !source.flags.iter().any(|flag| flag == "-funsigned-char");
    let is_gcc = source.flags.iter().any(|flag| flag.starts_with(clang::GNU_VERSION));
    program.types.wide_fields = if is_gcc { WideFields::OwnWidth } else { WideFields::Unknown };
    let is_text = matches!(source.input, Input::Text(_));
    let mut unit = Unit::new(program, source.name, selection);
    unit.inlines = !source.flags.iter().any(|flag| flag == "-fno-builtin" || flag == "-ffreestanding");
    let mut positions = ast::Positions::default();
    let mut outcome: Result<(), FrontError> = Ok(());
    let each = |positions: &ast::Positions, node| {
        let known = unit.names.len();
        unit.names.extend(
            positions.files[known..]
                .iter()
                .map(|name| if is_text && name.as_ref() == "<stdin>" { source.name.into() } else { name.clone() }),
        );
        if outcome.is_ok() {
            outcome = unit.declaration(node);
        }
    };
    let read = match source.dump {
        Some(dump) => ast::read_bytes(dump.bytes(), &mut positions, each),
        None => {
            let mut run = clang::start(clang, "-ast-dump=json", source.flags, source.input)?;
            let read = run.output().map_or(Ok(()), |output| ast::read(output, &mut positions, each));
            if let Err(stderr) = run.finish()? {
                return Err(FrontError::DoesNotCompile { file: source.path.to_path_buf(), stderr });
            }
            read
        }
    };
    read.map_err(|error| FrontError::UnexpectedAst {
        file: source.path.to_path_buf(),
        what: error.to_string(),
        at: format!("line {} of clang's output", error.line()),
    })?;
    outcome?;
    unit.finish()?;
    arrays::restore(&mut unit, clang, source.flags, source.input)
}
