//! ValidatingAdmissionPolicy: expressions about whole objects of selected kinds.
//!
//! Policies given as schemas are evaluated as if objects were created. Information that only a
//! cluster has (parameters, the namespace, the user, authorization) is unknown here: a validation
//! that needs it is skipped.

use std::collections::BTreeMap;
use std::sync::Arc;

use ytterby_cel::{Env, EvalError, ObjectType, Program, Type, Val};
use ytterby_diag::Id;

use crate::catalog::Catalog;
use crate::document::Node;
use crate::facts::Gvk;
use crate::report::{At, CheckFindings, FindingText};
use crate::rules::plain_value;

/// Maximum cost of one evaluation.
const MAX_CALL_COST: u64 = 1_000_000;

/// Maximum cost of all expressions of a policy.
const MAX_POLICY_COST: u64 = 10_000_000;

/// A policy.
#[derive(Debug)]
pub(crate) struct Policy {
    name: String,
    rules: Vec<ResourceRule>,
    excluded: Vec<ResourceRule>,
    object_selector: Option<Node>,
    conditions: Vec<Program>,
    variables: Vec<(String, Program)>,
    validations: Vec<Validation>,
    has_params: bool,
}

/// Selects the objects of a policy.
#[derive(Debug)]
struct ResourceRule {
    groups: Vec<String>,
    versions: Vec<String>,
    resources: Vec<String>,
    operations: Vec<String>,
    names: Vec<String>,
}

#[derive(Debug)]
struct Validation {
    expression: Program,
    source: String,
    message: Option<String>,
    message_expression: Option<Program>,
}

/// The variables for expressions of policies and webhooks, without `variables`.
pub(crate) fn environment(has_params: bool) -> Env {
    let text = |names: &[&str]| -> BTreeMap<String, Type> {
        names.iter().map(|name| ((*name).to_owned(), Type::String)).collect()
    };
    let object = |name: &str, fields: BTreeMap<String, Type>| {
        Type::Object(Arc::new(ObjectType { name: name.to_owned(), fields }))
    };
    let kind = object("GroupVersionKind", text(&["group", "version", "kind"]));
    let resource = object("GroupVersionResource", text(&["group", "version", "resource"]));
    let mut user = text(&["username", "uid"]);
    user.insert("groups".to_owned(), Type::list(Type::String));
    user.insert("extra".to_owned(), Type::map(Type::String, Type::list(Type::String)));
    let mut request = text(&["uid", "subResource", "requestSubResource", "name", "namespace", "operation"]);
    request.insert("kind".to_owned(), kind.clone());
    request.insert("requestKind".to_owned(), kind);
    request.insert("resource".to_owned(), resource.clone());
    request.insert("requestResource".to_owned(), resource);
    request.insert("userInfo".to_owned(), object("UserInfo", user));
    request.insert("dryRun".to_owned(), Type::Bool);
    request.insert("options".to_owned(), Type::Dyn);
    let mut variables = vec![
        ("object".to_owned(), Type::Dyn),
        ("oldObject".to_owned(), Type::Dyn),
        ("request".to_owned(), object("AdmissionRequest", request)),
        ("authorizer".to_owned(), Type::Dyn),
        ("namespaceObject".to_owned(), Type::Dyn),
    ];
    if has_params {
        variables.push(("params".to_owned(), Type::Dyn));
    }
    Env { variables, ..Env::default() }
}

impl Catalog {
    /// Adds a ValidatingAdmissionPolicy; returns whether this is one. Expressions that do not
    /// compile are left out.
    pub fn add_policy(&mut self, root: &Node) -> bool {
        let is_policy = root.text("kind") == Some("ValidatingAdmissionPolicy")
            && root.text("apiVersion").is_some_and(|version| version.starts_with("admissionregistration.k8s.io/"));
        if let Some(spec) = root.given("spec").filter(|_| is_policy) {
            let name = root.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default();
            self.policies.push(Arc::new(Policy::new(name, spec)));
        }
        is_policy
    }
}

impl Policy {
    fn new(name: &str, spec: &Node) -> Policy {
        let mut env = environment(spec.given("paramKind").is_some());
        let list = |key: &str| spec.given(key).map(Node::items).unwrap_or_default();
        let rules = |key: &str| {
            let items = spec.at(&["matchConstraints", key]).map(Node::items).unwrap_or_default();
            items.iter().map(ResourceRule::new).collect()
        };
        let program =
            |node: &Node, key: &str, env: &Env| node.text(key).and_then(|text| Program::compile(text, env).ok());
        let conditions = list("matchConditions").iter().filter_map(|node| program(node, "expression", &env)).collect();
        let slot = env.variables.len();
        let mut fields = BTreeMap::new();
        let declared = |fields: &BTreeMap<String, Type>| {
            Type::Object(Arc::new(ObjectType { name: "variables".to_owned(), fields: fields.clone() }))
        };
        env.variables.push(("variables".to_owned(), declared(&fields)));
        let mut variables = Vec::new();
        for variable in list("variables") {
            if let (Some(name), Some(program)) = (variable.text("name"), program(variable, "expression", &env)) {
                fields.insert(name.to_owned(), program.result_type().clone());
                env.variables[slot].1 = declared(&fields);
                variables.push((name.to_owned(), program));
            }
        }
        let validation = |node: &Node| {
            Some(Validation {
                expression: program(node, "expression", &env)?,
                source: node.text("expression")?.trim().to_owned(),
                message: node.text("message").map(str::to_owned).filter(|text| !text.is_empty()),
                message_expression: program(node, "messageExpression", &env),
            })
        };
        let validations = list("validations").iter().filter_map(validation).collect();
        Policy {
            name: name.to_owned(),
            rules: rules("resourceRules"),
            excluded: rules("excludeResourceRules"),
            object_selector: spec.at(&["matchConstraints", "objectSelector"]).cloned(),
            conditions,
            variables,
            validations,
            has_params: spec.given("paramKind").is_some(),
        }
    }

