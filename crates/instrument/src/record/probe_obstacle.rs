//! Obstacles to probes and labels: of files, functions, single objectives, and of state coverage.
//!
//! Records on disk contain the obstacle itself, so that a reader has its word and its explanation. Messages of
//! compilers and other tools are data.

use serde::{Deserialize, Serialize};

/// The environment variable with the maximum number of events of a traced program.
pub const EVENT_LIMIT_VARIABLE: &str = "TOUCHSTONE_STATE_EVENTS";

touchstone_base::reasons! {
    /// The reason why something is not measured or has no label.
    #[derive(Clone, PartialEq, Eq, Debug, thiserror::Error, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ProbeObstacle {
        // Files.
        /// The source is in another language.
        #[error("only C sources get probes")]
        "only_c" => OnlyC,
        /// The source is no file.
        #[error("the source comes from standard input")]
        "from_standard_input" => FromStandardInput,
        /// A response file could not be read.
        #[error("it reads arguments from {0}")]
        "arguments_from_file" => ArgumentsFromFile(String),
        /// An argument is not valid UTF-8.
        #[error("an argument of its compiler is not UTF-8")]
        "argument_not_utf8" => ArgumentNotUtf8,
        /// The source is not valid UTF-8.
        #[error("it is not UTF-8")]
        "not_utf8" => NotUtf8,
        /// The compiler does not preprocess the source.
        #[error("the compiler's preprocessor fails on it")]
        "not_preprocessed" => NotPreprocessed,
        /// The front end rejects the source, with its message.
        #[error("{0}")]
        "not_read" => NotRead(String),
        /// A file or a program could not be used, with the message of the system.
        #[error("{0}")]
        "system" => System(String),
        /// The compiler accepts the source but not the instrumented text, with its message.
        #[error("the compiler refuses it with probes: {0}")]
        "compiler_refuses" => CompilerRefuses(String),
        /// The same for the probes of run-time errors.
        #[error("the compiler refuses it with probes for errors: {0}")]
        "compiler_refuses_errors" => CompilerRefusesErrors(String),
        /// The same for the probes of state coverage.
        #[error("the compiler refuses it with probes for state: {0}")]
        "compiler_refuses_state" => CompilerRefusesState(String),
        /// The compiler rejects the runtime, with its message.
        #[error("the runtime does not compile: {0}")]
        "runtime_does_not_compile" => RuntimeDoesNotCompile(String),
        /// The unit has more sites than can be numbered.
        #[error("it has too many places")]
        "too_many_places" => TooManyPlaces,
        /// Run-time errors and state coverage can't be measured in one run.
        #[error("errors are not measured together with state")]
        "errors_with_state" => ErrorsWithState,

        /// The trace of the named test is incomplete.
        #[error("bound: {EVENT_LIMIT_VARIABLE} in test {0}")]
        "state_events" => CutOff(String),
        /// Threads that belong to no known test ran concurrently with the named test.
        #[error("other threads that cannot be attributed to a test ran concurrently with test {0}")]
        "state_beside" => Beside(String),
        /// Without assertions no state is checked.
        #[error(
            "no assertion is known in any test; name yours with --assertion NAME, or --assertion main for what main \
             returns"
        )]
        "no_assertion" => NoAssertion,

        // Functions.
        /// The two preprocessors produce different programs.
        #[error("the compiler's preprocessor and clang's see different code")]
        "different_code" => DifferentCode,
        /// The function is naked. gcc would accept probes, which would overwrite registers that the function does not
        /// save.
        #[error("it is naked: its body may contain only assembly")]
        "naked" => Naked,
        /// The body of the function is elsewhere.
        #[error("the function's body is not in the text")]
        "no_body" => NoBody,
        /// The statements of the function can't be determined.
        #[error("the function's statements are not understood")]
        "statements_not_understood" => StatementsNotUnderstood,
        /// The statements of the function are not in the text.
        #[error("macros or directives hide the function's statements")]
        "statements_hidden" => StatementsHidden,
        /// A decision of a Java method has a condition that is compiled to something other than a jump.
        #[error("the decision `{0}` has no objectives: an operand is not compiled to a jump")]
        "decision_without_jumps" => DecisionWithoutJumps(String),

        // Positions.
        /// The objective is in another file.
        #[error("it is in {0}")]
        "other_file" => OtherFile(String),
        /// The objective has no source position.
        #[error("it has no place in the text")]
        "no_place" => NoPlace,
        /// The statement is no statement of the text.
        #[error("a macro or an expression contains the statement")]
        "statement_inside" => StatementInside,
        /// The objective is no expression that can be parenthesised.
        #[error("it is not an expression")]
        "no_expression" => NoExpression,
        /// The objective is in an initialiser or in the head of the function.
        #[error("it is not an expression of the function's body")]
        "outside_of_body" => OutsideOfBody,
        /// The ends of the expression are not in the text.
        #[error("a directive or a macro is around it")]
        "directive_around" => DirectiveAround,
        /// The argument of a possible macro, which may be evaluated in any way or not be an expression.
        #[error("it is in an argument of `{0}`, which may be a macro")]
        "macro_argument" => MacroArgument(String),
        /// A macro expands to the statement.
        #[error("a macro expands to the statement that contains it")]
        "macro_statement" => MacroStatement,
        /// One expression in the text is evaluated several times.
        #[error("a macro evaluates it more than once")]
        "macro_evaluates_twice" => MacroEvaluatesTwice,
        /// A macro with a side effect, which must be evaluated once.
        #[error("a macro with an effect contains it")]
        "macro_with_effect" => MacroWithEffect,
        /// One expression in the text contains several decisions and the objective.
        #[error("a macro contains it and several decisions")]
        "macro_with_decisions" => MacroWithDecisions,
        /// One expression in the text contains several decisions.
        #[error("a macro makes several decisions there")]
        "macro_of_decisions" => MacroOfDecisions,
        /// One expression in the text contains several conditions.
        #[error("a macro makes several conditions there")]
        "macro_of_conditions" => MacroOfConditions,

        // Decisions and switches.
        /// The decision has more combinations than are distinguished.
        #[error("it has too many combinations")]
        "too_many_combinations" => TooManyCombinations,
        /// The decision has more rows than are distinguished.
        #[error("the decision has too many rows to be distinguished")]
        "too_many_rows" => TooManyRows,
        /// A call in the decision may return twice, like `setjmp`, so the values of conditions can't be attributed to one
        /// evaluation.
        #[error("a call in the decision may return twice")]
        "returns_twice" => ReturnsTwice,
        /// The decision has more conditions than a predicate may contain.
        #[error("the decision has too many conditions to be written out")]
        "too_many_conditions" => TooManyConditions,
        /// The expression is nested too deeply for a predicate.
        #[error("the expression is nested too deep to be written out")]
        "too_deep" => TooDeep,
        /// The expression can't be evaluated twice.
        #[error("`{0}` has an effect, or may have one")]
        "effect" => Effect(String),
        /// The expression can't be evaluated twice, or can't be rendered.
        #[error("`{0}` has an effect, or can't be written as a predicate")]
        "no_predicate" => NoPredicate(String),
        /// The constant is not the condition of a statement.
        #[error("it is a constant in the middle of an expression")]
        "constant_in_expression" => ConstantInExpression,
        /// The statement of the constant is not found.
        #[error("it is a constant in the middle of a statement")]
        "constant_in_statement" => ConstantInStatement,
        /// The text does not contain the switch.
        #[error("the switch was not found in the text")]
        "switch_not_found" => SwitchNotFound,
        /// A macro expands to the switch.
        #[error("a macro makes the switch")]
        "macro_switch" => MacroSwitch,
        /// The body of the switch is a single statement.
        #[error("the switch has no braces")]
        "switch_without_braces" => SwitchWithoutBraces,
        /// The value of the switch can't be evaluated before it.
        #[error("the switch's value has an effect, or can't be written")]
        "switch_value" => SwitchValue,
        /// The brackets of the switch don't match.
        #[error("its brackets don't match")]
        "brackets" => Brackets,
        /// The parentheses of its head don't match.
        #[error("its parentheses don't match")]
        "parentheses" => Parentheses,
        /// The case labels are not at the expected positions.
        #[error("its case labels are not understood")]
        "case_labels" => CaseLabels,
        /// A case label is missing.
        #[error("its case label was not found")]
        "case_label_not_found" => CaseLabelNotFound,

        // Objectives that are no predicate.
        /// Independence is no predicate over one state.
        #[error("it relates evaluations to each other, and a label speaks of one state of one run")]
        "independence" => Independence,
        /// State coverage is no predicate over one state.
        #[error("it relates what a test changes to what the test asserts")]
        "state" => State,
        /// A path is no predicate over one state.
        #[error("a label is a place, and a path is not")]
        "path" => Path,
        /// A goal of the search that is no objective.
        #[error("it is a wish of the search, no objective")]
        "wish" => Wish,
        /// A run ends with the error, so there is no state to evaluate.
        #[error("it is an error that ends the run, not a predicate")]
        "error" => Error,
        /// `NULL` must stay a constant expression.
        #[error("a null pointer constant can't be part of a comma expression")]
        "null_constant" => NullConstant,
        /// The predicate would read memory that the program does not read.
        #[error("it reads memory that the program does not read here")]
        "reads_more" => ReadsMore,
        /// The same, on some paths.
        #[error("it reads memory that the program may not read here")]
        "may_read_more" => MayReadMore,
        /// An address without a name.
        #[error("it has the address of something fixed")]
        "fixed_address" => FixedAddress,
        /// The address of a literal, which has no name.
        #[error("it has the address of a literal")]
        "literal_address" => LiteralAddress,
        /// A float is used as bits.
        #[error("it uses the bits of a float")]
        "float_bits" => FloatBits,
        /// Bits are used as a float.
        #[error("it reads an integer as the bits of a float")]
        "integer_as_float" => IntegerAsFloat,
        /// An infinity or a NaN.
        #[error("it has a float that is not a number")]
        "float_no_number" => FloatNoNumber,
        /// An operation without a C operator.
        #[error("it has a float operation that C has no operator for")]
        "float_operation" => FloatOperation,
        /// An operation without operands.
        #[error("it has a float operation without arguments")]
        "float_without_arguments" => FloatWithoutArguments,
        /// A value without a name in the source.
        #[error("it uses a value that has no name in the source")]
        "no_name" => NoName,
        /// A variable that may be out of scope or uninitialised.
        #[error("`{0}` may be out of scope or without a value here")]
        "no_value" => NoValue(String),
        /// A variable that may be out of scope.
        #[error("`{0}` may be out of scope here")]
        "out_of_scope" => OutOfScope(String),
        /// A name that a local variable may hide.
        #[error("a local variable may hide `{0}` here")]
        "hidden" => Hidden(String),

        // Run-time errors.
        /// The lifetime of a temporary object would end with the probe.
        #[error("a compound literal is in it, which would not live long enough")]
        "temporary" => Temporary,
        /// The probe would fix an evaluation order that is unspecified.
        #[error("both sides call something, in an order that is the compiler's")]
        "order_of_calls" => OrderOfCalls,
        /// Elements of a vector have no addresses.
        #[error("it is a part of a vector")]
        "vector_part" => VectorPart,
        /// There is no position for the variable that holds the address.
        #[error("parentheses are around a bit-field")]
        "bit_field_in_parentheses" => BitFieldInParentheses,
        /// Initialised bytes are not recorded.
        #[error("which memory was written is not recorded (valgrind does that)")]
        "written_memory" => WrittenMemory,
        /// Lifetimes of objects are not recorded.
        #[error("whether an object is still alive is not recorded (AddressSanitizer does that)")]
        "living_objects" => LivingObjects,
        /// The bounds of a pointee are not recorded.
        #[error("the end of the pointee is not known (use AddressSanitizer)")]
        "object_end" => ObjectEnd,
        /// The type has no known size.
        #[error("the size of the object is not known here")]
        "object_size" => ObjectSize,
        /// The source contains no expression for the operation.
        #[error("it is in what the compiler or the C library makes of this (a sanitizer sees it)")]
        "not_in_source" => NotInSource,

        // Java.
        /// No source was found for the class.
        #[error("no source of its class was found in the project")]
        "no_source" => NoSource,
        /// The method has no code, or has subroutines of old compilers.
        #[error("its code can't be read, or has subroutines, as compilers made before Java 6")]
        "code_not_read" => CodeNotRead,
        /// The instrumented code would exceed the maximum length of a method.
        #[error("its code would be too long with probes")]
        "code_too_long" => CodeTooLong,
        /// The stack maps, variables or annotations of the method can't be parsed.
        #[error("tables of its code are not understood")]
        "code_tables" => CodeTables,
        /// The jumps of the decision are not in the expected order.
        #[error("the compiler laid out its conditions so that evaluations cannot be distinguished")]
        "conditions_apart" => ConditionsApart,
        /// The statement begins while an expression is evaluated.
        #[error("it begins inside an expression, after an operation that may throw")]
        "inside_of_expression" => InsideOfExpression,
        /// A constructor writes the field before it calls another constructor.
        #[error("it may concern an object that is not initialised yet")]
        "object_in_the_making" => ObjectInTheMaking,
        /// The value is not in a local variable or on the operand stack at a position that the JVM accepts.
        #[error("it uses a value that other code left on the stack, or that the JVM is not sure of here")]
        "value_elsewhere" => ValueElsewhere,
        /// The plan did not contain the predicate: the source was missing when the class was loaded, or the plan was
        /// too large.
        #[error(
            "the agent was not told to ask for it: when its class was loaded the source was not found or did not compile, or \
             there was too much to ask for"
        )]
        "not_planned" => NotPlanned,
        /// The criterion has no probes in class files.
        #[error("this is not measured in Java programs yet")]
        "not_for_java" => NotForJava,

        /// A defect of this program.
        #[error("internal: {0}")]
        "internal" => Internal(String),
    }
}

/// Returns the obstacle for an error of the system.
pub(crate) fn system(error: impl std::fmt::Display) -> ProbeObstacle {
    ProbeObstacle::System(error.to_string())
}
