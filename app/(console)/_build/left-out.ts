/**
 * Stands in the browser for what the AI SDK imports there and the chat never uses, its gateway and
 * zod (`next.config.ts` says where): together a fifth of the page's script. Definitions that the SDK
 * makes while it loads are made of this; whoever really uses one is told.
 */
const leftOut: unknown = new Proxy(() => {}, {
  get: (_, name) => (typeof name === "symbol" || name === "then" ? undefined : leftOut),
  apply: () => leftOut,
});

function used(): never {
  throw new Error("This part of the AI SDK is left out of the browser: see next.config.ts");
}

export {
  leftOut as array,
  leftOut as boolean,
  leftOut as config,
  leftOut as custom,
  leftOut as default,
  leftOut as discriminatedUnion,
  leftOut as enum,
  leftOut as extend,
  leftOut as GatewayAuthenticationError,
  leftOut as GatewayError,
  leftOut as instanceof,
  leftOut as int,
  leftOut as lazy,
  leftOut as literal,
  leftOut as looseObject,
  leftOut as maximum,
  leftOut as minLength,
  leftOut as NEVER,
  leftOut as never,
  leftOut as nonnegative,
  leftOut as null,
  leftOut as number,
  leftOut as object,
  leftOut as optional,
  leftOut as pipe,
  leftOut as positive,
  leftOut as record,
  leftOut as refine,
  leftOut as startsWith,
  leftOut as string,
  leftOut as transform,
  leftOut as union,
  leftOut as unknown,
  used as createGateway,
  used as gateway,
  used as safeParse,
  used as safeParseAsync,
  used as toJSONSchema,
};
