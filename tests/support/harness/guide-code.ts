/** Code of `docs/guides`, for tests that provide its environment. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { marked, type Tokens } from "marked";
import { projectRoot } from "../../../scripts/project-root.ts";

/** Returns the first block of a language in a guide. @param lang such as `ts` */
export async function readGuideCode(file: string, lang: string): Promise<string> {
  const text = await readFile(join(projectRoot, "docs/guides", file), "utf8");
  const block = marked
    .lexer(text)
    .find((token): token is Tokens.Code => token.type === "code" && token.lang === lang);
  if (!block) throw new Error(`${file} has no code in ${lang}`);
  return block.text;
}
