//! Traversal of ASTs, and the source positions of nodes.

use super::actions::{NodeOrigins, SourceOrigin};
use crate::clang::ast_reader::{PositionReader, read as read_stream, read_bytes};
use crate::clang::dump_pair::dump_from_server;
use crate::clang::flags::flags_for;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::{AstNode, AstPosition};
use crate::clang::options::Options;
use crate::clang::process::{self, ClangInput};
use crate::error::FrontError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Calls `each` for a node and its descendants in preorder.
pub(crate) fn preorder<'n>(node: &'n AstNode, each: &mut dyn FnMut(&'n AstNode)) {
    if node.kind.is_absent() {
        return;
    }
    each(node);
    for child in &node.inner {
        preorder(child, each);
    }
}

/// Returns the body of a function definition.
pub(crate) fn body(node: &AstNode) -> Option<&AstNode> {
    node.inner
        .iter()
        .find(|child| child.kind == K::CompoundStmt)
        .filter(|_| matches!(node.kind, K::FunctionDecl | K::CXXMethodDecl))
}

/// Returns the source positions of all nodes in the wanted functions.
pub(super) fn origins(file: &Path, options: &Options, wanted: &BTreeSet<String>) -> Result<NodeOrigins, FrontError> {
    let mut found = NodeOrigins::new();
    let mut texts: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    read(file, options, |positions, node| {
        let Some(body) = body(node).filter(|_| wanted.contains(&node.name)) else { return };
        let mut list = Vec::new();
        preorder(body, &mut |node| list.push((node.kind.clone(), origin(node, positions, &mut texts))));
        found.insert(node.name.clone(), list);
    })?;
    Ok(found)
}

fn origin(node: &AstNode, positions: &PositionReader, texts: &mut BTreeMap<String, Vec<u8>>) -> SourceOrigin {
    let Some(begin) = node.begin.expansion else { return SourceOrigin::default() };
    let file = positions.files.get(begin.file as usize).map_or("", |name| name);
    let mut in_macro = |position: &AstPosition| {
        position.spelling.as_ref().filter(|_| !position.macro_argument)?;
        let loc = position.expansion?;
        let name = positions.files.get(loc.file as usize)?;
        let text = texts.entry(name.to_string()).or_insert_with(|| std::fs::read(&**name).unwrap_or_default());
        let bytes = text.get(loc.offset as usize..(loc.offset + loc.token) as usize)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    let in_macro = in_macro(&node.begin).or_else(|| in_macro(&node.end));
    SourceOrigin { file: file.to_string(), line: begin.line, column: begin.column, in_macro }
}

/// Passes every top-level declaration of a file to `each`.
pub(crate) fn read(
    file: &Path,
    options: &Options,
    mut each: impl FnMut(&PositionReader, &AstNode),
) -> Result<(), FrontError> {
    let clang = process::find(options)?;
    let flags = flags_for(file, options)?;
    let mut positions = PositionReader::default();
    let each = |positions: &PositionReader, node| each(positions, &node);
    let read = match dump_from_server(&clang, &flags, ClangInput::File(file)) {
        Some(dump) => read_bytes(dump.bytes(), &mut positions, each),
        None => {
            let mut run = process::start(&clang, "-ast-dump=json", &flags, ClangInput::File(file))?;
            let read = run.output().map_or(Ok(()), |output| read_stream(output, &mut positions, each));
            if let Err(stderr) = run.finish()? {
                return Err(FrontError::DoesNotCompile { file: file.to_path_buf(), stderr });
            }
            read
        }
    };
    read.map_err(|error| FrontError::UnexpectedAst {
        file: file.to_path_buf(),
        what: error.to_string(),
        at: format!("line {} of clang's output", error.line()),
    })
}
