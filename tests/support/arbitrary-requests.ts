/** Requests made up from nothing but an operation's description: as it asks for them, and broken. */
import * as fc from "fast-check";
import { z } from "zod";
import type { ApiDocument, Described, JsonSchema } from "./api-document.ts";

/** What a request is put together from; nothing of it has to make sense. */
export interface MadeUp {
  readonly params: Readonly<Record<string, string>>;
  /** As it stands behind the question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As it is sent; absent when nothing is. */
  readonly body?: string;
  readonly credential: Credential;
}
export type Credential = (typeof credentials)[number];
const credentials = ["key", "bearer", "none", "both", "unknown key", "rubbish"] as const;

/** Values that lead somewhere, by the name of the field: ids of things that exist. */
export type Known = Readonly<Record<string, unknown>>;

const credential: fc.Arbitrary<Credential> = fc.oneof(
  { arbitrary: fc.constantFrom<Credential>("key", "bearer"), weight: 6 },
  { arbitrary: fc.constantFrom(...credentials), weight: 1 },
);

export class RequestMaker {
  readonly #document: ApiDocument;
  readonly #operation: Described;
  readonly #known: Known;

  constructor(document: ApiDocument, operation: Described, known: Known) {
    this.#document = document;
    this.#operation = operation;
    this.#known = known;
  }

  /** As the description asks for it; whether it can be done is another matter. */
  asDescribed(): fc.Arbitrary<MadeUp> {
    const body = this.#body();
    return fc
      .record({
        params: this.#parameters("path"),
        query: this.#parameters("query"),
        headers: this.#parameters("header"),
        body: body ?? fc.constant(undefined),
        credential,
      })
      .map(({ params, query, headers, body, credential }) => ({
        params: withoutDots(params),
        query: new URLSearchParams(query).toString(),
        headers: asHeaders(headers),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        credential,
      }));
  }

  /** With one to three things wrong. */
  broken(): fc.Arbitrary<MadeUp> {
    const names = {
      body: namesIn(this.#bodySchema()),
      query: this.#named("query").map(({ name }) => name),
      params: this.#named("path").map(({ name }) => name),
    };
    const breakages = [
      breakHeaders,
      breakQuery(names.query),
      ...(names.params.length > 0 ? [breakParams(names.params)] : []),
      ...(this.#bodySchema() ? [breakBody(names.body), breakBody(names.body), breakText] : []),
    ];
    const several = fc.array(fc.oneof(...breakages), { minLength: 1, maxLength: 3 });
    return fc
      .tuple(this.asDescribed(), several)
      .map(([request, list]) => list.reduce((broken, change) => change(broken), request));
  }

  #named(place: "path" | "query" | "header") {
    return this.#document.parametersOf(this.#operation).filter((one) => one.in === place);
  }

  #parameters(place: "path" | "query" | "header"): fc.Arbitrary<Record<string, string>> {
    const parameters = this.#named(place);
    const values = parameters.map(({ name, schema }) => [
      name,
      this.#withKnown(name, this.#ofSchema(schema)).map(String),
    ]);
    const requiredKeys = parameters.filter(({ required }) => required).map(({ name }) => name);
    return fc.record(Object.fromEntries(values), { requiredKeys });
  }

