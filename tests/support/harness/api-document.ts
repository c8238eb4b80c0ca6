/** The served OpenAPI document, as whoever reads nothing else sees it. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { z } from "zod";
import { client } from "./clients.ts";

const schema = z.record(z.string(), z.unknown());
const named = z.looseObject({ description: z.string() });
const media = z.looseObject({
  schema: schema.optional(),
  examples: z.record(z.string(), z.object({ value: z.unknown() })).optional(),
});
const parameter = named.extend({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean().optional(),
  schema,
});
const header = named.extend({ required: z.boolean().optional(), schema });
const reference = z.object({ $ref: z.string() });
const response = named.extend({
  headers: z.record(z.string(), z.union([reference, header])),
  content: z.record(z.string(), media).optional(),
});
const operation = z.looseObject({
  operationId: z.string(),
  summary: z.string(),
  description: z.string().optional(),
  tags: z.array(z.string()).length(1),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(z.union([reference, parameter])).optional(),
  requestBody: z
    .object({ required: z.boolean().optional(), content: z.record(z.string(), media) })
    .optional(),
  responses: z.record(z.string(), response),
});
const document = z.looseObject({
  openapi: z.literal("3.1.0"),
  servers: z.array(z.object({ url: z.string() })),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    securitySchemes: z.record(z.string(), z.unknown()),
    schemas: z.record(z.string(), z.unknown()),
    headers: z.record(z.string(), header),
    parameters: z.record(z.string(), parameter),
  }),
});

export type JsonSchema = z.output<typeof schema>;
export type Media = z.output<typeof media>;
export type Parameter = z.output<typeof parameter>;
export type Header = z.output<typeof header>;

export interface Described {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: z.output<typeof operation>;
}

export class ApiDocument {
  readonly raw: z.output<typeof document>;
  readonly #ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: false }));

  constructor(raw: unknown) {
    this.raw = document.parse(raw);
    this.#ajv.addSchema(this.raw, "api");
  }

  get operations(): Described[] {
    return Object.entries(this.raw.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        operation,
      })),
    );
  }

  parametersOf({ operation }: Described): Parameter[] {
    return (operation.parameters ?? []).map((one) =>
      "$ref" in one ? parameter.parse(this.resolve(String(one.$ref))) : parameter.parse(one),
    );
  }

  headersOf({ operation }: Described, status: number): [string, Header][] {
    const headers = operation.responses[status]?.headers ?? {};
    return Object.entries(headers).map(([name, one]) => [
      name,
      header.parse("$ref" in one ? this.resolve(String(one.$ref)) : one),
    ]);
  }

  /** `#/components/…` */
  resolve(reference: string): unknown {
    let found: unknown = this.raw;
    for (const part of reference.split("/").slice(1)) {
      found = z.record(z.string(), z.unknown()).parse(found)[decodePart(part)];
    }
    return found;
  }

  /** Of what an operation is sent (`"request"`) or answers with a status, as JSON. */
  validator({ method, path }: Described, side: "request" | number): ValidateFunction {
    const place = side === "request" ? "requestBody" : `responses/${side}`;
    const operation = `${path.replaceAll("/", "~1")}/${method.toLowerCase()}`;
    const pointer = `/paths/${operation}/${place}/content/application~1json/schema`;
    const validate = this.#ajv.getSchema(`api#${encodeURI(pointer)}`);
    if (!validate) throw new Error(`${pointer} is not in the document`);
    return validate;
  }
}

const decodePart = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");

export async function readApiDocument(): Promise<ApiDocument> {
  return new ApiDocument((await client().get("/api/openapi.json")).body);
}
