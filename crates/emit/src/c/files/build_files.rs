//! Build files for the suites of a framework: `CMakeLists.txt`, and `touchstone.mk` for make.
//!
//! They are derived from the contents of the directory, so they include suites of earlier runs and edited ones. The
//! source that a suite includes determines how it is compiled. A checksum identifies files that Touchstone wrote;
//! foreign and edited files of the same names are kept.
//!
//! Deliberately not here: the framework itself. It is found where it is installed, or where the user's settings say.

use crate::EmitError;
use crate::c::build::configuration::Build;
use crate::c::build::include_path::relative_path;
use crate::c::build::portable_path::{DIRECTORY_OPTIONS, ProjectPaths, takes_path};
use crate::c::files::checksum::{checksum_line_of_makefile, has_valid_checksum, with_valid_checksum};
use crate::c::text::form::CTestForm;
use std::fs;
use std::path::{Path, PathBuf};
use touchstone_ir::Module;

/// A program of tests.
struct TestProgram {
    /// Its file name without the extension.
    name: String,
    /// The translation unit that it includes.
    unit: usize,
}

/// The contents of the build files.
struct Project<'a> {
    form: CTestForm,
    target: &'a Build,
    module: &'a Module,
    /// The path from the directory of the suites to the working directory of the run; flags and source paths are
    /// relative to the latter.
    root: PathBuf,
    paths: ProjectPaths,
    programs: Vec<TestProgram>,
}

/// Writes the build files for the suites in a directory, if there are any. Returns the files that were kept because
/// they are foreign or edited.
pub fn write_build_files(
    dir: &Path,
    module: &Module,
    target: &Build,
    form: CTestForm,
) -> Result<Vec<PathBuf>, EmitError> {
    let Ok(place) = dir.canonicalize() else { return Ok(Vec::new()) };
    let here = Path::new(".").canonicalize().map_err(EmitError::io(Path::new(".")))?;
    let programs = programs(&place, target)?;
    if programs.is_empty() {
        return Ok(Vec::new());
    }
    let project = Project {
        form,
        target,
        module,
        root: relative_path(&here, &place),
        paths: ProjectPaths::of(dir, target),
        programs,
    };
    let mut stay = Vec::new();
    for (name, text) in [("CMakeLists.txt", project.cmake()), ("touchstone.mk", project.make())] {
        let path = dir.join(name);
        let text = with_valid_checksum(&text);
        match fs::read(&path) {
            Ok(old) if old == text.as_bytes() => {}
            Ok(old) if has_valid_checksum(&old) != Some(true) => stay.push(path),
            _ => touchstone_base::write_beside(&path, text).map_err(EmitError::io(&path))?,
        }
    }
    Ok(stay)
}

/// Returns the test programs of a directory that belong to the program.
fn programs(dir: &Path, target: &Build) -> Result<Vec<TestProgram>, EmitError> {
    let mut names: Vec<PathBuf> =
        fs::read_dir(dir).map_err(EmitError::io(dir))?.flatten().map(|entry| entry.path()).collect();
    names.sort();
    let mut found = Vec::new();
    for path in names {
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".c")) else { continue };
        if !name.starts_with("test_") {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path).map_err(EmitError::io(&path))?).into_owned();
        let source = text.lines().find_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
        let source = source.and_then(|source| dir.join(source).canonicalize().ok());
        let unit = target.units.iter().position(|unit| unit.path.canonicalize().ok() == source && source.is_some());
        if let Some(unit) = unit.filter(|_| text.contains("void test_")) {
            found.push(TestProgram { name: name.to_string(), unit });
        }
    }
    Ok(found)
}

/// The flags that every unit is compiled with, whatever its own flags are, to match the model's semantics.
const SEMANTIC_FLAGS: [&str; 2] = ["-fwrapv", "-fno-strict-aliasing"];

