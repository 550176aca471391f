//! The constants that code compares values with: `mode == "fast"`, `count > 3`.
//!
//! A free string has no end of valid values, and only one of them may enter a branch. The constants
//! of comparisons, of membership tests, of lookups in dicts and of regular expressions are worth
//! trying. They are read off the syntax tree, so strings, comments and code over several lines
//! cannot be mistaken for something else. A constant that is compared with the data value itself
//! comes before others; one that turns out to be unrelated only costs a render.

use ytterby_starlark::ast::{Arg, Ast, ExprId, ExprKind};
use ytterby_starlark::{BinaryOp, Syntax, UnaryOp};

use crate::generate;
use crate::node::{Node, Scalar};
use crate::schema::{ScalarType, Slot, Type};

/// The number of constants that are kept.
const MOST: usize = 1_000;

/// The constants of a project's comparisons.
#[derive(Default, Debug)]
pub(super) struct Constants(Vec<ComparedConstant>);

/// A constant, and the names in what it is compared with.
#[derive(Debug)]
struct ComparedConstant {
    value: Scalar,
    names: Vec<String>,
}

impl Constants {
    /// The constants in the code of these files.
    pub fn of<'s>(files: impl IntoIterator<Item = &'s Syntax>) -> Constants {
        let mut found = Constants::default();
        for syntax in files {
            found.add_code(&syntax.ast);
        }
        found
    }

    /// At most `most` constants that fit a data value. Constants compared with a name like its own
    /// come first.
    pub fn for_slot(&self, slot: &Slot, key: Option<&str>, most: usize) -> Vec<Node> {
        let has = |kind: ScalarType| match &slot.ty {
            Type::Scalar(own) => *own == kind,
            Type::Any => true,
            _ => false,
        };
        let fits = |constant: &&ComparedConstant| match &constant.value {
            Scalar::Str(_) => has(ScalarType::String),
            Scalar::Int(_) => has(ScalarType::Int) || has(ScalarType::Float),
            Scalar::Float(_) => has(ScalarType::Float),
            _ => false,
        };
        let (own, others): (Vec<&ComparedConstant>, Vec<&ComparedConstant>) = self
            .0
            .iter()
            .filter(fits)
            .partition(|constant| key.is_some_and(|key| constant.names.iter().any(|name| name == key)));
        let mut values: Vec<Node> = Vec::new();
        for constant in own.into_iter().chain(others) {
            let value = Node::Scalar(constant.value.clone());
            if values.len() < most && !values.iter().any(|known| known.same(&value)) {
                values.push(value);
            }
        }
        values
    }

    fn add_code(&mut self, ast: &Ast) {
        for id in ast.ids() {
            match &ast[id].kind {
                ExprKind::Compare(_, left, right) => {
                    self.add_all(ast, *left, &names_in(ast, *right));
                    self.add_all(ast, *right, &names_in(ast, *left));
                }
                ExprKind::Binary(BinaryOp::In, left, right) | ExprKind::NotIn(left, right) => {
                    self.add_all(ast, *left, &names_in(ast, *right));
                    self.add_all(ast, *right, &names_in(ast, *left));
                }
                ExprKind::Call(callee, args) => self.add_call(ast, *callee, args),
                // A dict is a table that something is looked up in.
                ExprKind::Dict(entries) => entries.iter().for_each(|entry| self.add_all(ast, entry.key, &[])),
                _ => {}
            }
        }
    }

    /// Adds the arguments of `text.startswith("…")` and the like, and texts that `regexp.match("…",
    /// text)` matches.
    fn add_call(&mut self, ast: &Ast, callee: ExprId, args: &[Arg]) {
        const TESTS: [&str; 6] = ["startswith", "endswith", "find", "index", "count", "get"];
        let ExprKind::Dot(of, method) = &ast[ast.unparen(callee)].kind else { return };
        let (method, of_names) = (method.to_str(), names_in(ast, *of));
        let positional: Vec<ExprId> =
            args.iter().filter_map(|arg| if let Arg::Positional(id) = arg { Some(*id) } else { None }).collect();
        if TESTS.contains(&&*method) {
            positional.iter().for_each(|id| self.add_all(ast, *id, &of_names));
        }
        if let ("match", [pattern, text]) = (&*method, &positional[..])
            && let ExprKind::Str(pattern) = &ast[ast.unparen(*pattern)].kind
            && let Some(example) = generate::example(pattern.as_bytes())
        {
            self.add(Scalar::from(example.as_str()), &names_in(ast, *text));
        }
    }

    /// Adds a constant, or the constants in a list, tuple or dict.
    fn add_all(&mut self, ast: &Ast, id: ExprId, names: &[String]) {
        match &ast[id].kind {
            ExprKind::Paren(inner) => self.add_all(ast, *inner, names),
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|item| self.add_all(ast, *item, names));
            }
            ExprKind::Dict(entries) => entries.iter().for_each(|entry| self.add_all(ast, entry.key, names)),
            ExprKind::Str(text) => self.add(Scalar::Str(text.clone()), names),
            ExprKind::Int(number) => self.add_number(*number, names),
            ExprKind::Float(number) => self.add_float(*number, names),
            ExprKind::Unary(UnaryOp::Minus, inner) => match &ast[ast.unparen(*inner)].kind {
                ExprKind::Int(number) => self.add_number(-*number, names),
                ExprKind::Float(number) => self.add_float(-*number, names),
                _ => {}
            },
            _ => {}
        }
    }

    /// Adds a number and the next one on each side: `>` tells one of them apart, `<` the other.
    fn add_number(&mut self, number: i64, names: &[String]) {
        for number in [Some(number), number.checked_add(1), number.checked_sub(1)].into_iter().flatten() {
            self.add(Scalar::Int(number), names);
        }
    }

    fn add_float(&mut self, number: f64, names: &[String]) {
        for number in [number, number + 1.0, number - 1.0] {
            self.add(Scalar::Float(number), names);
        }
    }

    fn add(&mut self, value: Scalar, names: &[String]) {
        let is_known = self.0.iter().any(|known| known.value == value && known.names == names);
        if self.0.len() < MOST && !is_known {
            self.0.push(ComparedConstant { value, names: names.to_vec() });
        }
    }
}

