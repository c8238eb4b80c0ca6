/**
 * Third-party clients, unmodified, as npm and pip install them: openapi-typescript and Redocly
 * on the document, the MCP Inspector, and Python's `requests`. It is a soak test because it asks the
 * registries: `npm run soak -- tests/client/unmodified-clients.soak.test.ts`.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { client, createPerson, type Person } from "../support/harness/clients.ts";
import { installPackages, MAX_OUTPUT_BYTES, run } from "../support/harness/install-packages.ts";

const packages = {
  "@modelcontextprotocol/inspector": "2.12.0",
  "@redocly/cli": "2.77.0",
  "openapi-typescript": "7.13.0",
};

let folder: string;
let person: Person;
beforeAll(async () => {
  folder = await installPackages(packages);
  person = await createPerson();
  const document = await client().get("/api/openapi.json");
  await writeFile(join(folder, "openapi.json"), document.text);
}, 600_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts an installer with the environment, which may hold settings of a registry. */
const install = (command: string, args: readonly string[]) =>
  run(command, args, { cwd: folder, maxBuffer: MAX_OUTPUT_BYTES });

/** Starts a third-party program without the settings of the tests. Rejects with its output when it fails. */
const inFolder = (command: string, args: readonly string[], env: Record<string, string> = {}) =>
  run(command, args, {
    cwd: folder,
    env: {
      NODE_ENV: "production",
      HOME: folder,
      PATH: [dirname(process.execPath), process.env.PATH].join(":"),
      REDOCLY_TELEMETRY: "off",
      REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
      ...env,
    },
    maxBuffer: MAX_OUTPUT_BYTES,
  });
const bin = (name: string, ...args: string[]) =>
  inFolder(process.execPath, [join(folder, "node_modules/.bin", name), ...args]);

describe("the OpenAPI document", () => {
  it("is read by openapi-typescript", async () => {
    await bin("openapi-typescript", "openapi.json", "-o", "types.ts");
    expect(await readFile(join(folder, "types.ts"), "utf8")).toContain('"/api/chat": {');
  });

  it("has no error by the recommended rules of Redocly", async () => {
    const { stderr } = await bin("redocly", "lint", "--extends", "recommended", "openapi.json");
    expect(stderr).toContain("Your API description is valid");
  });
});

describe("the MCP Inspector", () => {
  it.each([
    ["x-api-key", (key: string) => `x-api-key: ${key}`],
    ["a bearer", (key: string) => `Authorization: Bearer ${key}`],
  ])("lists and calls tools with the key as %s", async (_, header) => {
    const inspect = async (...args: string[]) => {
      const given = ["--cli", `${person.withKey.url}/api/mcp`, "--transport", "http"];
      const { stdout } = await bin(
        "mcp-inspector",
        ...given,
        "--header",
        header(person.key),
        ...args,
      );
      return JSON.parse(stdout);
    };
    const { tools } = await inspect("--method", "tools/list");
    expect(tools).toContainEqual(expect.objectContaining({ name: "searchCatalog" }));
    const call = ["--method", "tools/call", "--tool-name", "searchCatalog"];
    const found = await inspect(...call, "--tool-arg", "q=velvet", "type=artist", "limit=3");
    expect(JSON.stringify(found)).toContain("Velvet Harbor");
  });
});

const SCRIPT = `
import json, os, sys, uuid, requests

origin = sys.argv[1]
session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["KEY"]
made = session.post(origin + "/api/sessions", json={}).json()
ids = {"sessionId": made["session"]["id"], "chatId": made["chat"]["id"]}
session.post(origin + "/api/sandbox", json={"sessionId": ids["sessionId"]}).raise_for_status()

def events(response):
    response.raise_for_status()
    id = None
    for line in response.iter_lines():
        field, _, value = line.decode().partition(": ")
        if field == "id":
            id = int(value)
        if field == "data" and value != "[DONE]":
            yield id, json.loads(value)

seen = []
message = {"id": str(uuid.uuid4()), "content": "run \`sleep 5; echo resumed\`"}
with session.post(origin + "/api/chat", json={**ids, "messages": [message]}, stream=True) as answer:
    for id, chunk in events(answer):
        seen.append([id, chunk["type"]])
        if chunk["type"] == "tool-input-available":
            break
cut = len(seen)
headers = {"Last-Event-ID": str(seen[-1][0])}
with session.get(origin + "/api/chat/" + ids["chatId"] + "/stream", headers=headers, stream=True) as answer:
    seen += [[id, chunk["type"]] for id, chunk in events(answer)]
print(json.dumps({"seen": seen, "cut": cut}))
`;
const outcome = z.object({
  seen: z.array(z.tuple([z.number(), z.string()])),
  cut: z.number(),
});

describe("requests of Python", () => {
  it("streams a turn, and resumes it after its last event", async ({ skip }) => {
    const python = await findPython();
    if (python === null) return skip("Python has no `requests`: apt-get install python3-requests");
    await writeFile(join(folder, "turn.py"), SCRIPT);
    const args = ["turn.py", person.withKey.url];
    const { stdout } = await inFolder(python, args, { KEY: person.key, HOME: homedir() });
    const { seen, cut } = outcome.parse(JSON.parse(stdout));
    expect(seen.map(([id]) => id)).toEqual(seen.map((_, place) => place));
    expect(cut).toBeLessThan(seen.length);
    expect(seen.slice(cut).map(([, type]) => type)).toContain("tool-output-available");
    expect(seen.at(-1)?.[1]).toBe("finish");
  });
});

/** Resolves to a Python that has `requests`, in a virtual environment if necessary; null without one. */
async function findPython(): Promise<string | null> {
  const own = join(folder, "python/bin/python");
  const has = (python: string) =>
    install(python, ["-c", "import requests"]).then(
      () => true,
      () => false,
    );
  for (const python of ["python3", "/usr/bin/python3"]) if (await has(python)) return python;
  await install("python3", ["-m", "venv", join(folder, "python")])
    .then(() => install(own, ["-m", "pip", "install", "--quiet", "requests"]))
    .catch(() => {});
  return (await has(own)) ? own : null;
}
