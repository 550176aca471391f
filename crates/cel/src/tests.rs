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
    let list = |max, items: Arc<MaxSize>| Arc::new(MaxSize { max, items: Some(items), ..MaxSize::default() });
    let cheap = Program::compile("d.all(x, x == 'a')", &env()).unwrap();
    assert!(cheap.estimate(&[MaxSize::sized(1), list(10, MaxSize::sized(20))]) < 200);
    assert!(cheap.estimate(&[MaxSize::sized(1), list(1_000_000, MaxSize::sized(1_000_000))]) >= 5_000_000);
}

#[test]
fn the_standard_library_is_smaller() {
    let env = Env { variables: vec![("self".into(), Type::Dyn)], library: Library::Standard };
    assert!(Program::compile("self.a.size() > 1 && [1, 'a'].size() == 2", &env).is_ok());
    assert!(Program::compile("isIP(self)", &env).is_err());
    assert!(Program::compile("self.all(i, v, true)", &env).is_err());
}

/// Types and sizes as schemas of a CRD declare them: texts of ten characters, five items.
fn declared(name: &str) -> (Type, Arc<MaxSize>) {
    let text = || (Type::String, MaxSize::sized(40));
    let list = |(of, shape): (Type, Arc<MaxSize>), max| {
        (Type::list(of), Arc::new(MaxSize { max, items: Some(shape), ..MaxSize::default() }))
    };
    let map = |(of, shape): (Type, Arc<MaxSize>)| {
        let shape = MaxSize { max: 5, items: Some(shape), keys: Some(MaxSize::sized(0)), ..MaxSize::default() };
        (Type::map(Type::String, of), Arc::new(shape))
    };
    let object = |name: &str, fields: Vec<(&str, (Type, Arc<MaxSize>))>| {
        let types = fields.iter().map(|(name, (of, _))| ((*name).to_owned(), of.clone())).collect();
        let shapes = fields.into_iter().map(|(name, (_, shape))| (name.to_owned(), shape)).collect();
        let of = Type::Object(Arc::new(ObjectType { name: name.to_owned(), fields: types }));
        (of, Arc::new(MaxSize { fields: shapes, ..MaxSize::default() }))
    };
    let int = || (Type::Int, MaxSize::sized(0));
    match name {
        "text" => text(),
        "int" => int(),
        "double" => (Type::Double, MaxSize::sized(0)),
        "bool" => (Type::Bool, MaxSize::sized(0)),
        "int_or_text" => (Type::Dyn, MaxSize::sized(40)),
        "texts" => list(text(), 5),
        "ints" => list(int(), 5),
        "map_of_texts" => map(text()),
        "map_of_ints" => map(int()),
        _ => object(
            "o",
            vec![("a", text()), ("b", int()), ("c", list(text(), 3)), ("d", object("d", vec![("e", text())]))],
        ),
    }
}

