//! Values that break rules: the path, the position of the value, and each rule with what was found.

use crate::{Sources, ViolationBlock};

pub(super) fn write(out: &mut String, block: &ViolationBlock, sources: &Sources) {
    out.push_str("  ");
    out.push_str(&block.path.shown());
    super::push(out, &block.suffix, sources);
    out.push_str(&format!("\n    from: {}\n", sources.locate(block.from)));
    for violation in &block.violations {
        match &violation.message {
            Some(text) => {
                out.push_str("    - ");
                super::push(out, text, sources);
            }
            None => {
                out.push_str("    - must be: ");
                super::push(out, &violation.must_be, sources);
            }
        }
        out.push_str(&format!(" (by: {})\n", sources.locate(violation.by)));
        if violation.message.is_none() && !violation.found.is_empty() {
            out.push_str("      found: ");
            super::push(out, &violation.found, sources);
            out.push('\n');
        }
        for reason in &violation.reasons {
            out.push_str("        ");
            super::push(out, reason, sources);
            out.push('\n');
        }
    }
    out.push('\n');
}
