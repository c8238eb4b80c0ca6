/** The contract of every media storage, on the local disk and at Supabase (a fake of its API). */
import { randomBytes, randomUUID } from "node:crypto";
import { access, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDatabaseUnavailable } from "@platform/kit/database-unavailable";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createDiskContents,
  createDiskStorage,
} from "../../../lib/content/storage/adapters/disk.ts";
import {
  createSupabaseContents,
  createSupabaseStorage,
} from "../../../lib/content/storage/adapters/supabase.ts";
import { MEDIA_TYPES, newMediaKey } from "../../../lib/content/storage/media-name.ts";
import type { ContentStorage, MediaStorage } from "../../../lib/content/storage/port.ts";
import { type FakeStorage, startFakeStorage } from "../../support/fakes/supabase-storage.ts";

let folder: string;
let fake: FakeStorage;
const storages: Record<string, () => MediaStorage> = {
  disk: () =>
    createDiskStorage({ folder: join(folder, "media"), origin: "https://api.example.com" }),
  supabase: () =>
    createSupabaseStorage({ url: fake.origin, secretKey: fake.secretKey, bucket: "media" }),
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-platform-storage-"));
  fake = await startFakeStorage();
});
afterAll(async () => {
  await fake.close();
  await rm(folder, { recursive: true });
});

const newPath = () => join(folder, randomUUID());
async function newFile(bytes: Uint8Array): Promise<string> {
  const path = newPath();
  await writeFile(path, bytes);
  return path;
}
const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

describe.each(Object.keys(storages))("media storage: %s", (name) => {
  const storage = () => storages[name]?.() ?? expect.unreachable();
  const accountId = randomUUID();
  const bytes = randomBytes(300_000);

  test("takes a file and gives it back by its URL", async () => {
    const path = await newFile(bytes);
    const url = new URL(
      await storage().store(newMediaKey(accountId, "video/mp4"), {
        path,
        contentType: "video/mp4",
      }),
    );
    expect(await isThere(path)).toBe(false);
    const key = storage().keyOf(url);
    if (key === null || key === "malformed") return expect.unreachable();
    expect(key).toEqual({ accountId, name: expect.stringMatching(/^[0-9a-f]{32}\.mp4$/) });
    const copy = newPath();
    expect(await storage().copyTo(key, copy)).toBe(true);
    expect((await readFile(copy)).equals(bytes)).toBe(true);
  });

  test("removes a file, and nothing beside it, however often it is asked", async () => {
    const keys = [
      newMediaKey(accountId, "image/png"),
      newMediaKey(accountId, "image/png"),
    ] as const;
    const [key, other] = keys;
    for (const one of keys) {
      await storage().store(one, { path: await newFile(bytes), contentType: "image/png" });
    }
    expect(await storage().sizeOf(key)).toBe(bytes.byteLength);
    await storage().remove(key);
    await storage().remove(key);
    expect(await storage().sizeOf(key)).toBeNull();
    expect(await storage().copyTo(key, newPath())).toBe(false);
    expect(await storage().sizeOf(other)).toBe(bytes.byteLength);
  });

  test("never gives two files one URL", async () => {
    const store = async () =>
      storage().store(newMediaKey(accountId, "image/png"), {
        path: await newFile(bytes),
        contentType: "image/png",
      });
    const urls = await Promise.all(Array.from({ length: 8 }, store));
    expect(new Set(urls).size).toBe(8);
  });

  test("knows what it does not have", async () => {
    const key = { accountId, name: `${"0".repeat(32)}.png` };
    const copy = newPath();
    expect(await storage().copyTo(key, copy)).toBe(false);
    expect(await isThere(copy)).toBe(false);
  });

  test("tells its own URLs from others, and those that name nothing", async () => {
    const path = await newFile(bytes);
    const own = await storage().store(newMediaKey(accountId, "image/webp"), {
      path,
      contentType: "image/webp",
    });
    const file = own.split("/").at(-1) ?? "";
    const before = own.slice(0, -`${accountId}/${file}`.length);
    const key = { accountId, name: file };
    expect(storage().keyOf(new URL(`${own}?download=1#x`))).toEqual(key);
    for (const end of ["", accountId, `${accountId}/`, `${accountId}/${file}/x`, `x/${file}`]) {
      expect(storage().keyOf(new URL(before + end)), end).toBe("malformed");
    }
    expect(storage().keyOf(new URL(`${before}${accountId}/..%2f${file}`))).toBe("malformed");
    expect(storage().keyOf(new URL(`https://example.com${new URL(own).pathname}`))).toBeNull();
    expect(storage().keyOf(new URL("/elsewhere", own))).toBeNull();
  });
});

