use std::sync::Arc;

use super::*;

fn env() -> Env {
    let object = ObjectType {
        name: "object".into(),
        fields: [
            ("a".to_owned(), Type::String),
            ("n".to_owned(), Type::Int),
            ("l".to_owned(), Type::list(Type::String)),
            ("m".to_owned(), Type::map(Type::String, Type::Int)),
        ]
        .into(),
    };
    Env { variables: vec![("self".into(), Type::Object(Arc::new(object))), ("d".into(), Type::Dyn)], ..Env::default() }
}

fn values() -> [Val; 2] {
    let text = |text: &str| Val::from(text);
    let object = Val::map(vec![
        (text("a"), text("héllo")),
        (text("n"), Val::Int(3)),
        (text("l"), Val::list(vec![text("x"), text("y")])),
        (text("m"), Val::map(vec![(text("k"), Val::Int(1))])),
    ]);
    [object.clone(), object]
}

fn holds(source: &str) {
    let program = Program::compile(source, &env()).unwrap_or_else(|error| panic!("{source}: {error}"));
    match program.evaluate(&values(), 1_000_000) {
        Ok((Val::Bool(true), _)) => {}
        other => panic!("{source}: {other:?}"),
    }
}

fn fails(source: &str, part: &str) {
    let program = Program::compile(source, &env()).unwrap_or_else(|error| panic!("{source}: {error}"));
    let error = program.evaluate(&values(), 1_000_000).expect_err(source);
    assert!(error.to_string().contains(part), "{source}: {error}");
}

fn refused(source: &str, part: &str) {
    let error = Program::compile(source, &env()).expect_err(source);
    assert!(error.message.contains(part), "{source}: {error}");
}

#[test]
fn functions_and_macros_are_evaluated() {
    for source in [
        "size(self.a) == 5 && self.a.size() == 5",
        "self.a.startsWith('h') && self.a.endsWith('o') && self.a.contains('éll')",
        "self.l.all(x, x.matches('^[xy]$')) && self.l.exists(x, x == 'y') && self.l.exists_one(x, x == 'x')",
        "self.l.map(x, x + x) == ['xx', 'yy'] && self.l.filter(x, x > 'x') == ['y']",
        "self.l.map(x, x == 'x', x + '!') == ['x!']",
        "has(self.a) && !has(d.zz) && d.?zz.orValue(1) == 1",
        "'k' in self.m && self.m['k'] == 1 && self.m.all(k, k == 'k')",
        "self.l.all(i, v, i < 2 && v in ['x', 'y']) && self.m.exists(k, v, k == 'k' && v == 1)",
        "self.l.transformList(i, v, v + string(i)) == ['x0', 'y1']",
        "self.m.transformMap(k, v, v + 1) == {'k': 2}",
        "self.m.transformMapEntry(k, v, {v: k}) == {1: 'k'}",
        "[1, 2, 3].sum() == 6 && [3, 1].min() == 1 && [3, 1].max() == 3 && [1, 2].isSorted()",
        "'a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b' && 'abc'.substring(1, 2) == 'b'",
        "'AbC'.lowerAscii() == 'abc' && ' a '.trim() == 'a' && 'aXa'.replace('a', 'b', 1) == 'bXa'",
        "'abcabc'.indexOf('c') == 2 && 'abcabc'.lastIndexOf('c') == 5 && 'abc'.charAt(1) == 'b'",
        "'%s has %d of %.2f'.format(['a', 3, 1.5]) == 'a has 3 of 1.50'",
        "'a1b22'.find('[0-9]+') == '1' && 'a1b22'.findAll('[0-9]+') == ['1', '22']",
        "quantity('10Gi').isGreaterThan(quantity('10000Mi')) && quantity('1').add(quantity('500m')).compareTo(quantity('1.5')) == 0",
        "quantity('2').isInteger() && quantity('2k').asInteger() == 2000 && !isQuantity('x') && isQuantity('1.5')",
        "isIP('10.0.0.1') && !isIP('010.0.0.1') && ip('::1').family() == 6 && ip('127.0.0.1').isLoopback()",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
        "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && string(cidr('10.0.0.0/8').ip()) == '10.0.0.0'",
        "isURL('https://a.test:80/p?q=1') && url('https://a.test:80/p?q=1').getHost() == 'a.test:80'",
        "url('https://a.test:80/p%20x?q=1&q=2').getQuery() == {'q': ['1', '2']} && !isURL('a b')",
        "url('https://a.test:80/p%20x').getEscapedPath() == '/p%20x' && url('https://a.test:80/').getPort() == '80'",
        "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-a').compareTo(semver('1.0.0')) == -1",
        "!isSemver('v1.0') && isSemver('v1.0', true) && semver('v1.0', true).minor() == 0",
        "sets.contains([1, 2], [1]) && sets.equivalent([1, 2], [2, 1, 1]) && sets.intersects([1], [1, 3])",
        "format.dns1123Label().validate('a-b') == optional.none() && format.named('dns1123Label').value().validate('A').hasValue()",
        "lists.range(3) == [0, 1, 2] && [1, 1, 2].distinct() == [1, 2]",
        "optional.of(1).optMap(x, x + 1).value() == 2 && optional.none().or(optional.of(3)).value() == 3",
        "duration('1h').getMinutes() == 60 && duration('90s') < duration('2m')",
        "timestamp('2024-02-29T12:00:00Z').getMonth() == 1 && timestamp('2024-02-29T12:00:00Z').getDayOfWeek() == 4",
        "timestamp('2024-01-01T00:00:00Z') + duration('24h') == timestamp('2024-01-02T00:00:00Z')",
        "string(timestamp('2024-01-01T00:00:00Z')) == '2024-01-01T00:00:00Z' && string(duration('1.5s')) == '1.5s'",
        "1 < 1.5 && 2u > 1 && dyn(1) == dyn(1.0) && type(1) == int && int('3') == 3 && double(1) == 1.0",
        "self.n > 2 ? true : 1 / 0 == 1",
        "true || 1 / 0 == 1",
        "1 / 0 == 1 || true",
        "[1, 2].exists(x, x / 0 == 1 || x == 2)",
        "{'a': 1}.a == 1 && {'a': 1}['a'] == 1 && [1, 2][1] == 2 && d.l[?5].orValue('z') == 'z'",
        "b'abc'.size() == 3 && bytes('é').size() == 2 && '\\u00e9' == 'é' && r'\\d' == '\\\\d'",
        "-9223372036854775808 < 0 && 0x10 == 16 && 1e3 == 1000.0",
        "[?optional.of(1), ?optional.none()] == [1] && {?'a': optional.none()}.size() == 0",
    ] {
        holds(source);
    }
}

