/** Every operation once or more, as a new account gets to know the service, and its plain refusals. */
import { randomUUID } from "node:crypto";
import { expect, vi } from "vitest";
import { z } from "zod";
import type { Contract } from "../../../lib/contract/contract.ts";
import { addressOf } from "../../../lib/openapi/curl.ts";
import { operations } from "../../../lib/openapi/registry.ts";
import type { Placeholders } from "../fixtures/placeholders.ts";
import { type Client, client } from "./clients.ts";
import { conversationAt } from "./conversation.ts";
import { type Asked, contractOf, type Recorder } from "./exchanges.ts";
import { codeSentTo } from "./mailbox.ts";

interface Context {
  readonly nobody: Client;
  readonly recorder: Recorder;
  readonly placeholders: Placeholders;
}

/** An operation's successes: the answer's body, read by `schema`. */
type Ask = <S extends z.ZodType = z.ZodUnknown>(
  operation: string,
  asked?: Asked,
  more?: { schema?: S; name?: string; shorten?: (body: unknown) => unknown },
) => Promise<z.output<S>>;

export async function askEverything(
  url: string,
  dataDir: string,
  recorder: Recorder,
  placeholders: Placeholders,
): Promise<void> {
  const nobody = client(null, url);
  const context = { nobody, recorder, placeholders };
  for (const id of [NOBODYS_ID, NO_RUN]) placeholders.keep(id);
  const key = await signUp(context, dataDir);
  const me = client({ key }, url);

  const ask: Ask = async (operation, asked = {}, { schema, name, shorten } = {}) => {
    const caller = contractOf(operation).auth === "required" ? me : nobody;
    const answer = await recorder.ask(operation, asked, {
      caller,
      ...(name ? { name } : {}),
      ...(shorten ? { shorten } : {}),
    });
    expect(answer.status, `${operation}: ${answer.text}`).toBeLessThan(400);
    return (schema ?? z.unknown()).parse(answer.body) as never;
  };
  await askAboutService(ask);
  await askAboutKeys(ask);
  await askAboutChats(ask, me, context);
  await askAboutTemplates(ask);
  await askAboutMusic(ask, context);
  await ask("createConnection", { body: { connector: "gmail" } });
  await ask("listConnections");
  await askForContent(ask);
  for (const { id, contract } of operations) await askWrongly(id, contract, me, context);
}

const withId = z.object({ id: z.string() });

async function signUp({ nobody, recorder, placeholders }: Context, dataDir: string) {
  const email = `${randomUUID()}@example.com`;
  placeholders.tell(email, "ada@example.com");
  await recorder.ask("signup", { body: { email } }, { caller: nobody });
  const code = await codeSentTo(email, dataDir);
  placeholders.tell(code, "482913");
  const answer = await recorder.ask("verify", { body: { email, code } }, { caller: nobody });
  return z.object({ api_key: z.string() }).parse(answer.body).api_key;
}

async function askAboutService(ask: Ask) {
  await ask("health");
  await ask("ready");
  const start = z.object({ openapi: z.string(), info: z.unknown(), servers: z.unknown() });
  await ask("openApi", {}, { name: "how it begins", shorten: (body) => start.parse(body) });
  await ask("listModels");
}

async function askAboutKeys(ask: Ask) {
  const { id } = await ask("createKey", { body: { key_name: "laptop" } }, { schema: withId });
  await ask(
    "createKey",
    {
      body: { key_name: "a month", expires_in_days: 30 },
    },
    { name: "with an end" },
  );
  await ask("listKeys");
  const rotated = { params: { id }, body: { grace_seconds: 3600 } };
  const { id: newId } = await ask("rotateKey", rotated, { schema: withId });
  await ask("revokeKey", { params: { id: newId } });
}