/// The last name of each chain of attributes in an expression: `mode` of `data.values.mode`, `x` of
/// `x`.
fn names_in(ast: &Ast, id: ExprId) -> Vec<String> {
    let mut names = Vec::new();
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        match &ast[id].kind {
            ExprKind::Ident(name) | ExprKind::Dot(_, name) => names.push(name.to_str().into_owned()),
            ExprKind::Index(_, key) => {
                if let ExprKind::Str(name) = &ast[ast.unparen(*key)].kind {
                    names.push(name.to_str().into_owned());
                }
            }
            ExprKind::Paren(inner) | ExprKind::Unary(_, inner) | ExprKind::Not(inner) => open.push(*inner),
            ExprKind::Binary(_, left, right) => open.extend([*left, *right]),
            ExprKind::Slice { operand, .. } => open.push(*operand),
            ExprKind::Call(callee, args) => {
                // `value.lower()`, `str(value)`, `getattr(data.values, "mode")`.
                if let ExprKind::Dot(of, _) = &ast[ast.unparen(*callee)].kind {
                    open.push(*of);
                }
                for arg in args {
                    match arg {
                        Arg::Positional(id) | Arg::Named(_, id, _) => match &ast[ast.unparen(*id)].kind {
                            ExprKind::Str(name) => names.push(name.to_str().into_owned()),
                            _ => open.push(*id),
                        },
                        Arg::Star(..) | Arg::StarStar(..) => {}
                    }
                }
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use ytterby_diag::{FileId, Pos};
    use ytterby_starlark::{Dialect, ProgramPiece, parse_in};

    use super::*;

    /// The constants of some code that fit strings, or numbers, for a data value with this name.
    fn found(code: &str, key: &str, kind: ScalarType) -> Vec<String> {
        let pieces = [ProgramPiece::Code { text: code.as_bytes(), at: Pos::new(FileId(0), 0) }];
        let syntax = parse_in(Dialect::Current, &pieces).expect("the code can be parsed");
        let slot = Slot::of(Type::Scalar(kind), Pos::UNKNOWN, Node::NULL);
        let values = Constants::of([&syntax]).for_slot(&slot, Some(key), 64);
        values.iter().map(crate::export::json_text).collect()
    }

    #[test]
    fn comparisons_are_found() {
        let code = "a = data.values.mode == \"fast\" or 'slow' != x or y in [\"a\", 'b'] or n > 3 and n<-2\n";
        assert_eq!(found(code, "mode", ScalarType::String), ["\"fast\"", "\"slow\"", "\"a\"", "\"b\""]);
        assert_eq!(found(code, "n", ScalarType::Int), ["3", "4", "2", "-2", "-1", "-3"]);
        let code = "a = \"x\" in s\nd = s.startswith((\"https:\", \"http:\"))\ne = {\"k\": 1}[s]\n";
        assert_eq!(found(code, "s", ScalarType::String), ["\"x\"", "\"https:\"", "\"http:\"", "\"k\""]);
    }

    #[test]
    fn the_constants_of_a_value_come_first() {
        let code = "a = x == \"other\"\nb = data.values[\"mode\"].lower() == \"fast\"\n";
        assert_eq!(found(code, "mode", ScalarType::String), ["\"fast\"", "\"other\""]);
        assert_eq!(found(code, "x", ScalarType::String), ["\"other\"", "\"fast\""]);
        let code = "a = regexp.match(\"^v[1]{2}$\", tag)\n";
        assert_eq!(found(code, "tag", ScalarType::String), ["\"v11\""]);
    }

    #[test]
    fn strings_comments_and_lines_do_not_mislead() {
        let code = "a = \"x == 'no'\" # y == \"no\"\nb = (z ==\n  \"ye\\\"s\")\n";
        assert_eq!(found(code, "z", ScalarType::String), ["\"ye\\\"s\""]);
    }
}
