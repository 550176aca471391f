// The packaged extension with the real `vscode-languageclient`, in Node: only the editor itself is a stand-in.

import assert from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { URI } from "vscode-uri";
import { Editor } from "./editor";
import { program } from "./program";

const found = program();
const skip = found ? false : "there is no ytterby: set YTTERBY to the program";

async function until<T>(what: string, value: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  const end = Date.now() + 20_000;
  for (;;) {
    const now = await value();
    if (now) return now;
    assert(Date.now() < end, `no ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test("the client of the extension talks to the server", { skip, timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "ytterby-vscode-"));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const schema = '#@data/values-schema\n---\n#@schema/desc "How many copies run."\nreplicas: 2\n';
  const template = '#@ load("@ytt:data", "data")\n---\na: #@ data.values.replicas\nb: #@ data.values.nothing\n';
  write("schema.yml", schema);
  write("t.yml", template);
  write("ytterby.yml", "files: [schema.yml, t.yml]\ntargets:\n  dev: {}\n  prod: {set: {replicas: 5}}\n");
  const editor = new Editor(folder, { "ytterby.path": found, "ytterby.target": "" });
  editor.install();
  const packaged = join(__dirname, "../dist/extension.js");
  const extension = require(packaged);
  const uri = URI.file(join(folder, "t.yml"));
  const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };
  try {
    const document = editor.open(uri, "ytt", template);
    const shown = editor.active;
    await extension.activate({ subscriptions: [], extensionPath: join(__dirname, "..") });
    assert.deepEqual(editor.errors, []);

    // Diagnostics: the client pulls them.
    const pulled = async () => {
      const all = [...editor.diagnostics.values()].flat();
      return all.find((one) => String(one.code?.value ?? one.code) === "code/unknown-value");
    };
    const diagnostic = await until("diagnostic", pulled);
    assert.equal(diagnostic.range.start.line, 3);

    // Completion and hover, through the providers that the client registered.
    const completion = await until("completion provider", () => editor.provider("CompletionItem"));
    const at = document.behind("data.values.");
    const items = await completion.provideCompletionItems(document, at, token, { triggerKind: 0 });
    const labels = (items.items ?? items).map((item: { label: string }) => item.label);
    assert(labels.includes("replicas"), labels.join());
    const hover = await editor.provider("Hover").provideHover(document, document.behind("data.values.repl"), token);
    assert(JSON.stringify(hover.contents).includes("How many copies run."), JSON.stringify(hover));

    // Definition, rename, symbols.
    const places = await editor.provider("Definition").provideDefinition(document, document.behind("data.values.repl"), token);
    assert(JSON.stringify(places).includes("schema.yml"), JSON.stringify(places));
    const edit = await editor.provider("Rename").provideRenameEdits(document, document.behind("data.values.repl"), "copies", token);
    const changed = [...edit.all.keys()].map((name: string) => name.split("/").pop()).sort();
    assert.deepEqual(changed, ["schema.yml", "t.yml", "ytterby.yml"]);

    // The preview pane shows the output and follows the cursor.
    editor.change(document, template.replace("b: #@ data.values.nothing", "b: 1"));
    await editor.commands.get("ytterby.preview")!();
    const pane = await until("pane", () => editor.visible.find((one) => one.document.uri.scheme === "ytterby-preview"));
    assert.match(pane.document.getText(), /a: 2\nb: 1/);
    editor.moveTo(shown, 3);
    assert.equal(pane.revealed, 1);
    editor.moveTo(shown, 2);
    assert.equal(pane.revealed, 0);

    // The diagnostic goes with its cause.
    await until("end of diagnostics", async () => (await pulled()) === undefined);

    // Commands: build, test, explain and the selection of a target.
    editor.input = "replicas";
    await editor.commands.get("ytterby.build")!();
    await editor.commands.get("ytterby.test")!();
    await editor.commands.get("ytterby.explain")!();
    assert.deepEqual(editor.sent.map((line) => line.split(" ").slice(1).join(" ")), ["build", "test", "explain replicas"]);
    editor.input = "prod";
    await editor.commands.get("ytterby.chooseTarget")!();
    const current = async () => {
      const hover = await editor.provider("Hover").provideHover(document, document.behind("data.values.repl"), token);
      return JSON.stringify(hover.contents).includes("`5`");
    };
    await until("value of the target", current);
  } finally {
    await extension.deactivate();
    rmSync(folder, { recursive: true, force: true });
  }
});