async function askAboutChats(ask: Ask, me: Client, { recorder }: Context) {
  const made = z.object({ session: withId, chat: withId });
  const body = { title: "Release week" };
  const { session, chat } = await ask("createSession", { body }, { schema: made });
  const sessionId = session.id;
  const chatId = chat.id;
  const params = { sessionId, chatId };
  await ask("getSession", { params: { sessionId } });
  await ask("updateSession", { params: { sessionId }, body: { title: "Release week, Berlin" } });
  await ask("listSessions", { query: { limit: "10" } });

  const messages = [{ id: "m1", content: "Write hello to hello.txt" }];
  const turn = { body: { sessionId, chatId, messages } };
  const early = await me.post("/api/chat", turn.body);
  await ask("provisionSandbox", { body: { sessionId } });
  await ask("getSandbox", { query: { sessionId } });
  await ask("startTurn", turn);
  recorder.keep("startTurn", turn, early);
  await ask("getChat", { params });
  await ask("updateChat", { params, body: { title: "Hello" } });
  await ask("listSandboxFiles", { query: { sessionId } });
  await ask("readSandboxFile", { query: { sessionId, path: "hello.txt" } });

  const other = { params: { sessionId }, body: { title: "A second chat" } };
  const second = await ask("createChat", other, { schema: z.object({ chat: withId }) });
  await ask("listChats", { params: { sessionId }, query: { limit: "1" } });
  await askToResumeAndStop(ask, me, recorder, sessionId, second.chat.id);
  await ask("deleteChat", { params: { sessionId, chatId: second.chat.id } });

  const run = await ask(
    "startRun",
    { headers: { "idempotency-key": "hello-1" }, body: { prompt: "Write hello to hello.txt" } },
    { schema: z.object({ runId: z.string() }) },
  );
  const hasEnded = async () => {
    const { text } = await me.get(`/api/chat/runs/${run.runId}`);
    expect(text).not.toContain('"finishedAt":null');
  };
  await vi.waitFor(hasEnded, { timeout: 60_000 });
  await ask("getRun", { params: { runId: run.runId } });

  await ask("stopSandbox", { query: { sessionId } });
  await ask("deleteSession", { params: { sessionId } });
}

/** A turn that would run for longer than anyone waits; its stream is read to the end that the stop makes. */
async function askToResumeAndStop(
  ask: Ask,
  me: Client,
  recorder: Recorder,
  sessionId: string,
  chatId: string,
) {
  const chat = conversationAt(me, sessionId, chatId);
  const first = await chat.send("run `sleep 100`");
  await first.until(({ type }) => type === "tool-input-available");
  const asked = { params: { chatId } };
  const address = me.url + addressOf(contractOf("resumeTurn"), asked);
  // Open before the turn is stopped, read to its end afterwards.
  const resumed = await fetch(address, { headers: me.headers });
  const late = { body: { sessionId, chatId, messages: [{ id: "m2", content: "Are you there?" }] } };
  await recorder.ask("startTurn", late, { caller: me });
  await ask("stopTurn", asked);
  const text = await resumed.text();
  recorder.keep("resumeTurn", asked, {
    status: resumed.status,
    headers: resumed.headers,
    body: text,
    text,
  });
  await first.ended;
}

async function askAboutTemplates(ask: Ask) {
  const made = await ask(
    "createTemplate",
    {
      headers: { "idempotency-key": "release-planner-1" },
      body: {
        title: "Release planner",
        description: "Plans the weeks around a release.",
        prompt: "Plan the four weeks before and after the release of a single.",
        tags: ["release", "planning"],
        is_private: true,
        share_emails: ["grace@example.com"],
      },
    },
    { schema: z.object({ template: withId }) },
  );
  const params = { id: made.template.id };
  await ask("getTemplate", { params });
  await ask("updateTemplate", { params, body: { tags: ["release"] } });
  await ask("setFavorite", { params, body: { is_favourite: true } });
  await ask("listTemplates", { query: { limit: "10" } });
  await ask("deleteTemplate", { params });
}