#[test]
fn errors_during_evaluation_are_explained() {
    fails("1 / 0 == 1", "division by zero");
    fails("self.l[5] == 'x'", "index out of bounds");
    fails("d.zz == 1", "no such key");
    fails("9223372036854775807 + 1 > 0", "overflow");
    fails("quantity('x').isInteger()", "quantity");
    fails("optional.none().value() == 1", "optional.none()");
}

#[test]
fn wrong_expressions_are_refused() {
    refused("self.zz == 'x'", "undefined field 'zz'");
    refused("self.aa == 'x'", "undefined field 'aa'");
    refused("self.a == 1", "no matching overload for '_==_'");
    refused("1 == '1'", "no matching overload");
    refused("other.a", "undeclared reference to 'other'");
    refused("foo(1)", "undeclared reference to 'foo'");
    refused("now() > 1", "undeclared reference to 'now'");
    refused("math.greatest(1, 3) == 3", "undeclared reference to 'math'");
    refused("base64.encode(b'a') == 'a'", "undeclared reference to 'base64'");
    refused("cel.bind(x, 1, x == 1)", "undeclared reference to 'cel'");
    refused("self.a.matches('[')", "invalid pattern");
    refused("self.a ==", "unexpected end");
    refused("'a", "missing closing quote");
    refused("duration('x') > duration('1s')", "duration");
    refused("[1, 'a'].size() == 2", "expected type 'int'");
    refused("self.a == null", "no matching overload");
    refused("self.n && true", "no matching overload");
    refused("self.a.all(x, true)", "range");
    refused("self.l.all(x, x)", "expected type 'bool'");
    refused("has(self)", "has()");
    refused(&"(".repeat(300), "nested too deeply");
    assert!(Program::compile(&format!("1{} > 0", "+1".repeat(10_000)), &env()).is_ok());
}

#[test]
fn costs_are_bounded() {
    let program = Program::compile("d.all(a, d.all(b, d.all(c, a + b + c >= 0)))", &env()).unwrap();
    let list = Val::list((0..1000).map(Val::Int).collect());
    assert!(matches!(program.evaluate(&[list.clone(), list], 1_000_000), Err(EvalError::Cost)));
    let list = |max, items: Arc<Shape>| Arc::new(Shape { max, items: Some(items), ..Shape::default() });
    let cheap = Program::compile("d.all(x, x == 'a')", &env()).unwrap();
    assert!(cheap.estimate(&[Shape::sized(1), list(10, Shape::sized(20))]) < 200);
    assert!(cheap.estimate(&[Shape::sized(1), list(1_000_000, Shape::sized(1_000_000))]) >= 5_000_000);
}

#[test]
fn the_standard_library_is_smaller() {
    let env = Env { variables: vec![("self".into(), Type::Dyn)], library: Library::Standard };
    assert!(Program::compile("self.a.size() > 1 && [1, 'a'].size() == 2", &env).is_ok());
    assert!(Program::compile("isIP(self)", &env).is_err());
    assert!(Program::compile("self.all(i, v, true)", &env).is_err());
}
