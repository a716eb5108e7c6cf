//! The request for a campaign as plain data, and what accompanies it: options files, notices for users, the output
//! directory.

mod bounds;
mod campaign_request;
mod growth_limits;
mod notice;
mod old_version;
mod options_file;
mod out_dir;
mod source_files;
mod test_stem;

pub use bounds::{BadBounds, parse_bounds};
pub use campaign_request::{
    CacheLocation, Compilation, Effort, HeapChoice, InputAssumptions, ObjectiveScope, Purpose, Regeneration,
    ReplayMode, Request, Subject, TestDestination, TestForm, UnneededTests,
};
pub(crate) use growth_limits::{GrowthLimits, ObjectLimit};
pub use notice::Notice;
pub use old_version::OldVersion;
pub(crate) use options_file::OptionsFile;
pub use options_file::{OptionsFileError, nearest_name, options_file_near, options_file_reading};
pub(crate) use out_dir::check_file;
pub use out_dir::{CAMPAIGN, CAMPAIGN_HISTORY, MEASUREMENT, MEASUREMENT_HISTORY, OutDir, OutDirError};
pub(crate) use source_files::{index_of, same_file};
pub(crate) use test_stem::stem;
