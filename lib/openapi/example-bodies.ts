/** Makes the examples of an OpenAPI document from recorded exchanges. */
import { z } from "zod";
import type { Exchange, Exchanges } from "./examples.ts";

/** Returns the bodies of the matching exchanges as OpenAPI lists examples: by name. */
export function bodiesOf(
  exchanges: Exchanges,
  matches: (exchange: Exchange) => boolean,
  side: (exchange: Exchange) => { readonly body?: unknown },
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