  #bodySchema(): JsonSchema | undefined {
    return this.#operation.operation.requestBody?.content["application/json"]?.schema;
  }

  #body(): fc.Arbitrary<unknown> | undefined {
    const schema = this.#bodySchema();
    return schema && this.#ofSchema(schema);
  }

  #withKnown(name: string, made: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
    if (!(name in this.#known)) return made;
    return fc.oneof(
      { arbitrary: fc.constant(this.#known[name]), weight: 4 },
      { arbitrary: made, weight: 1 },
    );
  }

  #ofSchema(given: JsonSchema): fc.Arbitrary<unknown> {
    if (typeof given.$ref === "string") {
      return this.#ofSchema(jsonSchema.parse(this.#document.resolve(given.$ref)));
    }
    const schema = keywords.parse(given);
    const either = schema.anyOf ?? schema.oneOf;
    if (either) return fc.oneof(...either.map((one) => this.#ofSchema(one)));
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (Array.isArray(schema.type)) {
      return fc.oneof(...schema.type.map((type) => this.#ofSchema({ ...given, type })));
    }
    switch (schema.type) {
      case "string":
        return textOf(schema);
      case "integer":
        return fc.integer(rangeOf(schema));
      case "number":
        return fc.double({ ...rangeOf(schema), noNaN: true });
      case "boolean":
        return fc.boolean();
      case "null":
        return fc.constant(null);
      case "array":
        return fc.array(this.#ofSchema(schema.items ?? {}), {
          minLength: schema.minItems ?? 0,
          maxLength: Math.min(schema.maxItems ?? 5, 5),
        });
      case "object":
        return this.#objectOf(schema);
      default:
        return fc.jsonValue();
    }
  }

  #objectOf(schema: z.output<typeof keywords>): fc.Arbitrary<unknown> {
    const properties = Object.entries(schema.properties ?? {}).filter(([, one]) => !("not" in one));
    const values: Record<string, fc.Arbitrary<unknown>> = {};
    for (const [name, one] of properties) values[name] = this.#withKnown(name, this.#ofSchema(one));
    return fc.record(values, { requiredKeys: schema.required ?? [] });
  }
}

const jsonSchema = z.record(z.string(), z.unknown());
/** What our document says with JSON Schema. */
const keywords = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  anyOf: z.array(jsonSchema).optional(),
  oneOf: z.array(jsonSchema).optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), jsonSchema).optional(),
  required: z.array(z.string()).optional(),
  items: jsonSchema.optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().optional(),
  format: z.string().optional(),
});

function textOf({ format, pattern, minLength = 0, maxLength }: z.output<typeof keywords>) {
  if (format === "uuid") return fc.uuid();
  if (format === "email") return fc.emailAddress();
  if (format === "uri") return fc.webUrl({ validSchemes: ["https"] });
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  const bounds = { minLength, maxLength: Math.min(maxLength ?? 60, minLength + 60) };
  return fc.oneof(fc.string(bounds), fc.string({ ...bounds, unit: "grapheme" }));
}

const rangeOf = ({ minimum, exclusiveMinimum, maximum }: z.output<typeof keywords>) => ({
  min: minimum ?? (exclusiveMinimum === undefined ? -1_000_000 : exclusiveMinimum + 1),
  max: maximum ?? 1_000_000,
});

const namesIn = (schema: JsonSchema | undefined): string[] =>
  Object.keys(keywords.parse(schema ?? {}).properties ?? {});

/** A path of dots is another path, before it leaves the client. */
const withoutDots = (params: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, /^\.{0,2}$/.test(value) ? "-" : value]),
  );

/** Bytes that may stand in a header. */
const asHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, "?"),
    ]),
  );

type Change = (request: MadeUp) => MadeUp;

const oddTexts = fc.constantFrom(
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u{1F468}\u200D\u{1F469}\u200D\u{1F467}",
  "\u202Eabc",
  "\uFEFF",
  "e\u0301".repeat(300),
  "İ",
  "%00",
  "%",
  "null",
  "undefined",
  "__proto__",
  "1e400",
  "-1",
  "0x10",
  "'; drop table accounts; --",
  "../../etc/passwd",
  "x".repeat(70_000),
);
const oddNumbers = fc.constantFrom(
  0,
  -0,
  -1,
  0.1,
  1e308,
  -1e308,
  2 ** 31,
  2 ** 53,
  2 ** 63,
  5e-324,
);
const oddValues: fc.Arbitrary<unknown> = fc.oneof(
  oddTexts,
  oddNumbers,
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { a: {} }),
  fc.jsonValue({ maxDepth: 3 }),
);

const parsed = (body: string | undefined): Record<string, unknown> => {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(body ?? "{}"));
  } catch {
    return {};
  }
};

