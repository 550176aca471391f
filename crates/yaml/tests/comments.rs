//! Tests which node a comment belongs to.

mod common;

use common::check_comments;

#[test]
fn to_the_node_on_its_line_else_to_the_one_below() {
    check_comments("a: 1 # x\n# y\nb: 2\n", "1 ---\n1 a |  x\n3 b | ^ y");
    check_comments("a:\n  # x\n  b: 1\n# y\nc: 2\n", "1 ---\n1 a\n3 b | ^ x\n5 c | ^ y");
}

#[test]
fn to_the_last_node_of_a_line() {
    check_comments("a: {b: 1} # x\n", "1 ---\n1 a\n1 b |  x");
    check_comments("- - a # x\n", "1 ---\n1 -\n1 - |  x");
    check_comments("a: [ # x\n  b, # y\n  c # z\n]\n", "1 ---\n1 a\n1 - |  x\n2 - |  y\n? --- | ^ z");
}

#[test]
fn to_the_bracket_if_it_is_empty() {
    check_comments("a: [ # x\n]\nb: 1\n", "1 ---\n1 a |  x\n3 b");
}

#[test]
fn of_documents() {
    check_comments("# x\n---\na: 1\n", "1 ---\n2 --- | ^ x\n3 a");
    check_comments("--- # x\n# y\na: 1\n", "1 --- |  x\n3 a | ^ y");
    check_comments("a: 1\n# x\n---\nb: 2\n", "1 ---\n1 a\n3 --- | ^ x\n4 b");
}

#[test]
fn at_the_end_to_a_separate_document() {
    check_comments("a: 1\n# x\n", "1 ---\n1 a\n? --- | ^ x");
    check_comments("a: 1\n...\n# lost\n", "1 ---\n1 a");
    check_comments("# x", "1 ---\n? --- | ^ x");
}

#[test]
fn not_inside_of_scalars() {
    check_comments("a: |\n  # text\nb: x#y\nc: '# z'\n", "1 ---\n1 a\n3 b\n4 c");
    check_comments("a: | # lost\n  b\n", "1 ---\n1 a");
}
