//! Records of classes from one directory or jar: their sources are compiled again, and the decisions of sources that do not compile are
//! those of the bytecode.

use super::loaded_classes::LoadedClass;
use super::plans::plan_of;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use touchstone_criteria::{CriteriaOptions, GoalCriterion, criterion_named};
use touchstone_front_java::classfile::ClassFile;
use touchstone_front_java::path::Jar;
use touchstone_front_java::{
    CodeLocations, CompileOptions, Jdk, JdkError, LABELS_DIR, LazyProgram, LoadedFunctions, ProgramSetup, SourceMarks,
};
use touchstone_instrument::{
    JavaClass, ProbeObstacle, UnitRecord, class_record, class_unit, planned_unit, unprobed_class_record,
};
use touchstone_ir::{FuncId, Module};

/// Returns the compiler's first message about a source file, if it rejects it.
fn refusal(said: &str, source: &Path) -> Option<String> {
    let begin = format!("{}:", source.display());
    let line = said.lines().find_map(|line| line.strip_prefix(&begin))?;
    Some(line.split_once("error: ").map_or(line, |(_, what)| what).trim().to_string())
}

/// The request for classes of one origin.
pub(super) struct ClassGroup<'a> {
    pub criteria: &'a [String],
    pub class_path: &'a [PathBuf],
    /// The class path of the annotation processors that the build ran.
    pub processor_path: &'a [PathBuf],
    pub scratch: &'a Path,
}

/// The major version of Java 1.0.2 was 45, and each release since then added one.
const BEFORE_FIRST: u16 = 44;

/// The name of the file in which a jar names its annotation processors.
const PROCESSORS: &str = "META-INF/services/javax.annotation.processing.Processor";

/// The program of a group of classes.
pub(super) struct GroupProgram {
    program: LazyProgram,
    /// The reasons why classes are described by their bytecode, by class and by source file.
    from_bytecode: BTreeMap<String, String>,
    not_compiled: BTreeMap<PathBuf, String>,
}

impl ClassGroup<'_> {
    /// Returns the records of classes, or the reason why there are none, as a sentence.
    pub fn records(&self, classes: &[(LoadedClass, PathBuf)], units: &Path) -> Result<Vec<UnitRecord>, String> {
        let group = self.program(classes)?;
        let mut records = Vec::new();
        let criteria: Vec<&'static dyn GoalCriterion> =
            self.criteria.iter().filter_map(|name| criterion_named(name)).collect();
        let options = CriteriaOptions::default();
        let described = group.each(classes, &mut |loaded, source, known| -> Result<(), String> {
            let file = source.display().to_string();
            let plan = std::fs::read(plan_of(units, class_unit(&loaded.bytes, self.criteria))).ok();
            // The agent may have loaded the class without it.
            let plan = plan.filter(|plan| planned_unit(class_unit(&loaded.bytes, self.criteria), plan) == loaded.unit);
            let own = group.from_bytecode.get(&*loaded.class.name);
            records.push(match known {
                Err(why) => unprobed_class_record(loaded.unit, file, ProbeObstacle::NotRead(why)),
                Ok((module, methods)) => class_record(&JavaClass {
                    unit: loaded.unit,
                    bytes: &loaded.bytes,
                    class: &loaded.class,
                    plan: plan.as_deref(),
                    file,
                    module,
                    methods,
                    criteria: &criteria,
                    options: &options,
                    from_bytecode: own.or_else(|| group.not_compiled.get(source)).cloned(),
                }),
            });
            Ok(())
        });
        described.map(|()| records)
    }

    /// Returns the program of classes, or the reason why there is none, as a sentence.
    pub fn program(&self, classes: &[(LoadedClass, PathBuf)]) -> Result<GroupProgram, String> {
        let jdk = Jdk::find().map_err(|error| summary(&error))?;
        let loaded = self.scratch.join("loaded");
        for (class, _) in classes {
            let path = loaded.join(format!("{}.class", class.class.name));
            let folder = path.parent().unwrap_or(&loaded);
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&path, &class.bytes))
                .map_err(|error| summary(&error))?;
        }
        let path: Vec<PathBuf> = std::iter::once(loaded).chain(self.class_path.iter().cloned()).collect();
        let mut not_compiled: BTreeMap<PathBuf, String> = BTreeMap::new();
        let (marks, from_bytecode) = self.marks(&jdk, classes, &path, &mut not_compiled);
        let helper = jdk.helper(self.scratch).map_err(|error| summary(&error))?;
        let setup = ProgramSetup {
            java_home: jdk.home.clone(),
            release: jdk.release,
            class_path: path.into_iter().chain([helper.join(LABELS_DIR)]).collect(),
            main_class: String::new(),
            locale: ("en".to_string(), String::new()),
            arguments: Vec::new(),
        };
        let program = LazyProgram::of_methods(setup, Some(marks)).map_err(|error| summary(&error))?;
        Ok(GroupProgram { program, from_bytecode, not_compiled })
    }

    /// Returns the marks of the sources that compile, and for each class with other code the reason. Annotation processors run only if the
    /// sources do not compile without them. A source file that the compiler rejects is left out; the others are compiled without it.
    fn marks(
        &self,
        jdk: &Jdk,
        classes: &[(LoadedClass, PathBuf)],
        path: &[PathBuf],
        not_compiled: &mut BTreeMap<PathBuf, String>,
    ) -> (SourceMarks, BTreeMap<String, String>) {
        let is_java = |source: &Path| source.extension().is_some_and(|extension| extension == "java");
        let other = classes.iter().filter(|(_, source)| !is_java(source));
        not_compiled.extend(other.map(|(_, source)| (source.clone(), "only Java sources are read".to_string())));
        let compiled = self.scratch.join("compiled");
        let mut may_process = !self.processor_path.is_empty() || has_processors(path);
        let mut processors = false;
        loop {
            let left: Vec<&(LoadedClass, PathBuf)> =
                classes.iter().filter(|(_, source)| !not_compiled.contains_key(source)).collect();
            if left.is_empty() {
                return (SourceMarks::default(), BTreeMap::new());
            }
            match self.compiled(jdk, &left, path, processors, &compiled) {
                Ok(marks) => return marks,
                Err(JdkError::Refused(_)) if may_process => (may_process, processors) = (false, true),
                Err(error) if processors && !matches!(error, JdkError::Refused(_)) => processors = false,
                Err(error) => {
                    let text = error.to_string();
                    let refused = left.iter().filter_map(|(_, source)| {
                        Some((source.clone(), format!("javac refuses it: {}", refusal(&text, source)?)))
                    });
                    let refused: BTreeMap<PathBuf, String> = refused.collect();
                    match refused.is_empty() {
                        // No source of these classes is to blame.
                        true => {
                            not_compiled.extend(left.iter().map(|(_, source)| (source.clone(), summary(&error))));
                        }
                        false => not_compiled.extend(refused),
                    }
                }
            }
        }
    }

    /// Compiles the sources of classes again. Marks of methods with other code are removed, and the reason is given for each such class.
    fn compiled(
        &self,
        jdk: &Jdk,
        classes: &[&(LoadedClass, PathBuf)],
        path: &[PathBuf],
        processors: bool,
        to: &Path,
    ) -> Result<(SourceMarks, BTreeMap<String, String>), JdkError> {
        let sources: BTreeSet<PathBuf> = classes.iter().map(|(_, source)| source.clone()).collect();
        let sources: Vec<PathBuf> = sources.into_iter().collect();
        let release = classes.first().map(|(loaded, _)| u32::from(loaded.class.major.saturating_sub(BEFORE_FIRST)));
        let root = classes.first().and_then(|(loaded, source)| {
            source.ancestors().nth(loaded.class.name.split('/').count()).map(Path::to_path_buf)
        });
        let processors = processors.then_some(self.processor_path);
        let how = CompileOptions { source_path: root.as_deref(), release, processors, ..CompileOptions::default() };
        let mut marks = jdk.compile(&sources, path, &how, to)?.marks;
        let mut from_bytecode = BTreeMap::new();
        for (loaded, _) in classes {
            let bytes = std::fs::read(to.join(format!("{}.class", loaded.class.name))).unwrap_or_default();
            let Ok(again) = ClassFile::read(&bytes) else { continue };
            let other = match &loaded.compiled {
                Some(compiled) => marks.keep_matching(compiled, &again) + marks.move_to(&loaded.class, compiled),
                None => marks.keep_matching(&loaded.class, &again),
            };
            if other > 0 {
                let methods = if other == 1 { "1 method has" } else { &format!("{other} methods have") };
                let why = format!("{methods} other code than the source");
                from_bytecode.insert(loaded.class.name.to_string(), why);
            }
        }
        Ok((marks, from_bytecode))
    }
}

