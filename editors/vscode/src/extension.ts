import * as vscode from "vscode";
import { LanguageClient, State } from "vscode-languageclient/node";
import { PreviewPane } from "./preview";
import { command, documentSelector, quoted } from "./server";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const preview = new PreviewPane(() => client);
  context.subscriptions.push(
    preview,
    vscode.commands.registerCommand("ytterby.preview", () => preview.open()),
    vscode.commands.registerCommand("ytterby.chooseTarget", chooseTarget),
    vscode.commands.registerCommand("ytterby.explain", explain),
    vscode.commands.registerCommand("ytterby.build", () => inTerminal(["build"])),
    vscode.commands.registerCommand("ytterby.test", () => inTerminal(["test"])),
    vscode.commands.registerCommand("ytterby.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("ytterby.path")) void restart();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  if (client?.state === State.Running) await client.stop();
}

async function start(): Promise<void> {
  const run = command(vscode.workspace.getConfiguration("ytterby").get<string>("path"));
  client = new LanguageClient(
    "ytterby",
    "Ytterby",
    { run, debug: run },
    {
      documentSelector: documentSelector(),
      synchronize: { configurationSection: "ytterby" },
      initializationOptions: { target: vscode.workspace.getConfiguration("ytterby").get<string>("target") },
    },
  );
  try {
    await client.start();
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(
      `The server ${run.command} does not start: ${String(error)}`,
      "Open Settings",
    );
    if (choice) await vscode.commands.executeCommand("workbench.action.openSettings", "ytterby.path");
  }
}

async function restart(): Promise<void> {
  if (client?.state === State.Running) await client.stop();
  await start();
}

async function chooseTarget(): Promise<void> {
  const name = await vscode.window.showInputBox({ prompt: "Target whose values are shown; empty for the first one" });
  if (name === undefined) return;
  await vscode.workspace.getConfiguration("ytterby").update("target", name, vscode.ConfigurationTarget.Workspace);
  await client?.sendRequest("workspace/executeCommand", { command: "ytterby.selectTarget", arguments: [name] });
}

/** Runs `ytterby explain` for the data value at the cursor. */
async function explain(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return;
  const position = editor.selection.active;
  const range = editor.document.getWordRangeAtPosition(position, /[\w.\[\]]+/);
  const word = range ? editor.document.getText(range).replace(/^.*data\.values\./, "") : "";
  const path = await vscode.window.showInputBox({ prompt: "Data value or KIND/NAME:path", value: word });
  if (path) inTerminal(["explain", path]);
}

function inTerminal(args: string[]): void {
  const run = command(vscode.workspace.getConfiguration("ytterby").get<string>("path"));
  const open = vscode.window.terminals.find((terminal) => terminal.name === "ytterby");
  const terminal = open ?? vscode.window.createTerminal("ytterby");
  terminal.show(true);
  terminal.sendText([run.command, ...args].map(quoted).join(" "));
}
