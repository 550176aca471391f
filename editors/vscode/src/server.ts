// What the extension tells the server, apart from the editor's API, so that tests run it in plain Node.

/** Languages that the server answers for. */
export const LANGUAGES = ["ytt", "ytt-values"] as const;

/** The program and its arguments. */
export function command(path: string | undefined): { command: string; args: string[] } {
  const name = path?.trim();
  return { command: name ? name : "ytterby", args: ["lsp"] };
}

/**
 * Documents that the server sees. Plain YAML is sent as well, so that a template without its language id is
 * understood; the server does not judge plain files that belong to no project, and yaml-language-server goes on
 * serving them.
 */
export function documentSelector(): { scheme: string; language?: string; pattern?: string }[] {
  const own = LANGUAGES.flatMap((language) => [
    { scheme: "file", language },
    { scheme: "untitled", language },
  ]);
  return [...own, { scheme: "file", language: "yaml" }, { scheme: "file", language: "dockercompose" }];
}

/** A row of the map from output lines to source lines. */
export interface MapRow {
  line: number;
  uri: string;
  sourceLine: number;
}

/** The answer to `ytterby/preview`. */
export interface Preview {
  output: string;
  map: MapRow[];
  diagnostics: { message: string }[];
}

/** The first line of the output that comes from a line of a source, or from the nearest one above it. */
export function outputLine(map: MapRow[], uri: string, sourceLine: number): number | undefined {
  let best: MapRow | undefined;
  for (const row of map) {
    if (row.uri !== uri || row.sourceLine > sourceLine) continue;
    if (!best || row.sourceLine > best.sourceLine) best = row;
  }
  return best?.line;
}

/** The row that a line of the output comes from: its own, or that of the nearest line above it. */
export function sourceRow(map: MapRow[], line: number): MapRow | undefined {
  let best: MapRow | undefined;
  for (const row of map) if (row.line <= line && (!best || row.line >= best.line)) best = row;
  return best;
}

/** A word of a shell's command line. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}
