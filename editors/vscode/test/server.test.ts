import assert from "node:assert";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { StreamMessageReader, StreamMessageWriter, createMessageConnection } from "vscode-jsonrpc/node";
import { LANGUAGES, Preview, command, documentSelector, outputLine, quoted, sourceRow } from "../src/server";
import { program } from "./program";

const root = join(__dirname, "..");

const found = program();
const skip = found ? false : "there is no ytterby: set YTTERBY to the program";

test("the manifest names what the code uses", () => {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const languages = manifest.contributes.languages.map((language: { id: string }) => language.id);
  assert.deepEqual(languages, [...LANGUAGES]);
  const source = readFileSync(join(root, "src/extension.ts"), "utf8");
  for (const { command } of manifest.contributes.commands) assert(source.includes(`"${command}"`), command);
  for (const language of LANGUAGES) assert(documentSelector().some((filter) => filter.language === language));
  for (const grammar of manifest.contributes.grammars) assert(existsSync(join(root, grammar.path)), grammar.path);
});

test("lines are mapped both ways", () => {
  const uri = "file:///t.yml";
  const map = [
    { line: 0, uri, sourceLine: 2 },
    { line: 1, uri, sourceLine: 4 },
    { line: 2, uri: "file:///u.yml", sourceLine: 0 },
  ];
  assert.equal(outputLine(map, uri, 4), 1);
  assert.equal(outputLine(map, uri, 3), 0);
  assert.equal(outputLine(map, uri, 1), undefined);
  assert.deepEqual(sourceRow(map, 5)?.uri, "file:///u.yml");
  assert.equal(quoted("a b"), "'a b'");
  assert.equal(quoted("prod"), "prod");
});

test("the server answers", { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "ytterby-vscode-"));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write("schema.yml", '#@data/values-schema\n---\n#@schema/desc "How many copies run."\nreplicas: 2\n');
  const template = '#@ load("@ytt:data", "data")\n---\nreplicas: #@ data.values.replicas\nwrong: #@ data.values.nothing\n';
  write("t.yml", template);
  const run = command(found);
  const server = spawn(run.command, run.args, { stdio: ["pipe", "pipe", "inherit"] });
  const connection = createMessageConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  try {
    connection.onRequest(() => null);
    connection.listen();
    const rootUri = pathToFileURL(folder).toString();
    const uri = pathToFileURL(join(folder, "t.yml")).toString();
    const capabilities = {
      textDocument: { diagnostic: {}, completion: { completionItem: { snippetSupport: true } } },
    };
    const workspaceFolders = [{ uri: rootUri, name: "x" }];
    await connection.sendRequest("initialize", { processId: process.pid, rootUri, workspaceFolders, capabilities });
    await connection.sendNotification("initialized", {});
    const textDocument = { uri, languageId: "ytt", version: 1, text: template };
    await connection.sendNotification("textDocument/didOpen", { textDocument });

    const diagnostics = await connection.sendRequest<{ items: { code: string; range: { start: { line: number } } }[] }>(
      "textDocument/diagnostic",
      { textDocument: { uri } },
    );
    assert.deepEqual(
      diagnostics.items.map((item) => [item.code, item.range.start.line]),
      [["code/unknown-value", 3]],
    );
    const position = { line: 2, character: 25 };
    const hover = await connection.sendRequest<{ contents: { value: string } }>("textDocument/hover", {
      textDocument: { uri },
      position,
    });
    assert.match(hover.contents.value, /How many copies run/);
    const contentChanges = [{ range: { start: { line: 3, character: 0 }, end: { line: 4, character: 0 } }, text: "" }];
    await connection.sendNotification("textDocument/didChange", { textDocument: { uri, version: 2 }, contentChanges });
    const preview = await connection.sendRequest<Preview>("ytterby/preview", { uri, target: null });
    assert.equal(preview.output, "replicas: 2\n");
    assert.deepEqual(preview.map, [{ line: 0, uri, sourceLine: 2 }]);
    await connection.sendRequest("shutdown");
    const code = new Promise((resolve) => server.on("exit", resolve));
    await connection.sendNotification("exit");
    assert.equal(await code, 0);
  } finally {
    connection.dispose();
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
