/** The code that the console shows for chats and runs, executed as it is. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { ChatScenario, Scenario } from "../../app/(console)/_snippets/scenario.ts";
import { views } from "../../app/(console)/_snippets/snippets.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { Conversation, openConversation } from "../support/harness/conversation.ts";
import type { PackedClient } from "../support/harness/packed-client.ts";
import { stack } from "../support/harness/stack.ts";

const execute = promisify(execFile);

/** Characters that are special in a shell, in JSON or in a template. */
const HOSTILE = `It's "quoted" \\ $HOME \`id\` \${x} "$ID" – naïve 🎵\nnext line`;

const plain = { modelId: null, instructions: null, templateId: null, connectors: [] };
const setUp = {
  ...plain,
  modelId: "embedded/rules",
  instructions: `Be brief. ${HOSTILE}`,
  connectors: ["gmail"],
};
const newChat: ChatScenario = {
  kind: "chat",
  chat: null,
  message: HOSTILE,
  setup: setUp,
  contextLimit: 100_000,
};
const newRun: Scenario = { kind: "run", prompt: HOSTILE, setup: setUp };

/** @param packed the package that the TypeScript code imports, installed */
export function snippetSuite(packed: () => PackedClient): void {
  let person: Person;
  beforeAll(async () => {
    person = await createPerson();
  });

  const textOf = (view: string, scenario: Scenario, hasKey: boolean): string => {
    const target = { baseUrl: stack.url, apiKey: hasKey ? person.key : null };
    return views.find(({ id }) => id === view)?.textOf(scenario, target) ?? "";
  };

  async function run(view: "curl" | "typescript", text: string): Promise<string> {
    const { PATH } = process.env;
    const env = { PATH, AGENT_PLATFORM_API_KEY: person.key, NODE_ENV: "production" } as const;
    if (view === "curl") return (await execute("sh", ["-c", text], { env })).stdout;
    const file = join(packed().folder, "snippet.ts");
    await writeFile(file, text);
    return (await execute(process.execPath, [file], { env })).stdout;
  }

  /** The user's message in the account's newest chat, and its connectors. */
  async function newestChat() {
    const answer = await person.withKey.get("/api/chats?limit=1");
    const chats = z.object({ chats: z.array(z.object({ id: z.string(), sessionId: z.string() })) });
    const [newest] = chats.parse(answer.body).chats;
    const chat = new Conversation(person.withKey, newest?.sessionId ?? "", newest?.id ?? "");
    const { messages } = await chat.read();
    const path = `/api/sessions/${chat.sessionId}/chats/${chat.chatId}/connectors`;
    const { connectors } = z
      .object({ connectors: z.array(z.string()) })
      .parse((await person.withKey.get(path)).body);
    return { message: messages.find(({ role }) => role === "user")?.parts[0]?.text, connectors };
  }

  describe.each(["curl", "typescript"] as const)("as %s", (view) => {
    it("sets a chat up, and sends it a message as it was written", async () => {
      const output = await run(view, textOf(view, newChat, false));
      expect(output).not.toBe("");
      if (view === "curl") expect(output).toContain('"type":"finish"');
      expect(await newestChat()).toEqual({ message: HOSTILE, connectors: ["gmail"] });
    });

    it("sends a message to a chat, with a key that was inserted", async () => {
      const { sessionId, chatId } = await openConversation(person.withKey);
      const chat = { sessionId, chatId };
      const message = "count to 3";
      const scenario: Scenario = { kind: "chat", chat, message, setup: plain, contextLimit: null };
      const output = await run(view, textOf(view, scenario, true));
      expect(output).toMatch(view === "curl" ? /"type":"finish"/ : /1\D+2\D+3/);
    });

    it("starts a run", async () => {
      const output = await run(view, textOf(view, newRun, false));
      expect(output).toMatch(view === "curl" ? /"runId":"/ : /^completed\n$/);
      expect(await newestChat()).toEqual({ message: HOSTILE, connectors: ["gmail"] });
    });
  });

  it("as Python: a text is a literal, and the key comes from the environment", () => {
    const text = textOf("python", newChat, false);
    expect(text).toContain('"x-api-key": os.environ["AGENT_PLATFORM_API_KEY"]');
    expect(text).toContain(`"content": ${JSON.stringify(HOSTILE)}`);
    expect(text).toContain(`        "instructions": ${JSON.stringify(setUp.instructions)}\n    },`);
    expect(text).toContain(`        "connectors": [\n            "gmail"\n        ]\n    },`);
    expect(textOf("python", newRun, true)).toContain(`"prompt": ${JSON.stringify(HOSTILE)}`);
  });
}
