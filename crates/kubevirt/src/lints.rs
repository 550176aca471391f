//! The table of what `lint` finds: the id, the severity and the meaning of each kind of mistake.
//!
//! A finding names its row, so an id that is not in the table cannot be reported. Reports contain
//! the ids and users search for them: a row may be added, but not renamed. `docs/kubevirt.md` lists
//! them; a test compares both.

use ytterby_diag::{Id, Severity};

macro_rules! lints {
    ($($lint:ident $id:literal $severity:ident $about:literal)*) => {
        /// A kind of mistake that `lint` finds.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum Lint { $(#[doc = $about] $lint),* }

        impl Lint {
            /// All kinds, sorted by id.
            pub const ALL: &[Lint] = &[$(Lint::$lint),*];

            /// Its id: `unknown-path`.
            pub fn id(self) -> &'static str {
                match self { $(Lint::$lint => $id),* }
            }

            /// Its severity: an error is a rule that cannot work as intended, a warning one that is
            /// probably too strict or too lax, a note one that the reference or CEL understands
            /// differently.
            pub fn severity(self) -> Severity {
                match self { $(Lint::$lint => Severity::$severity),* }
            }

            /// Its meaning, in one sentence.
            pub fn about(self) -> &'static str {
                match self { $(Lint::$lint => $about),* }
            }
        }
    };
}

lints! {
    AbbreviatedVm "abbreviated-vm" Note "The VM of the template is abbreviated, so the rules were not tried on it."
    BadPath "bad-path" Error "A path is not well-formed."
    BadRegex "bad-regex" Error "A regular expression does not compile."
    CatastrophicRegex "catastrophic-regex" Warning "A regular expression takes exponential time on some values."
    DuplicateName "duplicate-name" Error "Two rules have the same name."
    EmptyRange "empty-range" Error "No value is between `min` and `max`."
    MissingKey "missing-key" Error "A mandatory key of a rule is missing or empty."
    NoJsonpathPrefix "no-jsonpath-prefix" Error "A path does not begin with `jsonpath::`."
    NonPortable "non-portable" Note "A rule uses an extension that the reference refuses."
    NothingToCheck "nothing-to-check" Warning "The input contains no virtual machines and no templates."
    OwnVmInvalid "own-vm-invalid" Error "The VM of a template violates a rule of the template."
    PathRoot "path-root" Error "A path does not start at `.spec.template` of a VM."
    RegexDiffersInRe2 "regex-differs-in-re2" Note "RE2 (the reference, CEL) understands a regular expression differently."
    RegexNotRe2 "regex-not-re2" Note "RE2 (the reference, CEL) refuses a regular expression."
    RuleWithoutArguments "rule-without-arguments" Error "A rule has no arguments, so it requires nothing or allows nothing."
    SeveralExpressions "several-expressions" Note "A path consists of several expressions."
    TypographicQuotes "typographic-quotes" Error "An annotation contains typographic quotes where JSON requires straight ones."
    UnknownKey "unknown-key" Warning "A key of a rule is unknown, and ignored."
    UnknownPath "unknown-path" Error "A path names a field that VMs do not have."
    UnknownRuleKind "unknown-rule-kind" Warning "A kind of rule is unknown, and the rule is ignored."
    Unreadable "unreadable" Error "A file or an annotation cannot be parsed."
    UnusedArgument "unused-argument" Warning "An argument has no meaning for this kind of rule."
    ValidInReference "valid-in-reference" Note "The reference evaluates the rule even if the field of `valid` is absent."
    ValidWithoutEffect "valid-without-effect" Warning "The field of `valid` exists in every VM, so `valid` has no effect."
    WrongKind "wrong-kind" Error "A kind of rule cannot be satisfied by values of the field."
    WrongType "wrong-type" Error "A key of a rule has a value of the wrong type."
}

impl Lint {
    /// The id of its diagnostics.
    pub fn diagnostic_id(self) -> Id {
        if self.severity() == Severity::Error { Id::KUBEVIRT_RULE } else { Id::KUBEVIRT_LINT }
    }
}

#[cfg(test)]
mod tests {
    use super::Lint;

    #[test]
    fn ids_are_sorted_and_unique() {
        let ids: Vec<&str> = Lint::ALL.iter().map(|lint| lint.id()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
        assert!(Lint::ALL.iter().all(|lint| lint.about().ends_with('.')));
    }
}
