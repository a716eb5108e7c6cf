//! Why something gets no probe or no label: files, functions, single objectives, and state.
//!
//! Records on disk keep the reason itself, so that whoever reads them has its word and its sentence. What compilers and
//! other tools said is data.

use serde::{Deserialize, Serialize};

/// Set for the programs that run: the most events of one of them.
pub const EVENT_LIMIT_VARIABLE: &str = "TOUCHSTONE_STATE_EVENTS";

touchstone_base::reasons! {
    /// Why something is not measured, or has no label.
    #[derive(Clone, PartialEq, Eq, Debug, thiserror::Error, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ProbeObstacle {
        // Files.
        /// A source in another language.
        #[error("only C sources get probes")]
        "only_c" => OnlyC,
        /// The source is no file.
        #[error("the source comes from standard input")]
        "from_standard_input" => FromStandardInput,
        /// A file of arguments that could not be read.
        #[error("it reads arguments from {0}")]
        "arguments_from_file" => ArgumentsFromFile(String),
        /// An argument that is no text.
        #[error("an argument of its compiler is not UTF-8")]
        "argument_not_utf8" => ArgumentNotUtf8,
        /// The source is no text.
        #[error("it is not UTF-8")]
        "not_utf8" => NotUtf8,
        /// The compiler does not preprocess it.
        #[error("the compiler's preprocessor fails on it")]
        "not_preprocessed" => NotPreprocessed,
        /// The front end does not take it, and its first words.
        #[error("{0}")]
        "not_read" => NotRead(String),
        /// A file or a program could not be used, and what the system said.
        #[error("{0}")]
        "system" => System(String),
        /// The compiler takes it as it is, and not with probes; and what it said.
        #[error("the compiler refuses it with probes: {0}")]
        "compiler_refuses" => CompilerRefuses(String),
        /// The same of probes for errors.
        #[error("the compiler refuses it with probes for errors: {0}")]
        "compiler_refuses_errors" => CompilerRefusesErrors(String),
        /// The same of probes for state.
        #[error("the compiler refuses it with probes for state: {0}")]
        "compiler_refuses_state" => CompilerRefusesState(String),
        /// The compiler does not take what writes hits, and what it said.
        #[error("the runtime does not compile: {0}")]
        "runtime_does_not_compile" => RuntimeDoesNotCompile(String),
        /// More places that change state than can be numbered.
        #[error("it has too many places")]
        "too_many_places" => TooManyPlaces,
        /// One at a time.
        #[error("errors are not measured together with state")]
        "errors_with_state" => ErrorsWithState,

        /// What a test did does not fit into its trace: the test.
        #[error("bound: {EVENT_LIMIT_VARIABLE} in test {0}")]
        "state_events" => CutOff(String),
        /// Tests ran at the same time, and what threads did that belong to none of them may have been for any: the test.
        #[error("beside test {0} threads worked of which nobody knows for which test they did")]
        "state_beside" => Beside(String),
        /// Without assertions nothing is checked.
        #[error(
            "no assertion is known in any test; name yours with --assertion NAME, or --assertion main for what main \
             returns"
        )]
        "no_assertion" => NoAssertion,

        // Functions.
        /// Two preprocessors, two programs.
        #[error("the compiler's preprocessor and clang's see different code")]
        "different_code" => DifferentCode,
        /// A naked function. gcc would take probes, and they would be all that saves no registers.
        #[error("it is naked: nothing may stand in it but assembly")]
        "naked" => Naked,
        /// The function is somewhere else.
        #[error("the function's body is not in the text")]
        "no_body" => NoBody,
        /// Its statements can't be told apart.
        #[error("the function's statements are not understood")]
        "statements_not_understood" => StatementsNotUnderstood,
        /// Its statements are not in the text.
        #[error("macros or directives hide the function's statements")]
        "statements_hidden" => StatementsHidden,

        // Places.
        /// Another file has it.
        #[error("it stands in {0}")]
        "other_file" => OtherFile(String),
        /// Nobody knows where it stands.
        #[error("it has no place in the text")]
        "no_place" => NoPlace,
        /// A statement that is not a statement of the text.
        #[error("a macro or an expression contains the statement")]
        "statement_inside" => StatementInside,
        /// Nothing that could be put in brackets.
        #[error("it is not an expression")]
        "no_expression" => NoExpression,
        /// An initialiser, or a part of the function's head.
        #[error("it is not an expression of the function's body")]
        "outside_of_body" => OutsideOfBody,
        /// Its ends are not in the text.
        #[error("a directive or a macro is around it")]
        "directive_around" => DirectiveAround,
        /// An argument may be evaluated in any way, or not be an expression.
        #[error("it stands in an argument of `{0}`, which may be a macro")]
        "macro_argument" => MacroArgument(String),
        /// The statement is a macro's.
        #[error("a macro makes the statement that it stands in")]
        "macro_statement" => MacroStatement,
        /// One text, several evaluations.
        #[error("a macro evaluates it more than once")]
        "macro_evaluates_twice" => MacroEvaluatesTwice,
        /// A macro that must be evaluated once.
        #[error("a macro with an effect contains it")]
        "macro_with_effect" => MacroWithEffect,
        /// One text, several decisions and this.
        #[error("a macro contains it and several decisions")]
        "macro_with_decisions" => MacroWithDecisions,
        /// One text, several decisions.
        #[error("a macro makes several decisions there")]
        "macro_of_decisions" => MacroOfDecisions,
        /// One text, several conditions.
        #[error("a macro makes several conditions there")]
        "macro_of_conditions" => MacroOfConditions,

        // Decisions and switches.
        /// More combinations than are told apart.
        #[error("it stands for too many combinations")]
        "too_many_combinations" => TooManyCombinations,
        /// More rows than are told apart.
        #[error("the decision has too many rows to be told apart")]
        "too_many_rows" => TooManyRows,
        /// More conditions than fit into a predicate.
        #[error("the decision has too many conditions to be written out")]
        "too_many_conditions" => TooManyConditions,
        /// An expression that is nested too deep for a predicate.
        #[error("the expression is nested too deep to be written out")]
        "too_deep" => TooDeep,
        /// What can't be evaluated twice.
        #[error("`{0}` has an effect, or may have one")]
        "effect" => Effect(String),
        /// What can't be evaluated twice, or not be written.
        #[error("`{0}` has an effect, or can't be written as a predicate")]
        "no_predicate" => NoPredicate(String),
        /// A constant that no statement asks for by itself.
        #[error("it is a constant in the middle of an expression")]
        "constant_in_expression" => ConstantInExpression,
        /// A constant whose statement is not found.
        #[error("it is a constant in the middle of a statement")]
        "constant_in_statement" => ConstantInStatement,
        /// The text has no such switch.
        #[error("the switch was not found in the text")]
        "switch_not_found" => SwitchNotFound,
        /// The switch is a macro's.
        #[error("a macro makes the switch")]
        "macro_switch" => MacroSwitch,
        /// A switch with one statement.
        #[error("the switch has no braces")]
        "switch_without_braces" => SwitchWithoutBraces,
        /// What a switch asks can't be asked before it.
        #[error("the switch's value has an effect, or can't be written")]
        "switch_value" => SwitchValue,
        /// The text of a switch is not well formed.
        #[error("its brackets don't match")]
        "brackets" => Brackets,
        /// The same of its head.
        #[error("its parentheses don't match")]
        "parentheses" => Parentheses,
        /// Labels are not where they are expected.
        #[error("its case labels are not understood")]
        "case_labels" => CaseLabels,
        /// One of them is missing.
        #[error("its case label was not found")]
        "case_label_not_found" => CaseLabelNotFound,

        // What can't be said by a predicate.
        /// Independence is no predicate over one place.
        #[error("it relates evaluations to each other, and a label speaks of one state of one run")]
        "independence" => Independence,
        /// State is no predicate over one place.
        #[error("it relates what a test changes to what the test asserts")]
        "state" => State,
        /// Neither is a path.
        #[error("a label is a place, and a path is not")]
        "path" => Path,
        /// The search's own goals.
        #[error("it is a wish of the search, no objective")]
        "wish" => Wish,
        /// After an error there is nothing more to be said.
        #[error("it is an error that ends the run, not a predicate")]
        "error" => Error,
        /// `NULL` must stay a constant.
        #[error("a null pointer constant can't be part of a comma expression")]
        "null_constant" => NullConstant,
        /// A predicate must not read what the program leaves alone.
        #[error("it reads memory that the program does not read here")]
        "reads_more" => ReadsMore,
        /// The same, on some paths.
        #[error("it reads memory that the program may not read here")]
        "may_read_more" => MayReadMore,
        /// An address that has no name.
        #[error("it has the address of something fixed")]
        "fixed_address" => FixedAddress,
        /// An address that has no name.
        #[error("it has the address of a literal")]
        "literal_address" => LiteralAddress,
        /// A float as a number of bits.
        #[error("it uses the bits of a float")]
        "float_bits" => FloatBits,
        /// A number of bits as a float.
        #[error("it reads an integer as the bits of a float")]
        "integer_as_float" => IntegerAsFloat,
        /// An infinity, or what is no number.
        #[error("it has a float that is not a number")]
        "float_no_number" => FloatNoNumber,
        /// An operation that C does not write.
        #[error("it has a float operation that C has no operator for")]
        "float_operation" => FloatOperation,
        /// An operation of nothing.
        #[error("it has a float operation without arguments")]
        "float_without_arguments" => FloatWithoutArguments,
        /// A value that the source gives no name.
        #[error("it uses a value that has no name in the source")]
        "no_name" => NoName,
        /// A variable that may not be there, or not have its value.
        #[error("`{0}` may be out of scope or without a value here")]
        "no_value" => NoValue(String),
        /// A variable that may not be there.
        #[error("`{0}` may be out of scope here")]
        "out_of_scope" => OutOfScope(String),
        /// A name that may mean another.
        #[error("a local variable may hide `{0}` here")]
        "hidden" => Hidden(String),

        // Run-time errors.
        /// What is made for the expression would end with the probe.
        #[error("a compound literal is in it, which would not live long enough")]
        "temporary" => Temporary,
        /// A probe would choose the order.
        #[error("both sides call something, in an order that is the compiler's")]
        "order_of_calls" => OrderOfCalls,
        /// A vector's elements have no addresses.
        #[error("it is a part of a vector")]
        "vector_part" => VectorPart,
        /// There is no place for what keeps the address.
        #[error("parentheses are around a bit-field")]
        "bit_field_in_parentheses" => BitFieldInParentheses,
        /// Which bytes were written is not kept.
        #[error("which memory was written is not recorded (valgrind does that)")]
        "written_memory" => WrittenMemory,
        /// Which objects live is not kept.
        #[error("whether an object is still alive is not recorded (AddressSanitizer does that)")]
        "living_objects" => LivingObjects,
        /// Where a pointer's object ends is not kept.
        #[error("where an object ends that a pointer leads to is not known (AddressSanitizer knows)")]
        "object_end" => ObjectEnd,
        /// The type says no size.
        #[error("the size of the object is not known here")]
        "object_size" => ObjectSize,
        /// The source has no expression for it.
        #[error("it is in what the compiler or the C library makes of this (a sanitizer sees it)")]
        "not_in_source" => NotInSource,

        // Java.
        /// No source was found for a class.
        #[error("no source of its class was found in the project")]
        "no_source" => NoSource,
        /// The code of a method is none, or older than what is read.
        #[error("its code can't be read, or has subroutines, as compilers made before Java 6")]
        "code_not_read" => CodeNotRead,
        /// A method may have so many bytes.
        #[error("its code would be too long with probes")]
        "code_too_long" => CodeTooLong,
        /// Stack maps, variables or annotations of a method.
        #[error("tables of its code are not understood")]
        "code_tables" => CodeTables,
        /// The jumps of a decision are not where they are expected.
        #[error("the compiler laid its conditions out so that evaluations can't be told apart")]
        "conditions_apart" => ConditionsApart,
        /// A statement that begins while an expression is evaluated.
        #[error("it begins inside of an expression, behind something that may throw")]
        "inside_of_expression" => InsideOfExpression,
        /// A field that a constructor sets before it calls another one.
        #[error("it may be about an object that no constructor has made yet")]
        "object_in_the_making" => ObjectInTheMaking,
        /// What is asked for is not where the JVM would let it be asked for.
        #[error("it uses a value that other code left on the stack, or that the JVM is not sure of here")]
        "value_elsewhere" => ValueElsewhere,
        /// Nobody asked for it: the source was not there when the class was loaded, or there were too many things to ask for.
        #[error(
            "the agent was not told to ask for it: when its class was loaded the source was not found or did not compile, or \
             there was too much to ask for"
        )]
        "not_planned" => NotPlanned,
        /// A criterion that has no probes in class files.
        #[error("this is not measured in Java programs yet")]
        "not_for_java" => NotForJava,

        /// A mistake of ours.
        #[error("internal: {0}")]
        "internal" => Internal(String),
    }
}

/// What the system said.
pub(crate) fn system(error: impl std::fmt::Display) -> ProbeObstacle {
    ProbeObstacle::System(error.to_string())
}
