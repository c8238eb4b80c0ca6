import { z } from "zod";
import { selectArtists } from "../artists/store.ts";
import { openMedia } from "../content/open-media.ts";
import { everyItem } from "../contract/pagination.ts";
import { describeKey } from "../identity/keys/describe-key.ts";
import { selectKeys } from "../identity/keys/store.ts";
import { services } from "../platform/services.ts";
import { streamZip, type ZipEntry } from "../platform/zip.ts";
import { selectRequests } from "../requests/store.ts";
import { selectTasks } from "../schedules/store.ts";
import { selectShares } from "../sessions/shares/store.ts";
import { selectWebhooks } from "../webhooks/store.ts";
import { type ExportRequest, sessionEntries } from "./export-sessions.ts";
import { exportRows, selectAccount } from "./store.ts";

const row = z.record(z.string(), z.unknown());

/**
 * Streams everything that an account owns as a ZIP archive: JSON, and the files of its media and its
 * sandboxes. Each part is read when the reader gets to it. `missing.json`, the last entry, names what
 * could not be read, such as a sandbox whose provider fails; the stream fails when the database does.
 */
export function exportAccount(request: ExportRequest): ReadableStream<Uint8Array> {
  return streamZip(entriesOf(request));
}

async function* entriesOf(request: ExportRequest): AsyncGenerator<ZipEntry> {
  const { accountId } = request;
  const modifiedAt = new Date();
  const missing: string[] = [];
  const json = (name: string, content: unknown): ZipEntry => ({
    name,
    modifiedAt,
    content: JSON.stringify(content, null, 2),
  });
  const list = (name: string, items: AsyncIterable<unknown>): ZipEntry => ({
    name,
    modifiedAt,
    content: jsonList(items),
  });

  yield json("account.json", await selectAccount(accountId));
  yield json("api-keys.json", (await selectKeys(accountId)).map(describeKey));
  yield list("artists.json", ownArtists(accountId));
  yield list("agent-templates.json", exportRows(accountId, "templates", row));
  yield list("runs.json", exportRows(accountId, "turns", row));
  yield list("task-runs.json", exportRows(accountId, "task_runs", row));
  yield list(
    "tasks.json",
    everyItem((page) => selectTasks(accountId, page)),
  );
  yield list(
    "shares.json",
    everyItem((page) => selectShares(accountId, page)),
  );
  // Without their secrets.
  yield list(
    "webhooks.json",
    everyItem((page) => selectWebhooks(accountId, page)),
  );
  yield list(
    "requests.json",
    everyItem((page) => selectRequests(accountId, page)),
  );
  const listed = await services().connectors?.list(accountId);
  if (listed?.kind === "listed") yield json("connections.json", listed.connections);
  else if (listed) missing.push("connections.json");

  for await (const name of exportRows(accountId, "media", z.string())) {
    const content = await openMedia({ accountId, name });
    if (content) yield { name: `media/${name}`, modifiedAt, content };
    else missing.push(`media/${name}`);
  }
  yield* sessionEntries(request, missing);
  if (missing.length > 0) yield json("missing.json", missing);
}

async function* ownArtists(accountId: string): AsyncGenerator<unknown> {
  for await (const artist of everyItem((page) => selectArtists(accountId, undefined, page))) {
    if (artist.organization_id === null) yield artist;
  }
}

async function* jsonList(items: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let separator = "[\n";
  for await (const item of items) {
    yield encoder.encode(separator + JSON.stringify(item));
    separator = ",\n";
  }
  yield encoder.encode(separator === "[\n" ? "[]\n" : "\n]\n");
}
