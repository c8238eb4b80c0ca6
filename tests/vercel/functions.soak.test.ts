/**
 * The functions of a build for Vercel, each from its traced files alone, answer like a server. It is a
 * soak test because it builds: `npm run soak -- tests/vercel`.
 */
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isToolUIPart } from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSupabaseStorage } from "../../lib/content/storage/adapters/supabase.ts";
import type { MediaStorage } from "../../lib/content/storage/port.ts";
import type { Row } from "../security/row.ts";
import { rows } from "../security/rows.ts";
import { lines } from "../security/table-lines.ts";
import { tableSuite } from "../security/table-suite.ts";
import { makeImage, makeSound, makeVideo } from "../support/fixtures/encoded-media.ts";
import { imagesIn, videoIn } from "../support/fixtures/generations.ts";
import { makeMedia, storeMedia } from "../support/fixtures/media.ts";
import { expectErrorShape, sentenceOf } from "../support/fixtures/shapes.ts";
import { client, createPerson, type Person } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { readFunctions, type TracedFunction } from "../support/harness/functions.ts";
import { setting } from "../support/harness/stack.ts";
import { registerCode } from "../support/secrets/register.ts";
import { buildForVercel, DIST_DIR, type Hosting, startHosting } from "./hosting.ts";
import { strangeFiles } from "./strange-files.ts";

let hosting: Hosting;
let storage: MediaStorage;
let functions: readonly TracedFunction[];
beforeAll(async () => {
  await buildForVercel();
  functions = await readFunctions(DIST_DIR);
  hosting = await startHosting();
  const project = { url: hosting.storage.origin, secretKey: setting("SUPABASE_SECRET_KEY") };
  storage = createSupabaseStorage({ ...project, bucket: "media" });
}, 600_000);
afterAll(() => hosting?.close());

const url = () => hosting.deployment.url;

it("consist of compiled code and packages, far below the 250 MB that a function may have", async () => {
  for (const { pathname, files } of functions) {
    expect(strangeFiles(Object.keys(files)), pathname).toEqual([]);
    const sizes = await Promise.all(
      Object.values(files).map(async (path) => (await stat(path)).size),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(total, pathname).toBeLessThan(30 * 1024 ** 2);
  }
});

const mediaOf = (address: string) => {
  const [accountId = "", name = ""] = address.split("/").slice(-2);
  return { url: address, accountId, name };
};

async function writeFileOf(sessionId: string, name = "notes.txt"): Promise<void> {
  const file = join(hosting.machineOf(sessionId), name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, "theirs");
}
const anOwnFile: Row["arrange"] = async (owner, { sessionId }) => {
  await owner.withKey.post("/api/sandbox", { sessionId });
  await writeFileOf(sessionId);
  return { sessionId };
};
/** Each permitted caller deletes a separate file. */
const anotherOwnFile: Row["arrange"] = async (owner, { sessionId }) => {
  await owner.withKey.post("/api/sandbox", { sessionId });
  const name = `${crypto.randomUUID()}.txt`;
  await writeFileOf(sessionId, name);
  return { sessionId, name };
};
const aFile: Row["arrange"] = async (owner) => {
  const { sessionId = "" } = await arrangeAs("POST /api/sandbox")(owner, { sessionId: "" });
  return anOwnFile(owner, { sessionId });
};
const arrangeAs = (name: string): Row["arrange"] => {
  const row = rows[name];
  if (!row) throw new Error(`No row ${name}`);
  return row.arrange;
};

/** Rows whose files, mails or media differ from the shared server's. */
const arrangements: Readonly<Record<string, Row["arrange"]>> = {
  "GET /api/sandbox (own)": anOwnFile,
  "GET /api/sandbox/files": aFile,
  "GET /api/sandbox/files (own)": anOwnFile,
  "GET /api/sandbox/files/content": aFile,
  "GET /api/sandbox/files/content (own)": anOwnFile,
  "PUT /api/sandbox/files/content": aFile,
  "PUT /api/sandbox/files/content (own)": anOwnFile,
  "DELETE /api/sandbox/files": aFile,
  "DELETE /api/sandbox/files (own)": anotherOwnFile,
  "GET /api/sandbox/archive": aFile,
  "GET /api/sandbox/archive (own)": anOwnFile,
  "POST /api/agents/verify": async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    return { email, code: await signUp(email) };
  },
  "POST /api/content/image": async ({ id }) =>
    mediaOf(await storeMedia(id, await makeImage(), "image/png", storage)),
  "DELETE /api/media/{accountId}/{name}": async ({ id }) => {
    const { accountId, name } = mediaOf(
      await makeMedia(id, await makeImage(), "image/png", storage),
    );
    return { accountId, name };
  },
};

