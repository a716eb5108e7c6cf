//! Translation of one text: runs clang and lowers its AST, declaration by declaration.

use crate::clang::ast_reader::{PositionReader, read, read_bytes};
use crate::clang::dump::AstDump;
use crate::clang::dump_pair::dump_from_server;
use crate::clang::flag_effects;
use crate::clang::process::{self, Clang, ClangInput};
use crate::error::FrontError;
use crate::link::linked_program::LinkedProgram;
use crate::lower::context::unit::{Unit, UnitSelection};
use crate::lower::objects::array_params;
use crate::types::ctype::WideBitFields;
use std::path::Path;

/// A text to be lowered.
pub(crate) struct SourceText<'a> {
    pub input: ClangInput<'a>,
    /// The name in positions.
    pub name: &'a str,
    /// The name in messages.
    pub path: &'a Path,
    pub flags: &'a [String],
    /// The AST, if clang has already been run.
    pub dump: Option<&'a AstDump>,
}

pub(crate) fn lower_unit(
    program: &mut LinkedProgram,
    clang: &Clang,
    source: &SourceText<'_>,
    selection: UnitSelection,
) -> Result<(), FrontError> {
    program.types.wide_fields =
        if process::is_gcc(source.flags) { WideBitFields::OwnWidth } else { WideBitFields::Unknown };
    // Flags are refused where a program is executed; other analyses do without their effects.
    let effects = flag_effects::effects(source.flags).unwrap_or_default();
    program.types.char_signed = !effects.unsigned_char;
    (program.types.short_enums, program.types.packing) = (effects.short_enums, effects.packing);
    let is_text = matches!(source.input, ClangInput::Text(_));
    let mut unit = Unit::new(program, source.name, selection);
    unit.gnu89_inline = effects.gnu89_inline;
    unit.inlines = !source.flags.iter().any(|flag| flag == "-fno-builtin" || flag == "-ffreestanding");
    let mut positions = PositionReader::default();
    let mut outcome: Result<(), FrontError> = Ok(());
    let each = |positions: &PositionReader, node| {
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
    let served = source.dump.is_none().then(|| dump_from_server(clang, source.flags, source.input)).flatten();
    let read = match source.dump.or(served.as_ref()) {
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