impl Project<'_> {
    /// Returns the units that a test program does not include.
    fn others(&self, own: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.target.units.len()).filter(move |unit| *unit != own)
    }

    fn needs_units(&self) -> bool {
        self.target.units.len() > 1
    }

    /// Returns the compiler flags of a unit, without those for the linker.
    fn flags(&self, unit: usize) -> Vec<String> {
        let mut flags = Vec::new();
        let mut is_path = false;
        for flag in self.paths.flags(&self.target.units[unit].flags).iter().filter(|flag| !flag.starts_with("-l")) {
            let joined =
                DIRECTORY_OPTIONS.iter().find(|option| flag.len() > option.len() && flag.starts_with(**option));
            flags.push(match joined {
                _ if is_path => rooted(flag),
                Some(option) => format!("{option}{}", rooted(&flag[option.len()..])),
                None => flag.clone(),
            });
            is_path = takes_path(flag);
        }
        flags.extend(SEMANTIC_FLAGS.map(str::to_string));
        if self.target.defines_main(self.module, unit) {
            flags.push(RENAMED_MAIN_MARK.to_string());
        }
        flags
    }

    fn libraries(&self) -> Vec<&str> {
        let flags = self.target.units.iter().flat_map(|unit| &unit.flags);
        let mut found: Vec<&str> = flags.map(String::as_str).filter(|flag| flag.starts_with("-l")).collect();
        found.sort_unstable();
        found.dedup();
        found.push("-lm");
        found
    }

    fn cmake(&self) -> String {
        let quoted = |text: &str| {
            format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace(ROOT_MARK, "${ROOT}"))
        };
        let list = |words: &[String]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let languages = if self.form == CTestForm::Gtest { "C CXX" } else { "C" };
        let mut text = format!(
            "# Builds and runs the tests in this directory:\n#     cmake -B build && cmake --build build && ctest --test-dir build\n{}\
             cmake_minimum_required(VERSION 3.13)\nproject(touchstone_tests {languages})\nenable_testing()\n\n\
             # The directory where Touchstone ran; paths are relative to it.\nset(ROOT \"${{CMAKE_CURRENT_SOURCE_DIR}}/{}\")\n\n{}",
            checksum_line_of_makefile(),
            self.root.display(),
            self.framework_of_cmake()
        );
        if self.needs_units() {
            text.push_str("\n# The program's files; those that a test includes are not linked with it.\n");
            for (index, unit) in self.target.units.iter().enumerate() {
                let path = quoted(&rooted(&self.paths.path(&unit.path.display().to_string())));
                let mut flags = self.flags(index);
                if flags.last().is_some_and(|flag| flag == RENAMED_MAIN_MARK) {
                    flags.push("-Dmain=touchstone_program_main".to_string());
                }
                flags.retain(|flag| flag != RENAMED_MAIN_MARK);
                text.push_str(&format!("add_library(unit_{index} OBJECT {path})\n"));
                text.push_str(&format!("target_compile_options(unit_{index} PRIVATE {})\n", list(&flags)));
            }
        }
        text.push_str("\nfunction(suite NAME)\n    add_executable(${NAME} ${ARGN} ${FRAMEWORK_SOURCES})\n");
        text.push_str(
            "    target_include_directories(${NAME} PRIVATE \"${CMAKE_CURRENT_SOURCE_DIR}\" ${FRAMEWORK_INCLUDES})\n",
        );
        text.push_str(&format!(
            "    target_link_libraries(${{NAME}} PRIVATE ${{FRAMEWORK_LIBRARIES}} {})\n",
            self.libraries().join(" ")
        ));
        text.push_str("    add_test(NAME ${NAME} COMMAND ${NAME})\nendfunction()\n\n");
        for program in &self.programs {
            let name = &program.name;
            let registry = if self.form == CTestForm::Gtest { format!(" {name}.cc") } else { String::new() };
            let others: String =
                self.others(program.unit).map(|unit| format!(" $<TARGET_OBJECTS:unit_{unit}>")).collect();
            text.push_str(&format!("suite({name} {name}.c{registry}{others})\n"));
            let mut flags = self.flags(program.unit);
            flags.retain(|flag| flag != RENAMED_MAIN_MARK);
            let flags: Vec<String> =
                flags.iter().map(|flag| quoted(&format!("$<$<COMPILE_LANGUAGE:C>:{flag}>"))).collect();
            text.push_str(&format!("target_compile_options({name} PRIVATE {})\n", flags.join(" ")));
        }
        text
    }

    fn framework_of_cmake(&self) -> &'static str {
        match self.form {
            CTestForm::Touchstone => "set(FRAMEWORK_SOURCES touchstone_test.c)\n",
            CTestForm::Unity => {
                "# Unity's directory src: -DUNITY_DIR=… or the environment variable.\n\
                 find_path(UNITY_PATH unity.h HINTS \"${UNITY_DIR}\" \"$ENV{UNITY_DIR}\" PATH_SUFFIXES src unity)\n\
                 find_file(UNITY_SOURCE unity.c HINTS \"${UNITY_DIR}\" \"$ENV{UNITY_DIR}\" PATH_SUFFIXES src unity)\n\
                 if(NOT UNITY_PATH OR NOT UNITY_SOURCE)\n    \
                 message(FATAL_ERROR \"Unity is not found: give the directory that has unity.c by -DUNITY_DIR=…\")\nendif()\n\
                 add_compile_definitions(UNITY_INCLUDE_DOUBLE)\nset(FRAMEWORK_SOURCES \"${UNITY_SOURCE}\")\n\
                 set(FRAMEWORK_INCLUDES \"${UNITY_PATH}\")\n"
            }
            CTestForm::Cmocka => {
                "# cmocka, where it is installed, or -DCMOCKA_DIR=…\n\
                 find_path(CMOCKA_PATH cmocka.h HINTS \"${CMOCKA_DIR}\" PATH_SUFFIXES include)\n\
                 find_library(CMOCKA_LIBRARY cmocka HINTS \"${CMOCKA_DIR}\" PATH_SUFFIXES lib)\n\
                 if(NOT CMOCKA_PATH OR NOT CMOCKA_LIBRARY)\n    \
                 message(FATAL_ERROR \"cmocka is not found: install it, or give its directory by -DCMOCKA_DIR=…\")\nendif()\n\
                 set(FRAMEWORK_INCLUDES \"${CMOCKA_PATH}\")\nset(FRAMEWORK_LIBRARIES \"${CMOCKA_LIBRARY}\")\n"
            }
            CTestForm::Gtest => {
                "find_package(GTest REQUIRED)\nset(FRAMEWORK_SOURCES touchstone_gtest.cc)\n\
                 set(FRAMEWORK_LIBRARIES GTest::GTest GTest::Main)\nset(CMAKE_CXX_STANDARD 14)\n"
            }
        }
    }

    fn make(&self) -> String {
        let quoted = |text: &str| {
            let plain = |char: char| char.is_ascii_alphanumeric() || "-_./=+:,@%".contains(char);
            let text = text.replace(&format!("{ROOT_MARK}/"), "");
            let word = if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) };
            word.replace('$', "$$")
        };
        let list = |words: &[String]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let (prepare, compile, link) = self.framework_of_make();
        let mut text = format!(
            "# Builds and runs the tests in this directory: make -f touchstone.mk, or include this and make touchstone-check.\n{}\
             TOUCHSTONE_TESTS := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))\n\
             # The directory where Touchstone ran; paths are relative to it.\nTOUCHSTONE_ROOT := $(abspath $(TOUCHSTONE_TESTS)/{})\n\
             TOUCHSTONE_BUILD ?= $(TOUCHSTONE_TESTS)/build\n{prepare}\n.PHONY: touchstone-check\ntouchstone-check:\n",
            checksum_line_of_makefile(),
            self.root.display(),
        );
        let units = |own: usize| -> String {
            self.others(own).map(|unit| format!(" $(TOUCHSTONE_BUILD)/unit_{unit}.o")).collect()
        };
        for (index, unit) in self.target.units.iter().enumerate().filter(|_| self.needs_units()) {
            let mut flags = self.flags(index);
            if flags.last().is_some_and(|flag| flag == RENAMED_MAIN_MARK) {
                flags.push("-Dmain=touchstone_program_main".to_string());
            }
            flags.retain(|flag| flag != RENAMED_MAIN_MARK);
            let path = quoted(&self.paths.path(&unit.path.display().to_string()));
            text.push_str(&format!(
                "\n$(TOUCHSTONE_BUILD)/unit_{index}.o:\n\t@mkdir -p $(TOUCHSTONE_BUILD)\n\tcd $(TOUCHSTONE_ROOT) && $(CC) {} -c {path} -o $@\n\
                 .PHONY: $(TOUCHSTONE_BUILD)/unit_{index}.o\n",
                list(&flags)
            ));
        }
        for program in &self.programs {
            let name = &program.name;
            let mut flags = self.flags(program.unit);
            flags.retain(|flag| flag != RENAMED_MAIN_MARK);
            let registry = match self.form {
                CTestForm::Gtest => format!(
                    "\tcd $(TOUCHSTONE_TESTS) && $(CXX) -c {name}.cc -o $(TOUCHSTONE_BUILD)/{name}.cc.o\n\
                     \tcd $(TOUCHSTONE_TESTS) && $(CXX) -c touchstone_gtest.cc -o $(TOUCHSTONE_BUILD)/touchstone_gtest.o\n"
                ),
                _ => String::new(),
            };
            let (linker, objects) = match self.form {
                CTestForm::Gtest => {
                    ("$(CXX)", format!(" $(TOUCHSTONE_BUILD)/{name}.cc.o $(TOUCHSTONE_BUILD)/touchstone_gtest.o"))
                }
                _ => ("$(CC)", String::new()),
            };
            let units = units(program.unit);
            text.push_str(&format!(
                "\n.PHONY: run-{name}\ntouchstone-check: run-{name}\nrun-{name}:{units}\n\t@mkdir -p $(TOUCHSTONE_BUILD)\n\
                 \tcd $(TOUCHSTONE_ROOT) && $(CC) {}{compile} -c $(TOUCHSTONE_TESTS)/{name}.c -o $(TOUCHSTONE_BUILD)/{name}.o\n{registry}\
                 \t{linker} $(TOUCHSTONE_BUILD)/{name}.o{objects}{units}{link} {} -o $(TOUCHSTONE_BUILD)/{name}\n\t$(TOUCHSTONE_BUILD)/{name}\n",
                list(&flags),
                self.libraries().join(" "),
            ));
        }
        text
    }

    /// Returns lines for the top, flags that compile a suite, and flags that link it.
    fn framework_of_make(&self) -> (&'static str, &'static str, &'static str) {
        match self.form {
            CTestForm::Touchstone => ("", "", " $(TOUCHSTONE_TESTS)/touchstone_test.c"),
            CTestForm::Unity => (
                "ifndef UNITY_DIR\n$(error give the directory that has unity.c: make UNITY_DIR=…)\nendif\n\
                 override UNITY_DIR := $(abspath $(UNITY_DIR))\n",
                " -DUNITY_INCLUDE_DOUBLE -I$(UNITY_DIR)",
                " -DUNITY_INCLUDE_DOUBLE -I$(UNITY_DIR) $(UNITY_DIR)/unity.c",
            ),
            CTestForm::Cmocka => {
                ("CMOCKA_CFLAGS ?=\nCMOCKA_LIBS ?= -lcmocka\n", " $(CMOCKA_CFLAGS)", " $(CMOCKA_LIBS)")
            }
            CTestForm::Gtest => ("", "", " -lgtest -lgtest_main -pthread"),
        }
    }
}

/// Marks a unit with the program's `main`, which must be renamed.
const RENAMED_MAIN_MARK: &str = "\u{3}";
/// A placeholder for the working directory of the run.
const ROOT_MARK: &str = "\u{4}";

/// Returns a path relative to the working directory of the run, with the placeholder.
fn rooted(path: &str) -> String {
    if Path::new(path).is_absolute() { path.to_string() } else { format!("{ROOT_MARK}/{path}") }
}
