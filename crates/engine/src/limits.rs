//! The budget of a run: how it begins, and the errors when it is exceeded.
//!
//! The account itself is `ytterby_text::budget`, to which all work of a run is charged.

use ytterby_diag::Failure;
pub(crate) use ytterby_diag::limits::{caught, within, working_at};
use ytterby_text::budget::{self, BudgetGuard};

use crate::api::{MAX_STEPS, Options, Rendered};

/// Opens the budget of the options.
pub(crate) fn begin(options: &Options) -> BudgetGuard {
    let mut limits = options.limits;
    if options.meter.is_none() {
        limits.steps.get_or_insert(MAX_STEPS);
    }
    budget::begin(limits, options.cancellation.clone(), options.meter.clone())
}

/// Charges the output of a run.
pub(crate) fn charge_output(rendered: Rendered) -> Result<Rendered, Failure> {
    budget::output(rendered.documents.len())?;
    for file in &rendered.files {
        let failed = |exceeded| Failure::from(exceeded).doing(format!("Writing file '{}'", file.path));
        budget::output(file.bytes.len()).map_err(failed)?;
    }
    Ok(rendered)
}
