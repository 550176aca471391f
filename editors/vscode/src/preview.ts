import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { MapRow, Preview, outputLine, sourceRow } from "./server";

/** The document that shows rendered output. */
const SCHEME = "ytterby-preview";
const PREVIEW = vscode.Uri.parse(`${SCHEME}:/output.yml`);

/** A read-only document beside the template that shows the output and follows the cursor. */
export class PreviewPane implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.lineHighlightBackground"),
    borderColor: new vscode.ThemeColor("editor.lineHighlightBorder"),
  });
  private readonly disposables: vscode.Disposable[] = [];
  private text = "";
  private map: MapRow[] = [];
  private source: vscode.Uri | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly client: () => LanguageClient | undefined) {
    this.disposables.push(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidChangeTextDocument((event) => {
        if (event.document.uri.scheme !== SCHEME) this.refreshSoon();
      }),
      vscode.window.onDidChangeTextEditorSelection((event) => this.follow(event.textEditor)),
      this.mark,
      this.changed,
    );
  }

  provideTextDocumentContent(): string {
    return this.text;
  }

  /** Opens the pane for the document of the active editor. */
  async open(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return;
    this.source = editor.document.uri;
    await this.refresh();
    const document = await vscode.workspace.openTextDocument(PREVIEW);
    await vscode.languages.setTextDocumentLanguage(document, "yaml");
    await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
      preview: true,
    });
    this.follow(editor);
  }

  private refreshSoon(): void {
    if (!this.source || !this.shown()) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), 150);
  }

  private async refresh(): Promise<void> {
    const client = this.client();
    if (!client || !this.source) return;
    const target = vscode.workspace.getConfiguration("ytterby", this.source).get<string>("target") || null;
    try {
      const preview = await client.sendRequest<Preview>("ytterby/preview", { uri: this.source.toString(), target });
      const failed = preview.diagnostics.map((diagnostic) => `# ${diagnostic.message.replace(/\n/g, "\n# ")}\n`);
      // Lines above the output would shift the map.
      this.text = preview.output + (failed.length ? `\n# The output above is the last good one.\n${failed.join("")}` : "");
      this.map = preview.map;
    } catch (error) {
      this.text = `# ${String(error)}\n`;
      this.map = [];
    }
    this.changed.fire(PREVIEW);
  }

  private shown(): vscode.TextEditor | undefined {
    return vscode.window.visibleTextEditors.find((editor) => editor.document.uri.scheme === SCHEME);
  }

  private follow(editor: vscode.TextEditor): void {
    const pane = this.shown();
    if (!pane) return;
    const line = editor.selection.active.line;
    if (editor === pane) {
      const row = sourceRow(this.map, line);
      const source = vscode.window.visibleTextEditors.find((other) => other.document.uri.toString() === row?.uri);
      if (row && source) reveal(source, row.sourceLine);
      return;
    }
    const found = outputLine(this.map, editor.document.uri.toString(), line);
    if (found === undefined) return;
    pane.setDecorations(this.mark, [pane.document.lineAt(Math.min(found, pane.document.lineCount - 1)).range]);
    reveal(pane, found);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.disposables.forEach((disposable) => disposable.dispose());
  }
}

function reveal(editor: vscode.TextEditor, line: number): void {
  const at = new vscode.Position(Math.min(line, editor.document.lineCount - 1), 0);
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
