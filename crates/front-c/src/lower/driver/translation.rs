//! Translation of one text: runs clang and lowers its AST, declaration by declaration.

use crate::clang::ast_reader::{Positions, read, read_bytes};
use crate::clang::dump::Dump;
use crate::clang::dump_pair::heard;
use crate::clang::process::{self, Clang, Input};
use crate::error::FrontError;
use crate::link::linked_program::LinkedProgram;
use crate::lower::context::unit::{Selection, Unit};
use crate::lower::objects::array_params;
use crate::types::ctype::WideFields;
use std::path::Path;

/// A text to be lowered.
pub(crate) struct Source<'a> {
    pub input: Input<'a>,
    /// The name in positions.
    pub name: &'a str,
    /// The name in messages.
    pub path: &'a Path,
    pub flags: &'a [String],
    /// The AST, if clang has already been run.
    pub dump: Option<&'a Dump>,
}

pub(crate) fn lower_unit(
    program: &mut LinkedProgram,
    clang: &Clang,
    source: &Source<'_>,
    selection: Selection,
) -> Result<(), FrontError> {
    program.types.char_signed = !source.flags.iter().any(|flag| flag == "-funsigned-char");
    program.types.wide_fields = if process::is_gcc(source.flags) { WideFields::OwnWidth } else { WideFields::Unknown };
    let is_text = matches!(source.input, Input::Text(_));
    let mut unit = Unit::new(program, source.name, selection);
    unit.inlines = !source.flags.iter().any(|flag| flag == "-fno-builtin" || flag == "-ffreestanding");
    let mut positions = Positions::default();
    let mut outcome: Result<(), FrontError> = Ok(());
    let each = |positions: &Positions, node| {
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
    let heard = source.dump.is_none().then(|| heard(clang, source.flags, source.input)).flatten();
    let read = match source.dump.or(heard.as_ref()) {
        Some(dump) => read_bytes(dump.bytes(), &mut positions, each),
        None => {
            let mut run = process::start(clang, "-ast-dump=json", source.flags, source.input)?;
            let read = run.output().map_or(Ok(()), |output| read(output, &mut positions, each));
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
    array_params::restore(&mut unit, clang, source.flags, source.input)
}