/// Returns the first lines of an error.
fn summary(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().take(2).collect::<Vec<_>>().join(" ")
}

/// Returns true if a jar of a class path has annotation processors.
fn has_processors(class_path: &[PathBuf]) -> bool {
    let names_them = |place: &PathBuf| match place.is_dir() {
        true => place.join(PROCESSORS).is_file(),
        false => Jar::open(place).is_ok_and(|jar| jar.names().any(|name| name == PROCESSORS)),
    };
    class_path.iter().any(names_them)
}

impl GroupProgram {
    /// Calls a function for each class with its methods, or with the reason why they are unknown.
    pub fn each<E>(
        &self,
        classes: &[(LoadedClass, PathBuf)],
        told: &mut dyn FnMut(&LoadedClass, &Path, Methods<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let names: Vec<String> = classes.iter().map(|(loaded, _)| loaded.class.name.to_string()).collect();
        let unloadable: BTreeMap<String, String> = self.program.add_program_classes(&names).into_iter().collect();
        let methods_of = |name: &String| -> Vec<FuncId> {
            let methods = self.program.methods(name).unwrap_or_default();
            methods.into_iter().map(|method| method.func).collect()
        };
        let methods: Vec<Vec<FuncId>> = names
            .iter()
            .map(|name| if unloadable.contains_key(name) { Vec::new() } else { methods_of(name) })
            .collect();
        let mut loaded = LoadedFunctions::default();
        self.program.load_without_callees(&methods.concat(), &mut loaded);
        let module = self.program.loaded(&loaded);
        for ((loaded, source), methods) in classes.iter().zip(methods) {
            if let Some(why) = unloadable.get(&*loaded.class.name) {
                told(loaded, source, Err(why.clone()))?;
                continue;
            }
            let located: Vec<(FuncId, CodeLocations)> =
                methods.into_iter().filter_map(|func| Some((func, self.program.code_locations(func)?))).collect();
            told(loaded, source, Ok((&module, &located)))?;
        }
        Ok(())
    }
}

/// The methods of a class with their program, or the reason why they are unknown.
pub(super) type Methods<'m> = Result<(&'m Module, &'m [(FuncId, CodeLocations)]), String>;