/** A field of a wrong kind, missing or too many. */
function breakBody(names: readonly string[]): fc.Arbitrary<Change> {
  const name = fc.oneof(
    ...(names.length > 0 ? [{ arbitrary: fc.constantFrom(...names), weight: 5 }] : []),
    { arbitrary: fc.oneof(fc.string(), fc.constant("__proto__")), weight: 1 },
  );
  return fc.oneof(
    fc.tuple(name, oddValues).map(
      ([name, value]): Change =>
        (request) => ({
          ...request,
          body: JSON.stringify({ ...parsed(request.body), [name]: value }),
        }),
    ),
    name.map(
      (name): Change =>
        (request) => {
          const { [name]: _, ...rest } = parsed(request.body);
          return { ...request, body: JSON.stringify(rest) };
        },
    ),
    oddValues.map(
      (value): Change =>
        (request) => ({ ...request, body: JSON.stringify(value) }),
    ),
  );
}

/** What is no JSON, or says that it is something else. */
const breakText: fc.Arbitrary<Change> = fc.oneof(
  fc.nat(60).map(
    (length): Change =>
      (request) => ({ ...request, body: (request.body ?? "{}").slice(0, length) }),
  ),
  fc.string().map(
    (body): Change =>
      (request) => ({ ...request, body }),
  ),
  fc
    .constantFrom(
      "text/plain",
      "application/xml",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/json; charset=utf-16",
      "nonsense",
    )
    .map(
      (type): Change =>
        (request) => ({ ...request, headers: { ...request.headers, "content-type": type } }),
    ),
);

function breakQuery(names: readonly string[]): fc.Arbitrary<Change> {
  const name = fc.constantFrom(...names, "limit", "x", "__proto__", "");
  const value = fc.oneof(
    oddTexts.filter((text) => text !== "\ud800" && text.length < 10_000).map(encodeURIComponent),
    fc.constantFrom("%FF", "%ED%A0%80", "%", "%zz", "+", "1&limit=2", "a;b", "[]", "%00"),
  );
  const piece = fc.oneof(
    fc.tuple(name, value).map(([name, value]) => `${encodeURIComponent(name)}=${value}`),
    name.map((name) => `${name}[]=1&${name}[a]=2`),
    fc.constantFrom("&&&", "=", "?", "a=b=c", "%"),
  );
  return fc.oneof(
    piece.map(
      (text): Change =>
        (request) => ({ ...request, query: `${text}&${request.query}` }),
    ),
    piece.map(
      (text): Change =>
        (request) => ({ ...request, query: text }),
    ),
  );
}

function breakParams(names: readonly string[]): fc.Arbitrary<Change> {
  const text = oddTexts.filter((one) => one !== "\ud800" && one.length < 10_000);
  return fc.tuple(fc.constantFrom(...names), fc.oneof(text, fc.string())).map(
    ([name, value]): Change =>
      (request) => ({ ...request, params: withoutDots({ ...request.params, [name]: value }) }),
  );
}

const breakHeaders: fc.Arbitrary<Change> = fc
  .constantFrom<Record<string, string>>(
    { "x-request-id": "x".repeat(129) },
    { "x-request-id": "a b" },
    { "x-request-id": "\u00e9" },
    { "idempotency-key": "" },
    { "idempotency-key": "x".repeat(256) },
    { "idempotency-key": "\u00e9\u00ff" },
    { "last-event-id": "-1" },
    { "last-event-id": "abc" },
    { "last-event-id": "9".repeat(400) },
    { range: "bytes=5-1" },
    { range: "bytes=0-0,2-2" },
    { accept: "image/png" },
    { "accept-language": "x".repeat(4000) },
    { "if-none-match": '"*' },
    { "x-forwarded-for": "not an address, ::1" },
    { "x-forwarded-host": "evil.example" },
    { "x-http-method-override": "DELETE" },
    { "next-action": "x" },
    { rsc: "1" },
    { cookie: "session=1; __proto__=2" },
    { origin: "null" },
    { traceparent: "00-zz" },
  )
  .map(
    (headers): Change =>
      (request) => ({ ...request, headers: { ...request.headers, ...headers } }),
  );