async function askForContent(ask: Ask) {
  const listed = z.object({ templates: z.array(withId) });
  const { templates } = await ask("listContentTemplates", {}, { schema: listed });
  await ask("getContentTemplate", { params: { id: templates[0]?.id ?? "" } });
  const made = z.object({ imageUrl: z.string() });
  const image = { prompt: "A red kite over a grey sea", aspect_ratio: "9:16" };
  const headers = { "idempotency-key": "kite-1" };
  const { imageUrl } = await ask("createImage", { headers, body: image }, { schema: made });
  const [accountId = "", name = ""] = new URL(imageUrl).pathname.split("/").slice(-2);
  await ask("getMedia", { params: { accountId, name } });
  await ask(
    "getMedia",
    { params: { accountId, name }, headers: { range: "bytes=0-99" } },
    { name: "a range" },
  );
  const video = { image_url: imageUrl, prompt: "The kite climbs", duration: "4s" };
  await ask("createVideo", { headers: { "idempotency-key": "kite-2" }, body: video });
  const runs = z.object({ runs: z.array(withId) });
  const { runs: newest } = await ask("listTaskRuns", { query: { limit: "1" } }, { schema: runs });
  const query = { runId: newest[0]?.id ?? "" };
  await ask("listTaskRuns", { query }, { name: "one run, with its output" });
  await ask("deleteMedia", { params: { accountId, name } });
}

async function askAboutMusic(ask: Ask, { recorder, nobody }: Context) {
  const found = z.object({ artists: z.object({ items: z.array(withId) }) });
  const query = { q: "Hana Mizuki Trio", type: "artist", limit: "1" };
  const { artists } = await ask("searchCatalog", { query }, { schema: found });
  const id = artists.items[0]?.id ?? "";
  await ask("listArtistAlbums", { query: { id, include_groups: "single", limit: "1" } });
  const whole = z.object({ status: z.string(), tracks: z.array(z.unknown()) });
  await ask(
    "listTracks",
    { query: { artist: "Velvet Harbor" } },
    {
      name: "the first two",
      shorten: (body) => {
        const { status, tracks } = whole.parse(body);
        return { status, tracks: tracks.slice(0, 2) };
      },
    },
  );
  // The embedded catalog has no pages outside.
  await recorder.ask("openPage", { query: { type: "artist", id } }, { caller: nobody });
}

const NOBODYS_ID = "00000000-0000-4000-8000-000000000000";
const NO_RUN = "wrun_00000000000000000000000000";

/** Without a credential, with ids that nobody has, with nothing, for an account that is not there. */
async function askWrongly(
  id: string,
  contract: Contract,
  me: Client,
  { recorder, nobody }: Context,
): Promise<void> {
  const plainest = Object.values(recorder.recorded[id] ?? {})[0]?.request ?? {};
  if (contract.auth === "required") await recorder.ask(id, plainest, { caller: nobody });
  for (const asked of wrongRequests(contract, plainest)) {
    const answer = await recorder.ask(id, asked, { caller: me });
    expect(answer.status, `${id} ${JSON.stringify(asked)}`).toBeGreaterThanOrEqual(400);
  }
}

const namesTo = ({ shape }: z.ZodObject, value: string): Record<string, string> =>
  Object.fromEntries(Object.keys(shape).map((name) => [name, value]));

function wrongRequests({ params, query, body, ...access }: Contract, plainest: Asked): Asked[] {
  const { headers: _, ...request } = plainest;
  const wrong: Asked[] = [];
  const unknown = JSON.stringify(request)
    .replaceAll(/[0-9a-f-]{36}/g, NOBODYS_ID)
    .replaceAll(/wrun_[0-9A-Z]{26}/g, NO_RUN);
  if (access.errors.includes("not_found") && unknown !== JSON.stringify(request)) {
    wrong.push(JSON.parse(unknown));
  }
  if (body && !body.safeParse({}).success) wrong.push({ ...request, body: {} });
  else if (query instanceof z.ZodObject && "limit" in query.shape) {
    wrong.push({ ...request, query: { ...request.query, limit: "0" } });
  } else if (query && !query.safeParse({}).success) {
    wrong.push({ ...request, query: {} });
  } else if (params && !params.safeParse(namesTo(params, "42")).success) {
    wrong.push({ ...request, params: namesTo(params, "42") });
  }
  const place = access.accountAccess?.in;
  if (place) {
    const given = place === "body" ? request.body : request.query;
    wrong.push({ ...request, [place]: { ...Object(given), account_id: NOBODYS_ID } });
  }
  return wrong;
}
