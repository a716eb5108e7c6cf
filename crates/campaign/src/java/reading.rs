//! Makes a module of the classes under test and of the part of the JDK that they need.

use super::class_sources::{JavaFiles, collect_classes, main_sources};
use super::error::JavaError;
use super::java_program::JavaProgram;
use super::loading::{INITIAL_JDK_FUNCTIONS, Loading};
use super::method_names::is_under_test;
use crate::externals::java::JavaSpecError;
use crate::externals::{self, JavaSpecs};
use std::collections::BTreeMap;
use touchstone_front_java::{Jdk, JdkError, LABELS_DIR, MethodUnderTest, ProgramSetup};
use touchstone_ir::{FuncId, Module};

/// The purpose of reading a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadPurpose {
    /// To list its objectives.
    Listing,
    /// To explore its paths.
    Search,
}

/// The directory for classes generated from specifications.
const SPEC_CLASSES: &str = "touchstone-world";

/// Reads a program.
pub(crate) fn read(files: &JavaFiles<'_>, purpose: ReadPurpose) -> Result<(Module, JavaProgram), JavaError> {
    let subject = files.subject;
    let jdk = Jdk::find()?;
    let mut class_set = collect_classes(&jdk, files)?;
    let helper = jdk.helper(files.classes)?;
    class_set.class_path.push(helper.join(LABELS_DIR));
    let spec_classes = files.classes.with_file_name(SPEC_CLASSES);
    let mut class_path = class_set.class_path.clone();
    if !files.externals.functions.is_empty() {
        let failed =
            |error| JavaSpecError::Jdk(JdkError::Refused(format!("can't write {}: {error}", spec_classes.display())));
        std::fs::create_dir_all(&spec_classes).map_err(failed)?;
        class_path.push(spec_classes.clone());
    }
    let setup = ProgramSetup {
        java_home: jdk.home.clone(),
        release: jdk.release,
        class_path,
        main_class: String::new(),
        locale: ("en".to_string(), String::new()),
        arguments: Vec::new(),
    };
    let program = touchstone_front_java::LazyProgram::of_methods(setup, class_set.marks)?;
    let unloadable = program.add_program_classes(&class_set.classes);
    class_set.classes.retain(|class| !unloadable.iter().any(|(other, _)| other == class));
    if let (true, [(class, reason), others @ ..]) = (class_set.classes.is_empty(), unloadable.as_slice()) {
        let (class, reason) = (class.replace('/', "."), reason.clone());
        return Err(JavaError::NoneLoads { class, reason, others: others.len() });
    }
    let mut specs =
        externals::java::compile_specs(files.externals, &program, &jdk, &class_set.class_path, &spec_classes)?;
    let mut methods = Vec::new();
    for class in &class_set.classes {
        methods.extend(program.methods(class)?);
    }
    let checks = checks(&program, &specs)?;
    for method in methods.iter_mut().filter(|method| is_under_test(method, subject)) {
        program.plan_tests(method);
    }
    let is_tested = |method: &&MethodUnderTest| is_under_test(method, subject) && method.refusal().is_none();
    let tested: Vec<&MethodUnderTest> = methods.iter().filter(is_tested).collect();
    let roots: Vec<FuncId> = tested
        .iter()
        .copied()
        .chain(&checks)
        .flat_map(|method| [method.entry, method.func].into_iter().chain(method.possible).chain(method.post))
        .collect();
    let all: Vec<FuncId> = methods.iter().map(|method| method.func).collect();
    let mut loading = Loading::new(&program);
    loading.load(&roots, INITIAL_JDK_FUNCTIONS);
    loading.initialise(&tested)?;
    // Methods that are not under test are still listed.
    program.load_without_callees(&all, &mut loading.loaded);
    let (module, prepared) = match purpose {
        ReadPurpose::Listing => (loading.module(&tested), BTreeMap::new()),
        ReadPurpose::Search => {
            // Observers come first: with the classes that they load, type tests and dispatches have more cases, which
            // must be loaded for the methods under test as well.
            let prepared = loading.prepare(&tested);
            (loading.follow(&tested), prepared)
        }
    };
    let located = match purpose {
        ReadPurpose::Listing => BTreeMap::new(),
        ReadPurpose::Search => {
            let tested = methods.iter().filter(|method| is_tested(method));
            tested.filter_map(|method| Some((method.func, program.code_locations(method.func)?))).collect()
        }
    };
    let project = files.files.iter().find(|file| main_sources(file).is_some()).cloned();
    let (class_path, without_source, fields, mismatched_methods) =
        (class_set.class_path, class_set.without_source, program.fields(), class_set.mismatched_methods);
    let skipped = |func: FuncId| {
        let skipped = program.code_locations(func).map(|located| located.skipped).unwrap_or_default();
        skipped.into_iter().map(move |(place, text)| (func, place, text))
    };
    let skipped_decisions = all.iter().copied().flat_map(skipped).collect();
    specs.checks = checks.into_iter().map(|method| (method.internal, method.method, method.entry)).collect();
    let java = JavaProgram {
        jdk,
        helper,
        class_path,
        located,
        fields,
        methods,
        prepared,
        without_source,
        unloadable,
        mismatched_methods,
        skipped_decisions,
        project,
        specs,
    };
    Ok((module, java))
}

/// Returns the methods that check specifications.
fn checks(program: &touchstone_front_java::LazyProgram, specs: &JavaSpecs) -> Result<Vec<MethodUnderTest>, JavaError> {
    let mut found = Vec::new();
    for (_, class) in &specs.by {
        let mut methods = program.methods(class)?;
        methods.retain(|method| ["never", "twice"].contains(&method.method.as_str()));
        methods.iter_mut().for_each(|method| program.plan_tests(method));
        found.extend(methods.into_iter().filter(|method| method.refusal().is_none()));
    }
    Ok(found)
}