const contentStorages: Record<string, () => ContentStorage> = {
  disk: () => createDiskContents(join(folder, "workspaces")),
  supabase: () =>
    createSupabaseContents({ url: fake.origin, secretKey: fake.secretKey, bucket: "workspaces" }),
};

describe.each(Object.keys(contentStorages))("contents of workspaces: %s", (name) => {
  const storage = () => contentStorages[name]?.() ?? expect.unreachable();
  const bytes = randomBytes(600_000);
  const read = async (key: { workspaceId: string; contentId: string }) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of storage().read(key)) pieces.push(piece);
    return Buffer.concat(pieces);
  };

  test("are read as they were stored, also if they are stored twice, until they are removed", async () => {
    const key = { workspaceId: randomUUID(), contentId: randomUUID() };
    await expect(read(key)).rejects.toThrow();
    for (const path of [await newFile(bytes), await newFile(bytes)]) {
      await storage().store(key, path);
      expect(await isThere(path)).toBe(false);
    }
    expect((await read(key)).equals(bytes)).toBe(true);
    await storage().remove(key);
    await storage().remove(key);
    await expect(read(key)).rejects.toThrow();
  });
});

describe("on disk", () => {
  test("a file appears as a whole, and leaves nothing beside it", async () => {
    const account = randomUUID();
    const path = await newFile(Buffer.from("x"));
    await storages
      .disk?.()
      .store(newMediaKey(account, "image/jpeg"), { path, contentType: "image/jpeg" });
    const names = await readdir(join(folder, "media", account));
    expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.jpg$/)]);
  });

  test("what was never whole is not there", async () => {
    const account = randomUUID();
    const file = { path: newPath(), contentType: "image/jpeg" } as const;
    await expect(
      storages.disk?.().store(newMediaKey(account, "image/jpeg"), file),
    ).rejects.toThrow();
    expect(await readdir(join(folder, "media", account))).toEqual([]);
  });
});

describe("at Supabase", () => {
  test("the bucket is made once, public, for the types that are stored", async () => {
    const own = await startFakeStorage();
    const given = { url: own.origin, secretKey: own.secretKey, bucket: "media" };
    const store = async () => {
      const path = await newFile(Buffer.from("x"));
      return createSupabaseStorage(given).store(newMediaKey(randomUUID(), "image/png"), {
        path,
        contentType: "image/png",
      });
    };
    const urls = await Promise.all([store(), store(), store()]);
    expect(own.bucketOf("media")).toEqual({ public: true, types: MEDIA_TYPES });
    const read = await fetch(urls[0] ?? "");
    expect(await read.text()).toBe("x");
    expect(read.headers.get("content-type")).toBe("image/png");
    expect(read.headers.get("cache-control")).toBe("no-cache");
    await own.close();
  });

  test("a bucket that was made for fewer types takes the others from then on", async () => {
    const own = await startFakeStorage();
    own.addBucket("media", true);
    const given = { url: own.origin, secretKey: own.secretKey, bucket: "media" };
    const file = { path: await newFile(Buffer.from("x")), contentType: "audio/mpeg" } as const;
    const key = newMediaKey(randomUUID(), "audio/mpeg");
    expect((await fetch(await createSupabaseStorage(given).store(key, file))).status).toBe(200);
    expect(own.bucketOf("media")).toEqual({ public: true, types: MEDIA_TYPES });
    await own.close();
  });

  test("the bucket of workspaces is private", async () => {
    const own = await startFakeStorage();
    const given = { url: own.origin, secretKey: own.secretKey, bucket: "workspaces" };
    const key = { workspaceId: randomUUID(), contentId: randomUUID() };
    await createSupabaseContents(given).store(key, await newFile(Buffer.from("x")));
    expect(own.bucketOf("workspaces")).toMatchObject({ public: false });
    await own.close();
  });

  test.each([401, 429, 500, 503])(
    "a storage that answers %i is a service that is away",
    async (status) => {
      const own = await startFakeStorage();
      own.fail({ status, body: "<h1>trouble</h1>" });
      const given = { url: own.origin, secretKey: own.secretKey, bucket: "media" };
      const storage = createSupabaseStorage(given);
      const file = { path: await newFile(Buffer.from("x")), contentType: "image/png" } as const;
      const key = { accountId: randomUUID(), name: `${"0".repeat(32)}.png` };
      const failures = await Promise.allSettled([
        storage.store(newMediaKey(randomUUID(), "image/png"), file),
        storage.copyTo(key, newPath()),
        storage.sizeOf(key),
        storage.remove(key),
      ]);
      await own.close();
      failures.push(...(await Promise.allSettled([storage.copyTo(key, newPath())])));
      for (const failure of failures) {
        expect(failure.status === "rejected" && isDatabaseUnavailable(failure.reason)).toBe(true);
      }
    },
  );
});