/// Estimates of a server of Kubernetes 1.36, measured by the largest `maxItems` around a rule that
/// it accepts.
#[rustfmt::skip]
const ESTIMATES: &[(&str, &str, u64)] = &[
    ("int_or_text", "type(self) == int", 7),
    ("int_or_text", "self == 1", 2),
    ("int_or_text", "type(self) == int || self.matches('^a$')", 13),
    ("int_or_text", "type(self) == string && size(self) > 1", 10),
    ("int_or_text", "self.startsWith('abc')", 2),
    ("int_or_text", "self < 5", 2),
    ("int_or_text", "self in ['a','b']", 13),
    ("text", "self == 'a'", 2),
    ("text", "self != ''", 1),
    ("text", "self in ['a','b']", 13),
    ("text", "size(self) > 1", 3),
    ("text", "self.matches('^[a-z]+$')", 11),
    ("text", "self.matches('a')", 6),
    ("text", "self.startsWith('a')", 2),
    ("text", "self.contains('a')", 5),
    ("text", "self.endsWith('abcdefghijklmnop')", 3),
    ("text", "self + 'a' == 'b'", 7),
    ("text", "self < 'b'", 2),
    ("text", "!self.matches('^x')", 7),
    ("text", "self == '' || self == 'b'", 3),
    ("text", "self.lowerAscii() == 'a'", 6),
    ("text", "dyn(self) != null", 3),
    ("text", "self.split(',').size() > 1", 11),
    ("text", "self.trim() == 'a'", 6),
    ("text", "self.find('a') == 'a'", 7),
    ("text", "string(size(self)) == '1'", 4),
    ("text", "self.replace('a','b') == 'x'", 10),
    ("text", "isURL(self)", 2),
    ("text", "url(self).getHost() == 'x'", 7),
    ("text", "ip(self).family() == 4", 7),
    ("text", "isIP(self)", 5),
    ("text", "cidr(self).prefixLength() > 2", 7),
    ("text", "isCIDR(self)", 5),
    ("text", "quantity(self).isGreaterThan(quantity('1'))", 7),
    ("text", "isQuantity(self)", 5),
    ("text", "self.indexOf('a') > 1", 6),
    ("text", "self.substring(1) == 'a'", 6),
    ("text", "self.charAt(0) == 'a'", 3),
    ("text", "!format.dns1123Label().validate(self).hasValue()", 132),
    ("text", "duration(self) > duration('1s')", 4),
    ("text", "timestamp(self) > timestamp('2020-01-01T00:00:00Z')", 4),
    ("text", "int(self) > 1", 3),
    ("text", "double(self) > 1.0", 3),
    ("text", "bytes(self) == b'a'", 6),
    ("text", "'%s' .format([self]) == 'a'", 13),
    ("text", "isSemver(self)", 5),
    ("text", "semver(self).major() > 1", 7),
    ("int", "self > 1", 2),
    ("int", "self % 2 == 0", 3),
    ("int", "self in [1,2,3]", 14),
    ("int", "self == 1 || self == 2", 2),
    ("int", "double(self) > 1.0", 3),
    ("int", "string(self) == '1'", 3),
    ("int", "(self % 2 + 2) % 2 == 1", 5),
    ("int", "self > 1 ? self < 3 : self == 0", 4),
    ("int", "-self > 3", 3),
    ("int", "[1,2,3].exists(x, x == self)", 29),
    ("int", "self * 2 > 3", 3),
    ("double", "self > 1.0", 2),
    ("double", "self == 1.5", 1),
    ("double", "self in [1.0, 2.5]", 13),
    ("bool", "self", 1),
    ("bool", "!self", 2),
    ("bool", "self == true", 1),
    ("bool", "self != false", 1),
    ("texts", "size(self) > 1", 3),
    ("texts", "self.all(x, x != '')", 22),
    ("texts", "self.exists(x, x == 'a')", 32),
    ("texts", "self.exists_one(x, x == 'a')", 23),
    ("texts", "self.all(x, self.exists_one(y, y == x))", 232),
    ("texts", "self.map(x, x + 'a').size() > 1", 104),
    ("texts", "self.filter(x, x == 'a').size() > 1", 89),
    ("texts", "'a' in self", 6),
    ("texts", "self[0] == 'a'", 3),
    ("texts", "self == ['a']", 12),
    ("texts", "self.isSorted()", 26),
    ("texts", "self.indexOf('a') > 1", 27),
    ("texts", "sets.contains(self, ['a'])", 17),
    ("texts", "sets.equivalent(self,['a','b'])", 32),
    ("texts", "sets.intersects(self,['a'])", 17),
    ("texts", "self.join(',') == 'a'", 23),
    ("texts", "self.map(x, x=='a', x).size() > 0", 89),
    ("texts", "self.all(i, x, i > 1 && x == 'a')", 37),
    ("texts", "self + ['a'] == ['b']", 23),
    ("ints", "self.sum() > 5", 7),
    ("ints", "self.min() > 1", 7),
    ("ints", "self.all(x, x > 1)", 27),
    ("ints", "1 in self", 6),
    ("ints", "self.isSorted()", 6),
    ("map_of_texts", "size(self) > 1", 3),
    ("map_of_texts", "self.all(k, k != '')", 22),
    ("map_of_texts", "self.all(k, self[k] != '')", 32),
    ("map_of_texts", "'a' in self", 2),
    ("map_of_texts", "self.a == 'b'", 3),
    ("map_of_texts", "has(self.a)", 1),
    ("map_of_texts", "self.exists(k, self[k] == 'a')", 42),
    ("map_of_texts", "self.all(k, v, v == 'a')", 27),
    ("map_of_texts", "self == {'a': 'b'}", 32),
    ("map_of_texts", "self.transformMap(k, v, v + 'a').size() > 1", 79),
    ("map_of_texts", "self.map(k, k).size() > 1", 79),
    ("map_of_texts", "self.all(k, k.matches('^[a-z]+$'))", 32),
    ("object", "has(self.a)", 1),
    ("object", "!has(self.a) || has(self.b)", 3),
    ("object", "has(self.a) && self.a == 'x'", 4),
    ("object", "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) == 1", 4),
    ("object", "self.a == self.d.e", 9),
    ("object", "size(self.c) > self.b", 6),
    ("object", "[has(self.a), has(self.b)].filter(x, x).size() == 1", 53),
    ("object", "[has(self.a), has(self.b)].exists_one(x, x)", 20),
    ("object", "self.?a.orValue('x') == 'x'", 4),
    ("object", "self.?a.hasValue()", 3),
    ("object", "self.?d.?e.orValue('b') == 'b'", 5),
    ("object", "self.d != null", 2),
    ("object", "self == self", 2),
    ("object", "has(self.d) && has(self.d.e)", 3),
    ("object", "self.c.all(x, x == self.a)", 33),
    ("object", "self.a + self.d.e == 'x'", 14),
    ("object", "optional.of(self.b).orValue(1) > 1", 5),
    ("object", "[self.a, self.d.e].all(x, x != '')", 24),
    ("object", "{'a': self.a}.size() == 1", 34),
    ("text", "!format.dns1123Subdomain().validate(self).hasValue()", 132),
    ("text", "!format.dns1035Label().validate(self).hasValue()", 132),
    ("text", "!format.qualifiedName().validate(self).hasValue()", 132),
    ("text", "!format.labelValue().validate(self).hasValue()", 132),
    ("text", "!format.uri().validate(self).hasValue()", 132),
    ("text", "!format.uuid().validate(self).hasValue()", 132),
    ("text", "!format.byte().validate(self).hasValue()", 132),
    ("text", "!format.date().validate(self).hasValue()", 132),
    ("text", "!format.datetime().validate(self).hasValue()", 132),
    ("text", "!format.dns1123LabelPrefix().validate(self).hasValue()", 132),
    ("text", "self.matches('^[a-z]{1,3}$') ? true : self == 'x'", 18),
    ("text", "!(self in ['a','b'])", 14),
    ("text", "self != 'a' && self != 'b'", 4),
    ("text", "dyn(self) == dyn('a')", 4),
    ("text", "self.lastIndexOf('ab') > 1", 6),
    ("text", "self.startsWith('')", 1),
    ("text", "self.upperAscii() in ['a']", 16),
    ("text", "ip.isCanonical(self)", 9),
    ("text", "self.split(',').all(x, x != '')", 170),
    ("text", "self.replace('a','bbbbbbbbbbbbbbbbbbbbbbbbbbbbb') == 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'", 17),
    ("text", "quantity(self).add(quantity('1')).isInteger()", 8),
    ("text", "type(self) == string", 7),
    ("text", "string(self) == 'a'", 3),
    ("ints", "self.all(x, self.exists_one(y, y == x))", 132),
    ("ints", "self.map(x, x + 1).all(y, y > 0)", 108),
    ("ints", "self == [1,2]", 12),
    ("ints", "self[0] > 1", 3),
    ("ints", "self.max() > 1", 7),
    ("ints", "self.filter(x, x > 1).all(y, y < 3)", 113),
    ("ints", "self.reverse() == self", 19),
    ("ints", "size(self) == 0 || self[0] == 1", 5),
    ("ints", "self.exists(i, v, v == i)", 32),
    ("ints", "self.transformList(i, v, v + 1).size() > 1", 84),
    ("map_of_ints", "self.all(k, k in ['a','b'])", 82),
    ("map_of_ints", "self.all(k, k.startsWith('abc'))", 27),
    ("map_of_ints", "self.all(k, size(k) > 1)", 32),
    ("map_of_ints", "self == self", 3),
    ("map_of_ints", "self.all(k, self[k] == 1)", 32),
    ("map_of_ints", "'abc' in self && self['abc'] == 1", 4),
];

#[test]
fn costs_are_estimated_as_the_server_does() {
    let mut wrong = Vec::new();
    for &(of, source, want) in ESTIMATES {
        let (ty, shape) = declared(of);
        let env = Env { variables: vec![("self".to_owned(), ty)], library: Library::Kubernetes };
        let program = Program::compile(source, &env).unwrap_or_else(|error| panic!("{source}: {error}"));
        let found = program.estimate(&[shape]);
        if found != want {
            wrong.push(format!("{of}: {source}: {found} instead of {want}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
