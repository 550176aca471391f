// A stand-in for the editor's API, as far as `vscode-languageclient` and the extension use it. Documents are texts in
// memory; what the client registers (providers, diagnostics, commands) is kept for tests to call.

import Module from "node:module";
import { URI } from "vscode-uri";

type Callback = (...args: any[]) => any;

class Disposable {
  constructor(private readonly callback: Callback = () => {}) {}
  static from(...all: { dispose(): void }[]): Disposable {
    return new Disposable(() => all.forEach((one) => one.dispose()));
  }
  dispose(): void {
    this.callback();
  }
}

class EventEmitter {
  private listeners = new Set<Callback>();
  readonly event = (listener: Callback, self?: unknown): Disposable => {
    const bound = self ? listener.bind(self) : listener;
    this.listeners.add(bound);
    return new Disposable(() => this.listeners.delete(bound));
  };
  fire(value?: unknown): void {
    [...this.listeners].forEach((listener) => listener(value));
  }
  dispose(): void {
    this.listeners.clear();
  }
}

class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(...at: any[]) {
    const numbers = typeof at[0] === "number";
    this.start = numbers ? new Position(at[0], at[1]) : at[0];
    this.end = numbers ? new Position(at[2], at[3]) : at[1];
  }
  get isEmpty(): boolean {
    return this.start.line === this.end.line && this.start.character === this.end.character;
  }
}

class Location {
  constructor(
    readonly uri: URI,
    readonly range: Range,
  ) {}
}

class TextEdit {
  constructor(
    readonly range: Range,
    readonly newText: string,
  ) {}
}

class WorkspaceEdit {
  readonly all = new Map<string, TextEdit[]>();
  set(uri: URI, edits: TextEdit[]): void {
    this.all.set(uri.toString(), edits);
  }
  replace(uri: URI, range: Range, text: string): void {
    this.all.set(uri.toString(), [...(this.all.get(uri.toString()) ?? []), new TextEdit(range, text)]);
  }
}

class TabInputText {
  constructor(readonly uri: URI) {}
}

class MarkdownString {
  isTrusted = false;
  supportHtml = false;
  constructor(public value = "") {}
  appendCodeblock(code: string): this {
    this.value += code;
    return this;
  }
}

class Hover {
  constructor(
    readonly contents: any,
    readonly range?: Range,
  ) {}
}

class Diagnostic {
  source?: string;
  code?: any;
  relatedInformation?: unknown[];
  tags?: number[];
  constructor(
    readonly range: Range,
    readonly message: string,
    readonly severity?: number,
  ) {}
}

class CompletionItem {
  documentation?: unknown;
  constructor(
    public label: string,
    public kind?: number,
  ) {}
}

class CompletionList {
  constructor(
    public items: CompletionItem[] = [],
    public isIncomplete = false,
  ) {}
}

class CodeActionKind {
  static readonly Empty = new CodeActionKind("");
  constructor(readonly value: string) {}
  append(part: string): CodeActionKind {
    return new CodeActionKind(this.value ? `${this.value}.${part}` : part);
  }
}

class CancellationTokenSource {
  private readonly cancelled = new EventEmitter();
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.cancelled.event };
  cancel(): void {
    this.token.isCancellationRequested = true;
    this.cancelled.fire();
  }
  dispose(): void {}
}

/** A text in the editor. */
export class Document {
  version = 1;
  isClosed = false;
  isDirty = false;
  constructor(
    readonly uri: URI,
    readonly languageId: string,
    private text: string,
  ) {}
  get fileName(): string {
    return this.uri.fsPath;
  }
  get lineCount(): number {
    return this.text.split("\n").length;
  }
  getText(range?: Range): string {
    return range ? this.text.slice(this.offsetAt(range.start), this.offsetAt(range.end)) : this.text;
  }
  lineAt(line: number): { range: Range; text: string } {
    const text = this.text.split("\n")[line] ?? "";
    return { text, range: new Range(line, 0, line, text.length) };
  }
  offsetAt(at: Position): number {
    const before = this.text.split("\n").slice(0, at.line);
    return before.reduce((sum, line) => sum + line.length + 1, 0) + at.character;
  }
  /** The place behind a piece of the text. */
  behind(piece: string): Position {
    const before = this.text.slice(0, this.text.indexOf(piece) + piece.length).split("\n");
    return new Position(before.length - 1, before[before.length - 1]!.length);
  }
  getWordRangeAtPosition(at: Position, word: RegExp): Range | undefined {
    const line = this.lineAt(at.line).text;
    for (const found of line.matchAll(new RegExp(word, "g"))) {
      const end = found.index! + found[0].length;
      if (found.index! <= at.character && at.character <= end) return new Range(at.line, found.index, at.line, end);
    }
    return undefined;
  }
  replaceAll(text: string): { range: Range; rangeOffset: number; rangeLength: number; text: string }[] {
    const last = this.lineAt(this.lineCount - 1).range.end;
    const change = { range: new Range(new Position(0, 0), last), rangeOffset: 0, rangeLength: this.text.length, text };
    this.text = text;
    this.version += 1;
    return [change];
  }
}