    pub fn check(&self, root: &Node, gvk: &Gvk, catalog: &Catalog, at: &At<'_>, report: &mut CheckFindings) {
        let Some(resource) = catalog.resource_name(gvk) else { return };
        let name = root.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default();
        let is_match = |rules: &[ResourceRule]| rules.iter().any(|rule| rule.matches(gvk, &resource, name));
        let selected = self
            .object_selector
            .as_ref()
            .is_none_or(|selector| crate::builtin::selects(selector, root.at(&["metadata", "labels"])));
        if !is_match(&self.rules) || is_match(&self.excluded) || !selected || report.is_done() {
            return;
        }
        let mut left = MAX_POLICY_COST;
        let mut variables = values(root, gvk, &resource, self.has_params);
        let holds = self
            .conditions
            .iter()
            .all(|condition| matches!(condition.evaluate(&variables, MAX_CALL_COST), Ok((Val::Bool(true), _))));
        if !holds {
            return;
        }
        let mut known = Vec::new();
        variables.push(Val::map(Vec::new()));
        let last = variables.len() - 1;
        for (name, program) in &self.variables {
            if let Ok((value, cost)) = program.evaluate(&variables, MAX_CALL_COST.min(left)) {
                left = left.saturating_sub(cost);
                known.push((Val::from(&**name), value));
                variables[last] = Val::map(known.clone());
            }
        }
        for validation in &self.validations {
            let found = validation.expression.evaluate(&variables, MAX_CALL_COST.min(left));
            let message = match found {
                Ok((Val::Bool(true), cost)) => {
                    left = left.saturating_sub(cost);
                    continue;
                }
                Ok((Val::Bool(false), _)) => validation.message(&variables, left),
                // An unknown condition may be true in a cluster.
                Err(EvalError::Unknown) => continue,
                Ok(_) => "the result of the expression is not a boolean".to_owned(),
                Err(error) => format!("the expression cannot be evaluated: {error}"),
            };
            let source = &validation.source;
            report.key_error(Id::KUBERNETES_POLICY, at, || {
                let finding = FindingText::new(message).note(format!("policy: {}", self.name));
                if source.len() <= 400 { finding.note(format!("expression: {source}")) } else { finding }
            });
        }
    }
}

impl Validation {
    fn message(&self, variables: &[Val], left: u64) -> String {
        if let Some(program) = &self.message_expression
            && let Ok((Val::Str(text), _)) = program.evaluate(variables, MAX_CALL_COST.min(left))
            && !text.trim().is_empty()
            && !text.contains('\n')
        {
            return text.to_string();
        }
        self.message.clone().unwrap_or_else(|| format!("the expression is not satisfied: {}", self.source))
    }
}

/// The values of the variables, in the order of [`environment`].
fn values(root: &Node, gvk: &Gvk, resource: &str, has_params: bool) -> Vec<Val> {
    let text = |text: &str| Val::from(text);
    let meta = |key: &str| text(root.at(&["metadata", key]).and_then(Node::as_str).unwrap_or_default());
    let kind = Val::map(vec![
        (text("group"), text(&gvk.group)),
        (text("version"), text(&gvk.version)),
        (text("kind"), text(&gvk.kind)),
    ]);
    let resource = Val::map(vec![
        (text("group"), text(&gvk.group)),
        (text("version"), text(&gvk.version)),
        (text("resource"), text(resource)),
    ]);
    let request = Val::map(vec![
        (text("operation"), text("CREATE")),
        (text("name"), meta("name")),
        (text("namespace"), meta("namespace")),
        (text("kind"), kind.clone()),
        (text("requestKind"), kind),
        (text("resource"), resource.clone()),
        (text("requestResource"), resource),
        (text("subResource"), text("")),
        (text("requestSubResource"), text("")),
        (text("dryRun"), Val::Bool(false)),
        (text("userInfo"), Val::Authorizer),
        (text("options"), Val::Authorizer),
    ]);
    let mut values = vec![plain_value(root), Val::Null, request, Val::Authorizer, Val::Authorizer];
    if has_params {
        values.push(Val::Authorizer);
    }
    values
}

impl ResourceRule {
    fn new(rule: &Node) -> ResourceRule {
        let list = |key: &str| -> Vec<String> {
            rule.given(key)
                .map(Node::items)
                .unwrap_or_default()
                .iter()
                .filter_map(|v| v.as_str().map(str::to_owned))
                .collect()
        };
        ResourceRule {
            groups: list("apiGroups"),
            versions: list("apiVersions"),
            resources: list("resources"),
            operations: list("operations"),
            names: list("resourceNames"),
        }
    }

    fn matches(&self, gvk: &Gvk, resource: &str, name: &str) -> bool {
        let any = |list: &[String], wanted: &str| list.iter().any(|item| item == "*" || item == wanted);
        any(&self.groups, &gvk.group)
            && any(&self.versions, &gvk.version)
            && (any(&self.resources, resource) || self.resources.iter().any(|item| item == "*/*"))
            && any(&self.operations, "CREATE")
            && (self.names.is_empty() || self.names.iter().any(|item| item == name))
    }
}
