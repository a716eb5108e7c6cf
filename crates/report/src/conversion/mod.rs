//! The conversion of a campaign to its document: the only code of this crate that reads programs and campaigns.
//!
//! `campaign_document.rs` converts the campaign, `decision_table.rs` truth tables, `value_text.rs` values and `call_text.rs`
//! calls; `supplements.rs` holds the parts of a document that are not in the campaign. `campaign_document.rs` and
//! `decision_table.rs` use each other: a document has truth tables, which have source ranges like objectives.

pub(crate) mod call_text;
pub(crate) mod campaign_document;
pub(crate) mod decision_table;
pub(crate) mod supplements;
pub(crate) mod value_text;
