pub(crate) mod check_class;
pub(crate) mod emit_checks;
pub(crate) mod emit_predicates;
pub(crate) mod frame_types;
pub(crate) mod predicate_class;
pub(crate) mod predicate_plan;
pub(crate) mod value_checks;