async function signUp(email: string): Promise<string> {
  await client(null, url()).post("/api/agents/signup", { email });
  const mail = hosting.smtp.mails.findLast(({ to }) => to.includes(email));
  const code = /code is (\d{6})/.exec(mail?.raw ?? "")?.[1] ?? "";
  registerCode(code, email);
  return code;
}

/** Supabase serves the media itself. */
const SERVED_ELSEWHERE = "GET /api/media/{accountId}/{name}";
tableSuite(
  url,
  Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [
      name,
      { ...row, arrange: arrangements[name] ?? row.arrange },
    ]),
  ),
  lines.filter(({ name }) => name !== SERVED_ELSEWHERE),
);

describe("what the table does not ask", () => {
  let person: Person;
  beforeAll(async () => {
    person = await createPerson(url());
  });

  it("says which parts are in use", async () => {
    const { body } = await client(null, url()).get("/api/health");
    expect(body).toMatchObject({
      parts: expect.arrayContaining([
        { name: "durableRuns", adapter: "workflow:vercel" },
        { name: "sandbox", adapter: "vercel" },
        { name: "mail", adapter: "smtp" },
        { name: "content", adapter: "fal" },
        { name: "mediaStorage", adapter: "supabase" },
      ]),
    });
  });

  it("streams a turn with tools, stores it, and gives it again", async () => {
    const chat = await openConversation(person.withKey);
    const turn = await chat.send("Write hello to hello.txt, list the files, then read hello.txt");
    const frames = await turn.ended;
    expect(turn.isDone).toBe(true);
    expect(frames.map(({ id }) => id)).toEqual(frames.map((_, index) => index));
    const answer = await chat.answer();
    const tools = answer.parts.filter(isToolUIPart);
    expect(tools.map(({ type, state }) => `${type} ${state}`)).toEqual([
      "tool-write output-available",
      "tool-glob output-available",
      "tool-read output-available",
    ]);
    const file = join(hosting.machineOf(chat.sessionId), "hello.txt");
    expect(await readFile(file, "utf8")).toContain("hello");
    expect((await chat.resume()).status).toBe(204);
  });

  it("stops a turn", async () => {
    const chat = await openConversation(person.withKey);
    const turn = await chat.send("run: sleep 100");
    await turn.until(({ type }) => type === "tool-input-available");
    expect((await chat.stop()).body).toEqual({ status: "success", stopped: true });
    await turn.ended;
    expect(turn.isDone).toBe(true);
  });

  it("refuses messages to the engine that do not come from the queue", async () => {
    for (const kind of ["flow", "step"]) {
      const path = `/.well-known/workflow/v1/${kind}`;
      const { status } = await client(null, url()).post(path, { runId: "wrun_x" });
      expect(status).toBe(400);
    }
  });

  it("makes images and videos, and reads lengths without native code", async () => {
    const { id, withKey } = person;
    const video = await storeMedia(id, await makeVideo(4), "video/mp4", storage);
    const image = await storeMedia(id, await makeImage(), "image/png", storage);
    hosting.fal.serve("song.mp3", await makeSound("mp3", 3));
    const song = `${hosting.fal.origin}/results/song.mp3`;

    const { images } = imagesIn(await withKey.post("/api/content/image", { prompt: "A kite" }));
    expect(images).toHaveLength(1);
    const extended = await withKey.post("/api/content/video", { video_url: video });
    expect(videoIn(extended).mode).toBe("extend");
    const sung = await withKey.post("/api/content/video", { image_url: image, audio_url: song });
    expect(videoIn(sung).mode).toBe("lipsync");

    const long = await storeMedia(id, await makeVideo(9), "video/mp4", storage);
    const refused = await withKey.post("/api/content/video", { video_url: long });
    expect(`${refused.status} ${sentenceOf(refused)}`).toBe(
      "400 video_url must be at most 8 seconds",
    );
  });

  it.each([
    ["/api/content/image", "Image generation is not configured"],
    ["/api/content/video", "Video generation is not configured"],
  ])("503 without a provider: %s", async (path, sentence) => {
    const { key } = person;
    const answer = await client({ key }, hosting.bare.url).post(path, { prompt: "A kite" });
    expect(`${answer.status} ${answer.headers.get("x-error-code")}`).toBe("503 not_configured");
    expectErrorShape(answer, "plain");
    expect(sentenceOf(answer)).toBe(sentence);
  });

  it("knows no media, which Supabase serves", async () => {
    const address = await storeMedia(person.id, await makeImage(), "image/png", storage);
    expect((await fetch(address)).status).toBe(200);
    const { accountId, name } = mediaOf(address);
    const answer = await client(null, url()).get(`/api/media/${accountId}/${name}`);
    expect(`${answer.status} ${sentenceOf(answer)}`).toBe("404 Media not found");
  });

  it("leaves no file behind", async () => {
    expect(await hosting.deployment.writtenFiles()).toEqual([]);
  });
});
