/** What each contract refuses, and in which words; the answer around them is the pipeline's. */
import { randomUUID } from "node:crypto";
import { validator } from "@platform/endpoint/read-input";
import { describe, expect, it } from "vitest";
import { operations } from "../../lib/openapi/registry.ts";
import { validTask } from "../support/fixtures/tasks.ts";
import { validTemplate } from "../support/fixtures/templates.ts";

/** A body or, as text, a query; and what is said of it. */
type Rows = readonly (readonly [input: unknown, message: string])[];

const long = (length: number) => "x".repeat(length + 1);
const callback = "callback_url must be https, or http on localhost";
const groups =
  "include_groups must be a comma-separated list of album, single, appears_on, compilation";
const country = "market must be an ISO 3166-1 alpha-2 country code";
const types =
  "type must be a comma-separated list of album, artist, playlist, track, show, episode, audiobook";
const slug =
  "connector must be a slug of at most 64 lower-case letters, digits, hyphens and underscores";
const cron = "schedule must be a cron expression of five fields";

/** Rows of which each changes something in a body that is valid. */
const changed = (valid: object, rows: Rows): Rows =>
  rows.map(([change, message]) => [{ ...valid, ...Object(change) }, message]);

const refused: Record<string, Rows> = {
  updateAccount: [
    [{ name: " " }, "name must not be empty"],
    [{ name: long(100) }, "name must be at most 100 characters"],
    [{ name: "two\nlines" }, "name must be a single line"],
    [{ image: "http://example.com/a.png" }, "image must be an https URL"],
    [{ monthly_budget_usd: -1 }, "monthly_budget_usd must be at least 0"],
    [{ monthly_budget_usd: "5" }, "monthly_budget_usd must be a number"],
    [{ timezone: "+02:00" }, "timezone must be an IANA time zone"],
  ],
  signup: [
    [{}, "email is required"],
    [{ email: 7 }, "email must be a string"],
    [{ email: "" }, "email must be a valid e-mail address"],
    [{ email: "nobody" }, "email must be a valid e-mail address"],
    [{ email: "a@example.com, b@example.com" }, "email must be a valid e-mail address"],
    [{ email: "a@example.com\r\nBcc: b@example.com" }, "email must be a valid e-mail address"],
    [{ email: "Somebody <a@example.com>" }, "email must be a valid e-mail address"],
    [{ email: `a@${"example.".repeat(40)}com` }, "email must be at most 254 characters"],
  ],
  verify: changed({ email: "a@example.com", code: "123456" }, [
    [{ email: undefined }, "email is required"],
    [{ code: undefined }, "code is required"],
    [{ code: 123456 }, "code must be a string"],
    [{ code: "12345" }, "code must be six digits"],
    [{ code: "1234567" }, "code must be six digits"],
    [{ code: "١٢٣٤٥٦" }, "code must be six digits"],
    [{ email: "nobody" }, "email must be a valid e-mail address"],
  ]),
  createArtist: [
    [{}, "name is required"],
    [{ name: "a\nb" }, "name must be a single line"],
    [{ name: "a", label: "" }, "label must not be empty"],
    [{ name: "a", label: "a\nb" }, "label must be a single line"],
    [{ name: "a", image: "http://example.com" }, "image must be an https URL"],
    [{ name: "a", catalog_artist_id: "../etc" }, "catalog_artist_id"],
  ],
  createOrganization: [
    [{ name: "" }, "name must not be empty"],
    [{ name: "a\tb" }, "name must be a single line"],
    [{ name: long(100) }, "name must be at most 100 characters"],
  ],
  createInvitation: [
    [{ email: "nobody", role: "member" }, "email must be a valid e-mail address"],
    [{ email: "a@example.com", role: "admin" }, "role must be one of owner, member, viewer"],
  ],
  createKey: changed({ key_name: "a" }, [
    [{ key_name: undefined }, "key_name is required"],
    [{ key_name: "" }, "key_name must not be empty"],
    [{ key_name: long(100) }, "key_name must be at most 100 characters"],
    [{ key_name: 7 }, "key_name must be a string"],
    [{ expires_in_days: 0 }, "expires_in_days must be at least 1"],
    [{ expires_in_days: 3651 }, "expires_in_days must be at most 3650"],
    [{ expires_in_days: 1.5 }, "expires_in_days must be an integer"],
    [{ account_id: randomUUID() }, "account_id must not be provided"],
    [{ account_id: null }, "account_id must not be provided"],
  ]),
  rotateKey: [
    [{ grace_seconds: -1 }, "grace_seconds must be at least 0"],
    [{ grace_seconds: 86_401 }, "grace_seconds must be at most 86400"],
  ],
  createWebhook: changed({ url: "https://example.com/", events: ["run.completed"] }, [
    [{ url: undefined }, "url is required"],
    [{ url: "hooks" }, "url must be a valid URL"],
    [{ url: `https://example.com/${long(2048)}` }, "url must be at most 2048 characters"],
    [{ events: [] }, "events must have at least 1 item"],
    [{ events: ["run.started"] }, "events.0 must be one of"],
    [{ enabled: "yes" }, "enabled must be a boolean"],
  ]),
  getUsage: [
    ["from=yesterday", "from must be"],
    ["to=2026-02-30T00:00:00Z", "to must be"],
    ["group_by=hour", "group_by must be one of"],
    ["split_by=hour", "split_by must be one of"],
  ],
  listRequests: [
    ["status=6xx", "status must be one of 2xx, 3xx, 4xx, 5xx"],
    ["api_key_id=1", "api_key_id must be a valid UUID"],
  ],
  listRuns: [
    ["status=lost", "status must be one of"],
    ["kind=other", "kind must be one of"],
    ["chat_id=x", "chat_id must be a valid UUID"],
    ["artist_id=x", "artist_id must be a valid UUID"],
    ["since=yesterday", "since must be"],
    ["since=0000-01-01T00:00:00Z", "A time must be between the years 1970 and 9999"],
  ],
  searchCatalog: [
    ["", "q is required"],
    ["type=artist", "q is required"],
    ["q=&type=artist", "q must not be empty"],
    ["q=%20&type=artist", "q must not be empty"],
    [`q=${long(250)}&type=artist`, "q must be at most 250 characters"],
    ["q=a", "type is required"],
    ["q=a&type=", types],
    ["q=a&type=artists", types],
    ["q=a&type=artist,", types],
    ["q=a&type=artist&market=ZZ", `${country} or from_token`],
    ["q=a&type=artist&market=us", `${country} or from_token`],
    ["q=a&type=artist&market=", `${country} or from_token`],
    ["q=a&type=artist&offset=-1", "offset must be at least 0"],
    ["q=a&type=artist&offset=10001", "offset must be at most 10000"],
  ],
  listArtistAlbums: [
    ["", "id is required"],
    ["id=", "id has an invalid format"],
    ["id=a-b", "id has an invalid format"],
    [`id=${long(64)}`, "id has an invalid format"],
    ["id=..%2Fme", "id has an invalid format"],
    ["id=a&include_groups=", groups],
    ["id=a&include_groups=album,ep", groups],
    ["id=a&market=XX", country],
    ["id=a&market=from_token", country],
    ["id=a&offset=-1", "offset must be at least 0"],
  ],
  listTracks: [
    ["", "Missing required parameter: artist"],
    ["artist=", "Missing required parameter: artist"],
    ["artist=%20%20", "Missing required parameter: artist"],
    ["name=Velvet", "Missing required parameter: artist"],
    [`artist=${long(250)}`, "artist must be at most 250 characters"],
    ["id=", "id has an invalid format"],
    ["id=-a", "id has an invalid format"],
    ["id=a%20b&artist=Velvet", "id has an invalid format"],
    ["id=..%2Fsecrets", "id has an invalid format"],
  ],
  createConnection: changed({ connector: "gmail" }, [
    [{ connector: undefined }, "connector is required"],
    [{ connector: 7 }, "connector must be a string"],
    [{ connector: "" }, slug],
    [{ connector: "Gmail" }, slug],
    [{ connector: "-gmail" }, slug],
    [{ connector: "gmail/../x" }, slug],
    [{ connector: long(64) }, slug],
    [{ callback_url: "back" }, "callback_url must be a valid URL"],
    [{ callback_url: "http://app.example.com/" }, callback],
    [{ callback_url: "http://localhost.example.com/" }, callback],
    [{ callback_url: "http://127.0.0.1.example.com/" }, callback],
    [{ callback_url: "https://localhost@example.com/" }, callback],
    [{ callback_url: "javascript:alert(1)//https://x" }, callback],
    [{ callback_url: "data:text/html,x" }, callback],
    [
      { callback_url: `https://example.com/${long(2048)}` },
      "callback_url must be at most 2048 characters",
    ],
  ]),
  createChat: [
    [{ id: "42" }, "id must be a valid UUID"],
    [{ title: long(200) }, "title must be at most 200 characters"],
    [{ modelId: "" }, "modelId must not be empty"],
    [{ instructions: long(10_000) }, "instructions must be at most 10000 characters"],
    [{ templateId: "42" }, "templateId must be a valid UUID"],
  ],
  updateChat: [
    [{}, "One of title, modelId, fallback_models, effort, workspace, outcome, skills, "],
    [{ pinned: "yes" }, "pinned must be a boolean"],
    [{ instructions: long(10_000) }, "instructions must be at most 10000 characters"],
    [{ templateId: "42" }, "templateId must be a valid UUID"],
    [{ title: 1 }, "title must be a string"],
    [{ title: "Hooks", activeStreamId: "mine" }, "activeStreamId is not a known field"],
    [{ modelId: "" }, "modelId must not be empty"],
  ],
  deleteChats: [
    [{}, "ids is required"],
    [{ ids: [] }, "ids must have at least 1 item"],
    [{ ids: ["42"] }, "ids.0 must be a valid UUID"],
    [{ ids: Array.from({ length: 101 }, () => randomUUID()) }, "ids must have at most 100 items"],
  ],
  exportChat: [["format=pdf", "format must be one of markdown, json"]],
  listAccountChats: [
    ["q=", "q must not be empty"],
    ["artist_id=42", "artist_id must be a valid UUID"],
    ["pinned=1", "pinned must be one of true, false"],
  ],
  rateMessage: [
    [{ rating: "good" }, "rating must be one of up, down"],
    [{}, "rating is required"],
    [{ rating: "up", comment: long(2000) }, "comment must be at most 2000 characters"],
  ],
  resumeTurn: ["-1", "1.5", "x", "", "9999999999", "99999999999999999999"].map((index) => [
    `startIndex=${index}`,
    "startIndex must be",
  ]),
  createSession: [
    [{ title: long(200) }, "title must be at most 200 characters"],
    [{ title: 7 }, "title must be a string"],
    [{ id: "forged" }, "id is not a known field"],
    [{ accountId: "forged", nonsense: 1 }, "accountId is not a known field"],
  ],
  updateSession: [
    [{}, "title is required"],
    [{ title: null }, "title must be a string"],
    [{ title: long(200) }, "title must be at most 200 characters"],
  ],
  provisionSandbox: [
    [{}, "sessionId is required"],
    [{ sessionId: "42" }, "sessionId must be a valid UUID"],
    [{ sessionId: null }, "sessionId must be a string"],
  ],
  getSandbox: [["", "sessionId is required"]],
  listSandboxFiles: [
    ["", "sessionId is required"],
    ["sessionId=42", "sessionId must be a valid UUID"],
    [`sessionId=${randomUUID()}&path=`, "path must not be empty"],
    [`sessionId=${randomUUID()}&path=a%00b`, "path must be well-formed Unicode without NUL"],
  ],
  readSandboxFile: [
    [`sessionId=${randomUUID()}`, "path is required"],
    [`sessionId=${randomUUID()}&path=`, "path must not be empty"],
    [`sessionId=${randomUUID()}&path=${long(4096)}`, "path must be at most 4096 characters"],
  ],
  createTask: changed(validTask, [
    [{ title: " " }, "title must not be empty"],
    [{ prompt: "" }, "prompt must not be empty"],
    [{ prompt: long(10_000) }, "prompt must be at most 10000 characters"],
    [{ schedule: "2027-01-01T00:00:00" }, cron],
    [{ schedule: "@daily" }, cron],
    [{ schedule: "* * * * * *" }, cron],
    [{ timezone: "Mars/Base" }, "timezone must be an IANA time zone"],
    [{ timezone: "+02:00" }, "timezone must be an IANA time zone"],
    [{ template_id: "42" }, "template_id must be a valid UUID"],
    [{ enabled: "yes" }, "enabled must be a boolean"],
  ]),
  updateTask: [
    [{}, "One of title, prompt, template_id, template_version, schedule, timezone, "],
    [{ schedule: "never" }, cron],
    [{ template_id: "42" }, "template_id must be a valid UUID"],
  ],
  createTemplate: changed(validTemplate, [
    [{ title: " ab " }, "title must be at least 3 characters"],
    [{ title: long(50) }, "title must be at most 50 characters"],
    [{ description: long(200) }, "description must be at most 200 characters"],
    [{ description: "123456789" }, "description must be at least 10 characters"],
    [{ prompt: "short" }, "prompt must be at least 20 characters"],
    [{ prompt: long(10_000) }, "prompt must be at most 10000 characters"],
    [{ tags: undefined }, "tags is required"],
    [{ tags: ["a", 1] }, "tags.1 must be a string"],
    [{ is_private: "yes" }, "is_private must be a boolean"],
    [
      { share_emails: Array.from({ length: 101 }, (_, index) => `p${index}@example.com`) },
      "share_emails must have at most 100 items",
    ],
    [
      { is_private: true, share_emails: ["a@example.com", "b"] },
      "share_emails.1 must be a valid e-mail address",
    ],
  ]),
  setFavorite: [
    [{}, "is_favourite is required"],
    [{ is_favourite: "true" }, "is_favourite must be a boolean"],
  ],
  updateTemplate: [
    [{}, "One of title, description, prompt, tags, fallback_models, effort, workspace, "],
    [{ title: null, tags: null }, "One of title, description, prompt, tags, "],
    [{ id: randomUUID(), favorites_count: 9 }, "id is not a known field"],
    [{ title: "ab", tags: "a" }, "title must be at least 3 characters"],
  ],
};

describe.each(Object.entries(refused))("%s", (name, rows) => {
  const contract = operations.find(({ id }) => id === name)?.contract;
  if (!contract) throw new Error(`There is no operation ${name}`);
  const validate = validator({ ...contract, params: undefined });
  it.each(rows)("%j is refused", (input, message) => {
    const isQuery = typeof input === "string";
    const query = isQuery ? Object.fromEntries(new URLSearchParams(input)) : {};
    const outcome = validate({ params: undefined, query, body: isQuery ? undefined : input });
    expect(outcome).toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining(message),
    });
  });
});
