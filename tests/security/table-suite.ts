import { randomBytes, randomInt, randomUUID } from "node:crypto";
import type { Contract } from "@platform/endpoint/contract/contract";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { contracts } from "../../lib/openapi/registry.ts";
import { expectErrorShape, fillPath, nameOf, sentenceOf } from "../support/fixtures/shapes.ts";
import {
  type Answer,
  client,
  createAccount,
  createKey,
  createPerson,
  link,
  type Person,
} from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import type { Ids, Row, RunPlace } from "./row.ts";
import { type Caller, sentences } from "./table.ts";
import { type Cell, type Line, lines } from "./table-lines.ts";

type Headers = Readonly<Record<string, string>>;

const find = (name: string): Contract => {
  const contract = contracts.find((one) => nameOf(one) === name.replace(/ \(\w+\)$/, ""));
  if (!contract) throw new Error(`${name} is in no contract`);
  return contract;
};
export const titleOf = ({ name, field, whose }: Line) =>
  field ? `${name} ${field}=${whose}` : name;

function expectCell(answer: Answer, cell: Cell, { family }: Contract, ids: Ids): void {
  const { caller, status, sentence, showsThing } = cell;
  expect(`${caller}: ${answer.status}`, answer.text).toBe(`${caller}: ${status}`);
  const shown = Object.values(ids).some((id) => answer.text.includes(id));
  const expected = showsThing ?? shown;
  expect(`${caller} sees it: ${shown}`, answer.text).toBe(`${caller} sees it: ${expected}`);
  if (sentence === null) return;
  expectErrorShape(answer, family);
  // Fields are missing only where the request is wrong.
  if (family === "missing" && status !== 400)
    expect(answer.body).toMatchObject({ missing_fields: [] });
  expect(sentenceOf(answer), caller).toBe(sentence);
}

/** As well-formed as this id, and of nothing. */
const missingLike = (id: string): string => {
  if (z.uuid().safeParse(id).success) return randomUUID();
  return /^\d+$/.test(id)
    ? String(randomInt(1_000_000_000, 2_000_000_000))
    : id.replace(/\w{1,24}$/, (end) => randomBytes(12).toString("hex").slice(0, end.length));
};

const listedTemplates = z.object({
  templates: z.array(z.looseObject({ creator: z.object({ id: z.string() }) })),
});

/** All parts of a response that may not distinguish a foreign object from a missing one. */
function tellingOf({ status, text, headers }: Answer) {
  const own = ["x-request-id", "date", "ratelimit"];
  return { status, text, headers: [...headers].filter(([name]) => !own.includes(name)) };
}

/**
 * @param url the server that is asked
 * @param rows how each line is asked there
 */