/** The editor: what is open, what is set, what the extension has registered. */
export class Editor {
  readonly documents: Document[] = [];
  readonly providers = new Map<string, any[]>();
  readonly commands = new Map<string, Callback>();
  readonly diagnostics = new Map<string, Diagnostic[]>();
  readonly contentProviders = new Map<string, any>();
  readonly sent: string[] = [];
  readonly errors: string[] = [];
  readonly marked: Range[][] = [];
  input: string | undefined;
  active: any;
  visible: any[] = [];
  private readonly events = new Map<string, EventEmitter>();

  constructor(
    readonly folder: string,
    readonly settings: Record<string, unknown>,
  ) {}

  event(name: string): EventEmitter {
    if (!this.events.has(name)) this.events.set(name, new EventEmitter());
    return this.events.get(name)!;
  }

  /** Opens a document in an editor of its own, which becomes the active one. */
  open(uri: URI, languageId: string, text: string): Document {
    const document = new Document(uri, languageId, text);
    this.documents.push(document);
    this.active = this.show(document);
    this.event("onDidOpenTextDocument").fire(document);
    return document;
  }

  show(document: Document): any {
    const at = new Position(0, 0);
    const shown = {
      document,
      selection: { active: at },
      revealed: undefined as number | undefined,
      revealRange(range: Range) {
        this.revealed = range.start.line;
      },
      setDecorations: (_: unknown, ranges: Range[]) => this.marked.push(ranges),
    };
    this.visible.push(shown);
    return shown;
  }

  change(document: Document, text: string): void {
    const contentChanges = document.replaceAll(text);
    this.event("onDidChangeTextDocument").fire({ document, contentChanges, reason: undefined });
  }

  moveTo(shown: any, line: number): void {
    shown.selection = { active: new Position(line, 0) };
    this.event("onDidChangeTextEditorSelection").fire({ textEditor: shown });
  }

  /** The last provider of a kind, as `languages.register…Provider` got it. */
  provider(kind: string): any {
    return this.providers.get(kind)?.at(-1);
  }

  /** Puts this editor in the place of the module `vscode`. */
  install(): void {
    const api = this.api();
    const loader = Module as unknown as { _load: Callback };
    const load = loader._load;
    loader._load = function (name: string, ...rest: unknown[]) {
      return name === "vscode" ? api : load.call(this, name, ...rest);
    };
  }

