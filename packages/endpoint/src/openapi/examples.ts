/** Recorded requests with their answers, and how the OpenAPI document has them as examples. */
import { z } from "zod";

const texts = z.record(z.string(), z.string());

const exchange = z.object({
  request: z.object({
    params: texts.optional(),
    query: texts.optional(),
    headers: texts.optional(),
    body: z.unknown().optional(),
  }),
  response: z.object({
    status: z.int(),
    headers: texts,
    /** Parsed JSON, or the text of an event stream; absent if there is no body. */
    body: z.unknown().optional(),
  }),
});
export type RecordedExchange = z.output<typeof exchange>;

/** By name: the particularity of a success, or the code of an error. The simplest one is first. */
export const recordedExchanges = z.record(z.string(), exchange);
export type RecordedExchanges = z.output<typeof recordedExchanges>;

/** Returns the bodies of the matching exchanges as OpenAPI lists examples: by name. */
export function bodiesOf(
  exchanges: RecordedExchanges,
  matches: (exchange: RecordedExchange) => boolean,
  side: (exchange: RecordedExchange) => { readonly body?: unknown },
): Record<string, { value: unknown }> {
  const chosen = Object.entries(exchanges).filter(
    ([, exchange]) => matches(exchange) && side(exchange).body !== undefined,
  );
  return Object.fromEntries(
    chosen.map(([name, exchange]) => [name, { value: side(exchange).body }]),
  );
}

/** Returns the parameters with the values of an example. */
export function withParameterExamples(
  { shape }: z.ZodObject,
  values: Readonly<Record<string, string>> = {},
): z.ZodObject {
  const parameters = Object.entries(shape).map(([name, schema]) => {
    const value = values[name];
    if (value === undefined || !(schema instanceof z.ZodType)) return [name, schema] as const;
    const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
    const { override } = { ...z.globalRegistry.get(inner), ...schema.meta() };
    const isText = typeof override !== "object" || override.type === "string";
    return [name, schema.meta({ param: { example: isText ? value : JSON.parse(value) } })] as const;
  });
  return z.object(Object.fromEntries(parameters));
}

/** Returns the `content` of a JSON body. */
export const json = (schema: z.ZodType, examples: Record<string, { value: unknown }>) => ({
  "application/json": { schema, ...withExamples(examples) },
});

export const withExamples = (examples: Record<string, { value: unknown }>) =>
  Object.keys(examples).length > 0 ? { examples } : {};
