/**
 * Replaces, in the browser, two modules that the AI SDK imports but the chat never uses: its gateway
 * and zod, together a fifth of the page's script (see `next.config.ts`). The SDK's top-level
 * definitions evaluate against this proxy; calling one of the functions throws.
 */
const excluded: unknown = new Proxy(() => {}, {
  get: (_, name) => (typeof name === "symbol" || name === "then" ? undefined : excluded),
  apply: () => excluded,
});

function used(): never {
  throw new Error("This part of the AI SDK is excluded from the browser: see next.config.ts");
}

export {
  excluded as array,
  excluded as boolean,
  excluded as config,
  excluded as custom,
  excluded as default,
  excluded as discriminatedUnion,
  excluded as enum,
  excluded as extend,
  excluded as GatewayAuthenticationError,
  excluded as GatewayError,
  excluded as instanceof,
  excluded as int,
  excluded as lazy,
  excluded as literal,
  excluded as looseObject,
  excluded as maximum,
  excluded as minLength,
  excluded as NEVER,
  excluded as never,
  excluded as nonnegative,
  excluded as null,
  excluded as number,
  excluded as object,
  excluded as optional,
  excluded as pipe,
  excluded as positive,
  excluded as record,
  excluded as refine,
  excluded as startsWith,
  excluded as string,
  excluded as transform,
  excluded as union,
  excluded as unknown,
  used as createGateway,
  used as gateway,
  used as safeParse,
  used as safeParseAsync,
  used as toJSONSchema,
};
