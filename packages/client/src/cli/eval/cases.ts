/** The cases of an evaluation: a folder for each, with a `case.json` and the files that the agent gets. */
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { paths } from "../../generated/api.ts";
import { isFolder, listFolder } from "../folder.ts";
import { UsageError } from "../usage-error.ts";

type StartRun = paths["/api/chat/runs"]["post"]["requestBody"]["content"]["application/json"];

export interface Case {
  readonly name: string;
  readonly prompt: string;
  /** The body that starts its run. The files of its message are then in `uploads` of the sandbox. */
  readonly body: () => Promise<StartRun>;
}

/** Resolves to the cases in a folder, or to some of them. @throws UsageError for one that cannot be read */
export async function readCases(folder: string, names?: readonly string[]): Promise<Case[]> {
  const found: Case[] = [];
  for (const name of names ?? (await readdir(folder).catch(() => [])).sort()) {
    const file = join(folder, name, "case.json");
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text !== undefined) found.push(parseCase(name, text, join(folder, name, "files")));
    else if (names) throw new UsageError(`${file} cannot be read`);
  }
  if (found.length === 0) throw new UsageError(`${folder} has no folder with a case.json`);
  return found;
}

function parseCase(name: string, text: string, folder: string): Case {
  try {
    const { prompt, checks = [], figures = [], options } = JSON.parse(text);
    const numbers = figures.map((figure: string) => ({
      ...{ type: "answer_number", value: Number(figure.replaceAll(",", "")) },
    }));
    const outcome = { ...options?.outcome, checks: [...checks, ...numbers], max_iterations: 1 };
    const body = async () => {
      const parts: { type: string; [field: string]: unknown }[] = [{ type: "text", text: prompt }];
      for (const path of (await isFolder(folder)) ? await listFolder(folder) : []) {
        const mediaType = "application/octet-stream";
        const url = `data:${mediaType};base64,${await readFile(join(folder, path), "base64")}`;
        parts.push({ type: "file", mediaType, filename: basename(path), url });
      }
      const messages = [{ id: crypto.randomUUID(), role: "user" as const, parts }];
      return { ...options, messages, outcome };
    };
    return { name, prompt: String(prompt), body };
  } catch (error) {
    throw new UsageError(`The case ${name} is malformed: ${error}`);
  }
}
