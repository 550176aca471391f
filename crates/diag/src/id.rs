//! The ids of all problems, in one table.
//!
//! An id is stable: users write it into `--ignore` and CI filters, and `docs/errors.md` has a
//! section for each. A test in `render::help` checks that page and table agree.

use std::fmt;

use ytterby_text::budget::Limit;

/// The category of a problem: the `kind` of the JSON rendering.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// A value has another type than the schema declares.
    Type,
    /// The schema does not declare a key.
    UnknownKey,
    /// A required value is missing.
    Required,
    /// A value was given for a key that the schema removed.
    Removed,
    /// A data value breaks a rule.
    Validation,
    /// An output document breaks a rule.
    Output,
    /// The schema itself is wrong.
    Schema,
    /// An annotation is unknown, repeated or misplaced.
    Annotation,
    /// A deprecated value was given.
    Deprecated,
    /// Anything else.
    Other,
}

impl DiagnosticKind {
    /// Its name in machine-readable renderings.
    pub fn name(self) -> &'static str {
        match self {
            DiagnosticKind::Type => "type",
            DiagnosticKind::UnknownKey => "unknown-key",
            DiagnosticKind::Required => "required",
            DiagnosticKind::Removed => "removed",
            DiagnosticKind::Validation => "validation",
            DiagnosticKind::Output => "output",
            DiagnosticKind::Schema => "schema",
            DiagnosticKind::Annotation => "annotation",
            DiagnosticKind::Deprecated => "deprecated",
            DiagnosticKind::Other => "other",
        }
    }
}

/// The name of one kind of problem: `schema/type`.
#[derive(Clone, Copy)]
pub struct Id(&'static IdRow);

/// One row of the table.
#[derive(Debug)]
struct IdRow {
    name: &'static str,
    kind: DiagnosticKind,
    title: &'static str,
}

impl Id {
    /// The id with this name, if there is one.
    pub fn find(name: &str) -> Option<Id> {
        ALL.iter().copied().find(|id| id.name() == name)
    }

    /// The id of a limit.
    pub fn of_limit(limit: Limit) -> Id {
        match limit {
            Limit::Depth => Id::LIMIT_DEPTH,
            Limit::Memory => Id::LIMIT_MEMORY,
            Limit::Output => Id::LIMIT_OUTPUT,
            Limit::Steps => Id::LIMIT_STEPS,
            Limit::Time => Id::LIMIT_TIME,
        }
    }

    /// The limit it reports, if any.
    pub fn limit(self) -> Option<Limit> {
        let limits = [Limit::Depth, Limit::Memory, Limit::Output, Limit::Steps, Limit::Time];
        limits.into_iter().find(|limit| Id::of_limit(*limit) == self)
    }

    /// The id of the rule with this name, as annotations write it: `min_len` is `rule/min-len`.
    pub fn of_rule(rule: &str) -> Id {
        let name = format!("rule/{}", rule.replace('_', "-"));
        // One by one would be 6,000 instructions for each rule of a schema.
        ALL.binary_search_by(|id| id.name().cmp(&name)).map_or(Id::RULE_CUSTOM, |at| ALL[at])
    }

    /// Its name: `schema/type`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Its category.
    pub fn kind(self) -> DiagnosticKind {
        self.0.kind
    }

    /// A short description.
    pub fn title(self) -> &'static str {
        self.0.title
    }

    /// All ids, sorted by name.
    pub fn all() -> &'static [Id] {
        &ALL
    }

    /// The URL of the page that explains it.
    pub fn help_uri(self) -> String {
        format!("{HELP_BASE}#{}", self.name().replace('/', ""))
    }
}

/// The base URL of the page of errors, for the links in all renderings. The domain is a placeholder
/// until there is a real one.
pub const HELP_BASE: &str = "https://ytterby.example/errors.html";

