import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The program: from the environment, from a build of this repository, or from PATH. */
export function program(): string | undefined {
  const builds = ["release", "debug"].map((profile) => join(__dirname, "../../../target", profile, "ytterby"));
  const named = [process.env.YTTERBY ?? "", ...builds].filter((path) => path && existsSync(path));
  if (named[0]) return named[0];
  return spawnSync("ytterby", ["version"]).error ? undefined : "ytterby";
}
