/** The OpenAPI document as it is served. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { z } from "zod";
import { client } from "./clients.ts";

/** The keywords of JSON Schema that the document uses. */
export interface JsonSchema extends z.core.JSONSchema.JSONSchema {
  readonly anyOf?: JsonSchema[];
  readonly oneOf?: JsonSchema[];
  readonly properties?: Record<string, JsonSchema>;
  readonly items?: JsonSchema;
  readonly exclusiveMinimum?: number;
}
const schema = z.custom<JsonSchema>((value) => typeof value === "object");
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

export type Media = z.output<typeof media>;

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

  parametersOf({ operation }: Described) {
    return (operation.parameters ?? []).map((one) => parameter.parse(this.#dereference(one)));
  }

  headersOf({ operation }: Described, status: number) {
    const headers = Object.entries(operation.responses[status]?.headers ?? {});
    return headers.map(([name, one]) => [name, header.parse(this.#dereference(one))] as const);
  }

  #dereference(value: object): unknown {
    return "$ref" in value ? this.resolve(String(value.$ref)) : value;
  }

  /** Returns the target of a reference such as `#/components/…`. */
  resolve(reference: string): unknown {
    let found: unknown = this.raw;
    for (const part of reference.split("/").slice(1)) {
      const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
      found = z.record(z.string(), z.unknown()).parse(found)[name];
    }
    return found;
  }

  /** Returns the validator of an operation's JSON body: of its request, or of the answer with a status. */
  validator({ method, path }: Described, side: "request" | number): ValidateFunction {
    const part = side === "request" ? "requestBody" : `responses/${side}`;
    const operation = `${path.replaceAll("/", "~1")}/${method.toLowerCase()}`;
    const pointer = `/paths/${operation}/${part}/content/application~1json/schema`;
    const validate = this.#ajv.getSchema(`api#${encodeURI(pointer)}`);
    if (!validate) throw new Error(`${pointer} is not in the document`);
    return validate;
  }
}

export async function readApiDocument(): Promise<ApiDocument> {
  return new ApiDocument((await client().get("/api/openapi.json")).body);
}
