import { readFile, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { zipSync } from "fflate";
import { type Command, type Context, required, take, text } from "./command.ts";
import { isFolder, listFolder } from "./folder.ts";
import { columns } from "./output.ts";
import { UsageError } from "./usage-error.ts";

export const skills: Command = {
  usage: [
    "skills list [--organization ID]",
    "skills push [--organization ID] DIR",
    "skills import [--organization ID] [--ref REF] [--path PATH] [--yes] URL",
  ],
  about:
    "Skills of agents. push sends a folder with a SKILL.md; its name is the skill's. import takes a folder of a repository on GitHub or GitLab, or a ZIP archive, and shows the changes of an update before it asks whether to apply them; --yes applies them.",
  options: {
    organization: { type: "string" },
    ref: { type: "string" },
    path: { type: "string" },
    yes: { type: "boolean" },
  },
  async run(context) {
    const [action] = context.args;
    if (action === "list") return list(context);
    if (action === "push") return push(context);
    if (action === "import") return importSkill(context);
    throw new UsageError("skills takes list, push or import");
  },
};

const ownerOf = ({ options }: Context) => {
  const organization = text(options.organization);
  return organization === undefined ? {} : { organization_id: organization };
};

async function list(context: Context): Promise<number> {
  const { client, out, signal } = context;
  const params = { query: ownerOf(context) };
  const listed = await take(client.api.GET("/api/skills", { params, signal }));
  out.result(listed, ({ skills: all }) =>
    columns(
      all.map(({ name, source, version, enabled, description }) => [
        name,
        version === null ? source : `${source} ${version}`,
        enabled ? "" : "disabled",
        description.length > 80 ? `${description.slice(0, 79)}…` : description,
      ]),
    ),
  );
  return 0;
}

async function push(context: Context): Promise<number> {
  const { args, client, out, signal } = context;
  const folder = required(args[1], "DIR");
  const paths = (await isFolder(folder)) ? await listFolder(folder) : [];
  if (!paths.includes("SKILL.md")) throw new UsageError(`${folder} has no SKILL.md`);
  const files: [path: string, content: Uint8Array][] = [];
  for (const path of paths) files.push([path, await readFile(join(folder, path))]);
  const name = basename(await realpath(folder));
  const { skill } = await take(
    client.api.PUT("/api/skills/{name}", {
      params: { path: { name }, query: ownerOf(context) },
      body: zipSync(Object.fromEntries(files)) as never,
      bodySerializer: (zip: unknown) => zip as BodyInit,
      headers: { "content-type": "application/zip" },
      signal,
    }),
  );
  out.result({ skill }, () => `${skill.name} ${skill.version}`);
  return 0;
}

async function importSkill(context: Context): Promise<number> {
  const { args, client, options, out, signal } = context;
  const [ref, path] = [text(options.ref), text(options.path)];
  const body = {
    url: required(args[1], "URL"),
    ...(ref === undefined ? {} : { ref }),
    ...(path === undefined ? {} : { path }),
    ...ownerOf(context),
  };
  const request = (more: { accept?: string } = {}) =>
    take(client.api.POST("/api/skills/import", { body: { ...body, ...more }, signal }));
  const found = await request();
  const update = "update" in found ? found.update : null;
  if (update) out.text(update.diff.endsWith("\n") ? update.diff : `${update.diff}\n`);
  const isAccepted = update !== null && (options.yes === true || (await confirm(context)));
  // Imports the reviewed content, without later changes.
  const imported = isAccepted ? await request({ accept: update.sha256 }) : found;
  out.result(imported, ({ skill }) => `${skill.name} ${skill.version}`);
  if (!("update" in imported) || imported.update === null) return 0;
  out.error(
    isAccepted
      ? "The skill has changed again. Import it once more."
      : "The update has not been applied. --yes applies it.",
  );
  return 1;
}

/** Resolves to the answer of a person in the terminal; false where there is none. */
async function confirm({ out, signal }: Context): Promise<boolean> {
  const { stdin, stderr } = process;
  if (out.isJson || stdin.isTTY !== true || stderr.isTTY !== true) return false;
  const lines = createInterface({ input: stdin, output: stderr });
  // `question` does not settle when its input is closed.
  const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  try {
    const question = lines.question("Apply these changes? [y/N] ", { signal });
    return /^y(?:es)?$/i.test((await Promise.race([question, closed])).trim());
  } finally {
    lines.close();
  }
}
