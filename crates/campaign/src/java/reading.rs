//! Reads a Java program.

use super::class_sources::{JavaFiles, given, main_sources};
use super::error::JavaError;
use super::java_program::JavaProgram;
use super::loading::{AT_FIRST, Loading};
use super::method_names::is_meant;
use crate::externals::java::SayingError;
use crate::externals::{self, Spoken};
use std::collections::BTreeMap;
use touchstone_front_java::{Jdk, JdkError, LABELS_DIR, MethodUnderTest, ProgramSetup};
use touchstone_ir::{FuncId, Module};

/// What a program is read for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadFor {
    /// Its objectives are listed.
    Listing,
    /// Its paths are followed.
    Search,
}

/// Where classes go that say what methods without code do.
const SAYING: &str = "touchstone-world";

/// Reads a program; compiled classes go to a directory.
pub(crate) fn read(files: &JavaFiles<'_>, purpose: ReadFor) -> Result<(Module, JavaProgram), JavaError> {
    let subject = files.subject;
    let jdk = Jdk::find()?;
    let mut given = given(&jdk, files)?;
    let helper = jdk.helper(files.classes)?;
    given.class_path.push(helper.join(LABELS_DIR));
    let saying = files.classes.with_file_name(SAYING);
    let mut class_path = given.class_path.clone();
    if !files.world.said.is_empty() {
        let failed = |error| SayingError::Jdk(JdkError::Refused(format!("can't write {}: {error}", saying.display())));
        std::fs::create_dir_all(&saying).map_err(failed)?;
        class_path.push(saying.clone());
    }
    let setup = ProgramSetup {
        java_home: jdk.home.clone(),
        release: jdk.release,
        class_path,
        main_class: String::new(),
        locale: ("en".to_string(), String::new()),
        arguments: Vec::new(),
    };
    let program = touchstone_front_java::Program::of_methods(setup, given.marks)?;
    let unloadable = program.add_program_classes(&given.classes);
    given.classes.retain(|class| !unloadable.iter().any(|(other, _)| other == class));
    if let (true, [(class, reason), others @ ..]) = (given.classes.is_empty(), unloadable.as_slice()) {
        let (class, reason) = (class.replace('/', "."), reason.clone());
        return Err(JavaError::NoneLoads { class, reason, others: others.len() });
    }
    let mut spoken = externals::java::tell(files.world, &program, &jdk, &given.class_path, &saying)?;
    let mut methods = Vec::new();
    for class in &given.classes {
        methods.extend(program.methods(class)?);
    }
    let checks = checks(&program, &spoken)?;
    for method in methods.iter_mut().filter(|method| is_meant(method, subject)) {
        program.plan_tests(method);
    }
    let is_tested = |method: &&MethodUnderTest| is_meant(method, subject) && method.refusal().is_none();
    let tested: Vec<&MethodUnderTest> = methods.iter().filter(is_tested).collect();
    let roots: Vec<FuncId> = tested
        .iter()
        .copied()
        .chain(&checks)
        .flat_map(|method| [method.entry, method.func].into_iter().chain(method.possible).chain(method.post))
        .collect();
    let all: Vec<FuncId> = methods.iter().map(|method| method.func).collect();
    let mut loading = Loading::new(&program);
    loading.load(&roots, AT_FIRST);
    loading.initialise(&tested)?;
    // What is not tested is there to be listed.
    program.load_without_callees(&all, &mut loading.loaded);
    let (module, prepared) = match purpose {
        ReadFor::Listing => (loading.module(&tested), BTreeMap::new()),
        ReadFor::Search => {
            let module = loading.follow(&tested);
            match loading.prepare(&tested) {
                prepared if prepared.is_empty() => (module, prepared),
                prepared => (loading.module(&tested), prepared),
            }
        }
    };
    let project = files.files.iter().find(|file| main_sources(file).is_some()).cloned();
    let (class_path, bare, fields, differ) = (given.class_path, given.bare, program.fields(), given.differ);
    spoken.checks = checks.into_iter().map(|method| (method.internal, method.method, method.entry)).collect();
    let java =
        JavaProgram { jdk, helper, class_path, fields, methods, prepared, bare, unloadable, differ, project, spoken };
    Ok((module, java))
}

/// The methods that check what is said.
fn checks(program: &touchstone_front_java::Program, spoken: &Spoken) -> Result<Vec<MethodUnderTest>, JavaError> {
    let mut found = Vec::new();
    for (_, class) in &spoken.by {
        let mut methods = program.methods(class)?;
        methods.retain(|method| ["never", "twice"].contains(&method.method.as_str()));
        methods.iter_mut().for_each(|method| program.plan_tests(method));
        found.extend(methods.into_iter().filter(|method| method.refusal().is_none()));
    }
    Ok(found)
}
