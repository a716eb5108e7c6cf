pub(crate) mod probe_layout;
pub(crate) mod probe_request;