impl PartialEq for Id {
    fn eq(&self, other: &Id) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Id {}

impl std::hash::Hash for Id {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! ids {
    ($($constant:ident $name:literal $kind:ident $title:literal)*) => {
        #[allow(missing_docs, reason = "the title in the row is the documentation")]
        impl Id {
            $(pub const $constant: Id = Id(&IdRow { name: $name, kind: DiagnosticKind::$kind, title: $title });)*
        }

        const ALL: [Id; [$($name),*].len()] = [$(Id::$constant),*];
    };
}

ids! {
    ANNOTATION_ARGUMENT "annotation/argument" Annotation "An annotation has a wrong, missing or unknown argument."
    ANNOTATION_DUPLICATE "annotation/duplicate" Annotation "A node has the same annotation twice."
    ANNOTATION_MISPLACED "annotation/misplaced" Annotation "An annotation has no effect where it is."
    ANNOTATION_UNKNOWN "annotation/unknown" Annotation "An annotation is unknown."
    CODE_ASSERT "code/assert" Other "An assertion of a template failed."
    CODE_ATTRIBUTE "code/attribute" Other "A value has no attribute of this name."
    CODE_BLOCK "code/block" Other "A block has no `end`, or an `end` has no block."
    CODE_CALL "code/call" Other "A function was called with the wrong arguments."
    CODE_FAIL "code/fail" Other "A template called `fail`."
    CODE_INDEX "code/index" Other "An index or key does not exist."
    CODE_LOAD "code/load" Other "A file or module cannot be loaded."
    CODE_RECURSION "code/recursion" Other "Files load each other."
    CODE_SYNTAX "code/syntax" Other "Code cannot be parsed."
    CODE_TEMPLATE "code/template" Other "A template is not well-formed, or a node cannot be built."
    CODE_TYPE "code/type" Other "An operation got a value of the wrong type."
    CODE_UNDEFINED "code/undefined" Other "A name is not defined."
    CODE_UNKNOWN_VALUE "code/unknown-value" Other "A template reads a data value that the schema does not declare."
    CODE_VALUE "code/value" Other "A function got a value that it cannot use."
    EXPLAIN_UNKNOWN "explain/unknown" Other "A path or document to explain does not exist."
    FILE_CONFLICT "file/conflict" Other "Two outputs or inputs exclude each other."
    FILE_MARK "file/mark" Other "A file mark is wrong."
    FILE_MISSING "file/missing" Other "An input does not exist or cannot be read."
    FILE_SYMLINK "file/symlink" Other "A symbolic link leads to a place that is not allowed."
    FILE_WRITE "file/write" Other "Output cannot be written."
    FLAG_CONFLICT "flag/conflict" Other "Flags exclude each other."
    FLAG_OPERAND "flag/operand" Other "A command got an argument that it does not accept."
    FLAG_UNKNOWN "flag/unknown" Other "A flag or command is unknown."
    FLAG_VALUE "flag/value" Other "A flag has a wrong or missing value."
    GEN_NO_SCHEMA "gen/no-schema" Other "There is no schema to generate values from."
    GEN_UNSATISFIED "gen/unsatisfied" Other "No values were found that satisfy all rules."
    INPUT_HELM "input/helm" Other "A plain YAML file looks like a Helm or Jinja template."
    INPUT_NO_OUTPUT "input/no-output" Other "The inputs contain nothing to write."
    INPUT_OTHER_FILES "input/other-files" Other "Outputs that are not YAML are left out of standard output."
    INPUT_PLAIN_VALUES "input/plain-values" Other "A values file was given as a template."
    INPUT_TEXT_MARKS "input/text-marks" Other "Code of text templates is used where it is not evaluated."
    INTERNAL_BUG "internal/bug" Other "A bug in the program."
    KUBERNETES_DEPRECATED "kubernetes/deprecated" Deprecated "An API version is deprecated."
    KUBERNETES_DUPLICATE_FIELD "kubernetes/duplicate-field" Other "A map contains the same field twice."
    KUBERNETES_DUPLICATE_ITEM "kubernetes/duplicate-item" Validation "A list has two items with the same key."
    KUBERNETES_ENUM "kubernetes/enum" Validation "A field has a value that is not allowed."
    KUBERNETES_FORMAT "kubernetes/format" Validation "A quantity, time, base64 text or other format is malformed."
    KUBERNETES_INVALID "kubernetes/invalid" Validation "A field violates a rule that the API server implements in code."
    KUBERNETES_LIMIT "kubernetes/limit" Other "A document is nested too deeply, or its check does not end."
    KUBERNETES_METADATA "kubernetes/metadata" Validation "A name, label, annotation or owner is malformed."
    KUBERNETES_NO_KIND "kubernetes/no-kind" Other "A document has no `apiVersion` or no `kind`."
    KUBERNETES_PATTERN "kubernetes/pattern" Validation "A string does not match the pattern of its schema."
    KUBERNETES_POLICY "kubernetes/policy" Validation "An object breaks a ValidatingAdmissionPolicy."
    KUBERNETES_RANGE "kubernetes/range" Validation "A number, string, list or map is too small or too large."
    KUBERNETES_REFERENCE "kubernetes/reference" Validation "A name refers to something that is not in the object."
    KUBERNETES_REMOVED "kubernetes/removed" Removed "An API version is no longer served."
    KUBERNETES_REQUIRED "kubernetes/required" Required "A required field is missing."
    KUBERNETES_RULE "kubernetes/rule" Validation "An object breaks a rule of its CustomResourceDefinition."
    KUBERNETES_RULE_ERROR "kubernetes/rule-error" Other "An expression of a definition or policy does not compile."
    KUBERNETES_SCHEMA "kubernetes/schema" Validation "A value matches none, or too many, of several schemas."
    KUBERNETES_SCHEMA_FILE "kubernetes/schema-file" Other "A file given as schema cannot be used."
    KUBERNETES_TYPE "kubernetes/type" Type "A field has a value of the wrong type."
    KUBERNETES_UNKNOWN_FIELD "kubernetes/unknown-field" UnknownKey "A field does not exist."
    KUBERNETES_UNKNOWN_KIND "kubernetes/unknown-kind" Other "A kind is unknown."
    KUBEVIRT_INVALID "kubevirt/invalid" Other "A virtual machine breaks a rule of its template."
    KUBEVIRT_LINT "kubevirt/lint" Other "A rule of a template is questionable."
    KUBEVIRT_RULE "kubevirt/rule" Other "A rule of a template is wrong."
    LIBRARY_MISSING "library/missing" Other "A library does not exist."
    LIBRARY_REF "library/ref" Other "A reference to a library is not well-formed."
    LIBRARY_UNUSED "library/unused" Other "Values or schemas were given for a library that nothing evaluates."
    LIMIT_CANCELLED "limit/cancelled" Other "The run was cancelled."
    LIMIT_DEPTH "limit/depth" Other "Calls or data are nested too deeply."
    LIMIT_MEMORY "limit/memory" Other "The run exceeds its memory limit."
    LIMIT_OUTPUT "limit/output" Other "The output exceeds its size limit."
    LIMIT_STEPS "limit/steps" Other "Code exceeds the step limit."
    LIMIT_TIME "limit/time" Other "The run exceeds its time limit."
    LINT_CONSTANT_CONDITION "lint/constant-condition" Other "A condition has no effect."
    LINT_DEFAULT_BREAKS_RULE "lint/default-breaks-rule" Other "A default violates a rule of its schema."
    LINT_NO_EFFECT_ANNOTATION "lint/no-effect-annotation" Other "An annotation has no effect."
    LINT_NO_EFFECT_VALUE "lint/no-effect-value" Other "A data value is read, but has no effect on the output."
    LINT_PLAIN_SECRET "lint/plain-secret" Other "A secret is written in a file."
    LINT_RULE_ALWAYS_TRUE "lint/rule-always-true" Other "A rule can never fail."
    LINT_RULE_NEVER_TRUE "lint/rule-never-true" Other "No value can satisfy a rule."
    LINT_SAME_AS_DEFAULT "lint/same-as-default" Other "A value is set to its default."
    LINT_SHADOWED_NAME "lint/shadowed-name" Other "A name hides another one."
    LINT_UNMATCHED_OVERLAY "lint/unmatched-overlay" Other "An overlay matches nothing in any target."
    LINT_UNUSED_FILE "lint/unused-file" Other "Nothing uses a file."
    LINT_UNUSED_FUNCTION "lint/unused-function" Other "Nothing calls a function."
    LINT_UNUSED_LOAD "lint/unused-load" Other "A loaded name is not used."
    LINT_UNUSED_VALUE "lint/unused-value" Other "Nothing uses a declared data value."
    OUTPUT_ENCODE "output/encode" Other "A value cannot be written in the chosen format."
    OUTPUT_RULE "output/rule" Output "An output document breaks a rule."
    OVERLAY_ASSERT "overlay/assert" Other "An assertion of an overlay failed."
    OVERLAY_CONFLICT "overlay/conflict" Other "An overlay cannot be applied to this kind of value."
    OVERLAY_MATCHER "overlay/matcher" Other "A matcher of an overlay is wrong."
    OVERLAY_NO_MATCH "overlay/no-match" Other "An overlay matches nothing."
    OVERLAY_TOO_MANY "overlay/too-many" Other "An overlay matches more nodes than it expects."
    PROJECT_EXISTS "project/exists" Other "A file that `init` would create already exists."
    PROJECT_MATRIX "project/matrix" Other "The matrix of a target is wrong, or a path refers to an unknown list of it."
    PROJECT_MISSING "project/missing" Other "There is no project file."
    PROJECT_OUTPUT "project/output" Other "Two targets share an output directory, or one contains inputs."
    PROJECT_STALE "project/stale" Other "An output directory is not up to date."
    PROJECT_TARGET "project/target" Other "A target is unknown."
    PROJECT_TYPE "project/type" Other "A key of the project file has a value of the wrong type."
    PROJECT_UNKNOWN_KEY "project/unknown-key" UnknownKey "The project file has a key that does not exist."
    PROJECT_VALUE "project/value" Other "A key of the project file has a value that cannot be used."
    RULE_ABOVE "rule/above" Validation "A value is not greater than the bound."
    RULE_BELOW "rule/below" Validation "A value is not smaller than the bound."
    RULE_CEL "rule/cel" Validation "A value breaks a rule written in CEL."
    RULE_CONTAINS "rule/contains" Validation "A value does not contain a required part."
    RULE_CUSTOM "rule/custom" Validation "A value breaks a rule written as code."
    RULE_ENDS_WITH "rule/ends-with" Validation "A value does not have the required ending."
    RULE_ERROR "rule/error" Other "A rule cannot be evaluated."
    RULE_EVEN "rule/even" Validation "A number is not even."
    RULE_FORMAT "rule/format" Validation "A string does not have the required format."
    RULE_KEYS "rule/keys" Validation "A map has too few or too many keys of a kind."
    RULE_LEN "rule/len" Validation "A value does not have the required length."
    RULE_MATCHES "rule/matches" Validation "A string does not match the required pattern."
    RULE_MAX "rule/max" Validation "A value is greater than the maximum."
    RULE_MAX_LEN "rule/max-len" Validation "A value is longer than the maximum."
    RULE_MIN "rule/min" Validation "A value is smaller than the minimum."
    RULE_MIN_LEN "rule/min-len" Validation "A value is shorter than the minimum."
    RULE_MULTIPLE_OF "rule/multiple-of" Validation "A number is not a multiple of the required one."
    RULE_NOT_NULL "rule/not-null" Validation "A value must not be null."
    RULE_ODD "rule/odd" Validation "A number is not odd."
    RULE_ONE_NOT_NULL "rule/one-not-null" Validation "Exactly one of several values must be set."
    RULE_ONE_OF "rule/one-of" Validation "A value is not one of the allowed ones."
    RULE_SHAPE "rule/shape" Validation "A value matches none or too many of its possible shapes."
    RULE_STARTS_WITH "rule/starts-with" Validation "A value does not have the required beginning."
    RULE_UNIQUE "rule/unique" Validation "Items of a list are not unique."
    SCHEMA_IMPORT "schema/import" Other "A schema in another format cannot be imported."
    SCHEMA_INVALID "schema/invalid" Schema "The schema itself is wrong."
    SCHEMA_REMOVED "schema/removed" Removed "A value was given for a key that the schema removed."
    SCHEMA_TYPE "schema/type" Type "A value does not have the type that the schema declares."
    SCHEMA_UNKNOWN_KEY "schema/unknown-key" UnknownKey "The schema does not declare a key."
    TEST_ABSENT "test/absent" Other "A node exists that a test expects to be absent."
    TEST_CONTAINS "test/contains" Other "A node does not contain what a test expects."
    TEST_COUNT "test/count" Other "The number of documents is not the one that a test expects."
    TEST_EQUALS "test/equals" Other "A node is not what a test expects."
    TEST_FAILS "test/fails" Other "A render did not fail as a test expects."
    TEST_GENERATE "test/generate" Other "A render fails for values that the schema allows."
    TEST_SNAPSHOT "test/snapshot" Other "The output differs from a snapshot, or the snapshot is missing."
    TEST_TYPE "test/type" Other "A key of a test file has a value of the wrong type."
    TEST_UNKNOWN_KEY "test/unknown-key" UnknownKey "A test file has a key that does not exist."
    TEST_UNUSED_SNAPSHOT "test/unused-snapshot" Other "No test uses a snapshot."
    TEST_VALUE "test/value" Other "A key of a test file has a value that cannot be used."
    VALUES_DEPRECATED "values/deprecated" Deprecated "A deprecated value was given."
    VALUES_DOCUMENT "values/document" Other "A values file or document has a form that is not allowed."
    VALUES_FLAG "values/flag" Other "A flag or variable that gives a data value is wrong."
    VALUES_REQUIRED "values/required" Required "A required value is missing."
    YAML_BOOLEAN_KEY "yaml/boolean-key" Other "A key is a boolean, although it looks like a word."
    YAML_DUPLICATE_KEY "yaml/duplicate-key" Other "A key is given twice in one map."
    YAML_SYNTAX "yaml/syntax" Other "YAML cannot be parsed."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sorted_and_well_formed() {
        let names: Vec<&str> = Id::all().iter().map(|id| id.name()).collect();
        assert!(names.is_sorted(), "{names:?}");
        for name in names {
            let (group, rest) = name.split_once('/').unwrap();
            let is_kebab = |part: &str| {
                part.split('-').all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase()))
            };
            assert!(is_kebab(group) && is_kebab(rest), "{name}");
        }
    }

    #[test]
    fn rules_have_ids() {
        assert_eq!(Id::of_rule("min_len").name(), "rule/min-len");
        assert_eq!(Id::of_rule("something").name(), "rule/custom");
        assert_eq!(Id::find("yaml/syntax"), Some(Id::YAML_SYNTAX));
    }
}
