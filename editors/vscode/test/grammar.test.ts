import assert from "node:assert";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import * as oniguruma from "vscode-oniguruma";
import * as textmate from "vscode-textmate";

const root = join(__dirname, "..");

/** A grammar for YAML that is good enough to carry the injection: comments and nothing else. */
const yaml = {
  scopeName: "source.yaml",
  patterns: [{ match: "(?:^|(?<=\\s))#.*$", name: "comment.line.number-sign.yaml" }],
  repository: {},
};

async function tokens(scope: string, line: string): Promise<[string, string][]> {
  const wasm = readFileSync(join(dirname(require.resolve("vscode-oniguruma/package.json")), "release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength)).catch(() => undefined);
  const read = (name: string) => {
    const path = join(root, "syntaxes", name);
    return textmate.parseRawGrammar(readFileSync(path, "utf8"), path);
  };
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (name) => {
      if (name === "source.yaml") return textmate.parseRawGrammar(JSON.stringify(yaml), "yaml.json");
      if (name === "source.ytt") return read("ytt.tmLanguage.json");
      if (name === "ytt.injection") return read("ytt.injection.tmLanguage.json");
      return null;
    },
    getInjections: (name) => (name === "source.yaml" || name === "source.ytt" ? ["ytt.injection"] : undefined),
  });
  const grammar = await registry.loadGrammar(scope);
  assert(grammar);
  const result = grammar.tokenizeLine(line, textmate.INITIAL);
  return result.tokens.map((token) => [line.slice(token.startIndex, token.endIndex), token.scopes.join(" ")]);
}

async function scopeOf(scope: string, line: string, text: string): Promise<string> {
  const found = (await tokens(scope, line)).find(([part]) => part.trim() === text);
  assert(found, `no token ${text} in ${line}`);
  return found[1];
}

for (const scope of ["source.yaml", "source.ytt"]) {
  test(`code in comments of ${scope}`, async () => {
    assert.match(await scopeOf(scope, "#@ if data.values.x:", "if"), /keyword\.control\.ytt/);
    assert.match(await scopeOf(scope, 'a: #@ full("x")', '"'), /string\.quoted\.double\.ytt/);
    assert.match(await scopeOf(scope, 'a: #@ full("x")', "full"), /entity\.name\.function\.call\.ytt/);
    assert.match(await scopeOf(scope, "#@ def render(name):", "render"), /entity\.name\.function\.ytt/);
  });

  test(`annotations of ${scope}`, async () => {
    assert.match(await scopeOf(scope, "#@schema/validation min=1", "schema/validation"), /decorator\.ytt/);
    assert.match(await scopeOf(scope, "#@schema/validation min=1", "1"), /constant\.numeric\.ytt/);
  });

  test(`plain comments and YAML of ${scope} stay what they are`, async () => {
    assert.match(await scopeOf(scope, "#! if this", "#! if this"), /comment/);
    const words = await tokens(scope, "for: in # if");
    assert(words.every(([, scopes]) => !scopes.includes("keyword.control.ytt")));
  });
}