  private api(): any {
    const on = (name: string) => this.event(name).event;
    const events = (names: string[]) => Object.fromEntries(names.map((name) => [name, on(name)]));
    const folders = [{ uri: URI.file(this.folder), name: "project", index: 0 }];
    const configuration = (section = "") => ({
      get: (name: string, fallback?: unknown) => this.settings[section ? `${section}.${name}` : name] ?? fallback,
      has: (name: string) => `${section}.${name}` in this.settings,
      update: async (name: string, value: unknown) => void (this.settings[`${section}.${name}`] = value),
      inspect: () => undefined,
    });
    const channel = () => ({ append() {}, appendLine() {}, clear() {}, show() {}, hide() {}, dispose() {}, replace() {} });
    const languages = new Proxy(
      {
        match: (selector: any, document: Document) => {
          const fits = (one: any) => one === document.languageId || one.language === document.languageId;
          return [selector].flat().some(fits) ? 10 : 0;
        },
        createDiagnosticCollection: () => ({
          set: (uri: URI, found: Diagnostic[]) => this.diagnostics.set(uri.toString(), found ?? []),
          delete: (uri: URI) => this.diagnostics.delete(uri.toString()),
          clear: () => this.diagnostics.clear(),
          dispose() {},
        }),
        setTextDocumentLanguage: async (document: Document) => document,
      } as Record<string, any>,
      {
        get: (known, name: string) =>
          known[name] ??
          ((_: unknown, provider: unknown) => {
            const kind = name.replace(/^register|Provider$/g, "");
            this.providers.set(kind, [...(this.providers.get(kind) ?? []), provider]);
            return new Disposable();
          }),
      },
    );
    const workspace = {
      ...events([
        "onDidOpenTextDocument", "onDidChangeTextDocument", "onDidCloseTextDocument", "onDidSaveTextDocument",
        "onWillSaveTextDocument", "onDidChangeWorkspaceFolders", "onDidChangeConfiguration", "onDidCreateFiles",
        "onDidRenameFiles", "onDidDeleteFiles", "onWillCreateFiles", "onWillRenameFiles", "onWillDeleteFiles",
        "onDidOpenNotebookDocument", "onDidChangeNotebookDocument", "onDidSaveNotebookDocument", "onDidCloseNotebookDocument",
      ]),
      workspaceFolders: folders,
      textDocuments: this.documents,
      notebookDocuments: [],
      getConfiguration: configuration,
      getWorkspaceFolder: () => folders[0],
      createFileSystemWatcher: () => ({
        onDidCreate: new EventEmitter().event,
        onDidChange: new EventEmitter().event,
        onDidDelete: new EventEmitter().event,
        dispose() {},
      }),
      registerTextDocumentContentProvider: (scheme: string, provider: unknown) => {
        this.contentProviders.set(scheme, provider);
        return new Disposable();
      },
      openTextDocument: async (uri: URI) => {
        const provider = this.contentProviders.get(uri.scheme);
        return new Document(uri, "yaml", (await provider?.provideTextDocumentContent(uri)) ?? "");
      },
      applyEdit: async () => true,
    };
    const self = this;
    const window = {
      ...events(["onDidChangeActiveTextEditor", "onDidChangeVisibleTextEditors", "onDidChangeTextEditorSelection"]),
      get activeTextEditor() {
        return self.active;
      },
      get visibleTextEditors() {
        return self.visible;
      },
      tabGroups: {
        get all() {
          const tabs = self.documents.map((document) => ({ input: new TabInputText(document.uri), isActive: true }));
          return [{ tabs, activeTab: tabs.at(-1) }];
        },
        ...events(["onDidChangeTabs", "onDidChangeTabGroups"]),
      },
      terminals: [] as unknown[],
      createOutputChannel: channel,
      createTextEditorDecorationType: () => new Disposable(),
      createTerminal: (name: string) => ({ name, show() {}, sendText: (text: string) => this.sent.push(text) }),
      showTextDocument: async (document: Document) => this.show(document),
      showInputBox: async () => this.input,
      showErrorMessage: async (text: string) => void this.errors.push(text),
      showInformationMessage: async () => undefined,
      showWarningMessage: async () => undefined,
      withProgress: (_: unknown, task: Callback) => task({ report() {} }, new CancellationTokenSource().token),
    };
    const known: Record<string, unknown> = {
      CancellationTokenSource, CodeActionKind, CompletionItem, CompletionList, Diagnostic, Disposable, EventEmitter, Hover, Location,
      MarkdownString, Position, Range, TabInputText, TextEdit, Uri: URI, WorkspaceEdit, languages, window, workspace,
      commands: {
        registerCommand: (name: string, callback: Callback) => {
          this.commands.set(name, callback);
          return new Disposable(() => this.commands.delete(name));
        },
        executeCommand: (name: string, ...args: unknown[]) => this.commands.get(name)?.(...args),
      },
      env: { appName: "test", language: "en", clipboard: {}, uriScheme: "vscode" },
      extensions: { getExtension: () => undefined, all: [] },
      version: "1.91.0",
      CancellationError: class extends Error {},
      CompletionItemKind: {}, CompletionItemTag: { Deprecated: 1 }, CompletionTriggerKind: {}, DiagnosticSeverity: { Error: 0, Warning: 1 },
      DiagnosticTag: { Unnecessary: 1, Deprecated: 2 }, SymbolKind: {}, SymbolTag: {}, CodeActionTriggerKind: {},
      FoldingRangeKind: {}, InlayHintKind: {}, SignatureHelpTriggerKind: {}, TextDocumentSaveReason: {}, ViewColumn: { Beside: -2 },
      TextDocumentChangeReason: {}, TextEditorRevealType: {}, FileChangeType: {}, FileType: {}, ConfigurationTarget: { Workspace: 2 }, ProgressLocation: {},
      EndOfLine: {}, ExtensionMode: {}, DocumentHighlightKind: {}, QuickPickItemKind: {}, LogLevel: {}, InsertTextMode: {},
    };
    // Classes that are only extended or made: their first arguments do not matter here.
    const made = new Map<string, unknown>();
    const all = new Proxy(known, {
      get: (all, name) => {
        if (typeof name !== "string" || name in all) return all[name as string];
        if (!made.has(name)) made.set(name, class { constructor(...args: unknown[]) { Object.assign(this, { args }); } });
        return made.get(name);
      },
      has: () => true,
    });
    // Bundlers copy the properties of a module, and keep its prototype.
    return Object.create(all);
  }
}
