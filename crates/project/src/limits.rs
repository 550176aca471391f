//! `limits:` of a project and of its targets.

pub use ytterby_text::budget::Limits;

/// Merges limits: `own` takes precedence.
pub(crate) fn or(own: Limits, other: Limits) -> Limits {
    Limits {
        time: own.time.or(other.time),
        memory: own.memory.or(other.memory),
        steps: own.steps.or(other.steps),
        output: own.output.or(other.output),
        depth: own.depth.or(other.depth),
    }
}