export function tableSuite(
  url: () => string,
  rows: Readonly<Record<string, Row>>,
  asked: readonly Line[] = lines,
): void {
  let owner: Person;
  let run: RunPlace;
  let accounts: Readonly<Record<string, string>>;
  /** Each caller's account and headers. */
  let people: Readonly<Record<Caller, { readonly id: string; readonly headers: Headers }>>;

  beforeAll(async () => {
    const [first, member, admin, stranger] = await Promise.all([
      createPerson(url()),
      createPerson(url()),
      createPerson(url()),
      createPerson(url()),
    ]);
    owner = first;
    const [organization, other, admins] = await Promise.all([
      createAccount({ kind: "organization" }),
      createAccount({ kind: "organization" }),
      createAccount({ kind: "organization", isAdmin: true }),
    ]);
    const [artist, otherArtist] = await Promise.all([
      createAccount({ kind: "artist" }),
      createAccount({ kind: "artist" }),
    ]);
    await Promise.all([
      ...[owner.id, member.id, artist.id].map((id) => link(organization.id, id)),
      ...[stranger.id, otherArtist.id].map((id) => link(other.id, id)),
      link(admins.id, admin.id),
    ]);
    accounts = {
      owner: owner.id,
      artist: artist.id,
      organization: organization.id,
      foreignArtist: otherArtist.id,
      foreignOrganization: other.id,
    };
    const past = new Date(Date.now() - 1000);
    const [expired, revoked, runKey] = await Promise.all([
      createKey(owner.id, { expiresAt: past }),
      createKey(owner.id, { revokedAt: past }),
      createRunCredential(owner.id, "key"),
    ]);
    // Another chat of the same session.
    const runBearer = await createRunCredential(owner.id, "bearer", runKey.sessionId);
    run = runKey;
    const byKey = (key: string) => ({ "x-api-key": key });
    const byBearer = (bearer: string) => ({ authorization: `Bearer ${bearer}` });
    const asOwner = (headers: Headers) => ({ id: owner.id, headers });
    people = {
      "owner's key": asOwner(byKey(owner.key)),
      "owner's bearer": asOwner(byBearer(owner.bearer)),
      member: { id: member.id, headers: byKey(member.key) },
      admin: { id: admin.id, headers: byKey(admin.key) },
      stranger: { id: stranger.id, headers: byKey(stranger.key) },
      "no credential": asOwner({}),
      "both credentials": asOwner({ ...byKey(owner.key), ...byBearer(owner.bearer) }),
      "expired key": asOwner(byKey(expired)),
      "revoked key": asOwner(byKey(revoked)),
      "run key": asOwner(runKey.headers),
      "run bearer": asOwner(runBearer.headers),
      "in a sandbox": asOwner({ "x-agent-sandbox": "1" }),
    };
  });

  /** The value of a line's field for a caller. */
  function accountOf(line: Line, caller: Caller): string | null {
    switch (line.whose) {
      case null:
        return null;
      case "own":
        return people[caller].id;
      case "nobody":
        return randomUUID();
      case "malformed":
        return "not-a-uuid";
      case "foreign": {
        const kind = line.field === "organization_id" ? "foreignOrganization" : "foreignArtist";
        return accounts[kind] ?? "";
      }
      default: {
        const id = accounts[line.whose];
        if (id === undefined) throw new Error(`Whose is ${line.whose}?`);
        return id;
      }
    }
  }

  function send(
    line: Line,
    row: Row,
    caller: Caller,
    ids: Ids,
    account: string | null,
  ): Promise<Answer> {
    const { method, path, body: takesBody } = find(line.name);
    const named: Ids = line.field && account ? { [line.field]: account } : {};
    const query = new URLSearchParams({ ...row.query?.(ids), ...(takesBody ? {} : named) });
    const body = { ...row.body?.(ids), ...(takesBody ? named : {}) };
    return client(null, url()).request(method, `${fillPath(path, ids)}?${query}`, {
      headers: people[caller].headers,
      ...(takesBody ? { body } : {}),
    });
  }

  /** The owner's view at the address of a change, where it can be read. */
  async function readAt({ method, path }: Contract, thing: Ids) {
    const isReadable = contracts.some((one) => one.method === "GET" && one.path === path);
    if (method === "GET" || !isReadable || Object.keys(thing).length === 0) return null;
    // Other tests add public templates to the list, so only the owner's are compared.
    const isShared = path === "/api/agents/templates";
    const query = new URLSearchParams({ ...thing, ...(isShared && { limit: "100" }) });
    const { status, text, body } = await owner.withKey.get(`${fillPath(path, thing)}?${query}`);
    if (!isShared) return { status, text };
    const { templates } = listedTemplates.parse(body);
    return { status, own: templates.filter(({ creator }) => creator.id === owner.id) };
  }

  describe("each cell holds, and what is foreign answers as what is missing", () => {
    it.each(asked.map((line) => [titleOf(line), line] as const))("%s", async (_, line) => {
      const contract = find(line.name);
      const row = rows[line.name];
      if (!row) throw new Error("No row says how it is asked");

      const thing = await row.arrange(owner, run);
      const missing = Object.fromEntries(
        Object.entries(thing).map(([name, id]) => [name, missingLike(id)]),
      );
      const refused = line.cells.filter(({ sentence }) => sentence !== null);
      const before = await readAt(contract, thing);
      await Promise.all(
        refused.map(async (cell) => {
          const { caller, status, sentence } = cell;
          const account = accountOf(line, caller);
          const answer = await send(line, row, caller, thing, account);
          expectCell(answer, cell, contract, thing);
          const refusesAccount = sentence === sentences.a || sentence === sentences.g;
          if (refusesAccount || (line.whose === "foreign" && sentence === sentences.m)) {
            const absent = await send(line, row, caller, thing, randomUUID());
            expect(tellingOf(answer), caller).toEqual(tellingOf(absent));
          } else if (status === 404) {
            const absent = await send(line, row, caller, missing, account);
            expect(tellingOf(answer), caller).toEqual(tellingOf(absent));
          }
        }),
      );

      expect(await readAt(contract, thing)).toEqual(before);

      // After the refusals, because the first of these shows that they left the object alone.
      // Except for readers, each caller has a separate object, which it may delete.
      const granted = line.cells.filter(({ sentence }) => sentence === null);
      const others = contract.method === "GET" ? [] : granted.slice(1);
      const things = [thing, ...(await Promise.all(others.map(() => row.arrange(owner, run))))];
      await Promise.all(
        granted.map(async (cell, index) => {
          const ids = things[index] ?? thing;
          const answer = await send(line, row, cell.caller, ids, accountOf(line, cell.caller));
          expectCell(answer, cell, contract, ids);
        }),
      );
    });
  });
}
