/**
 * Vercel's SDK, loaded when a sandbox is first used.
 *
 * The comments inside each `import()` hide the package from the Workflow SDK's discovery, which
 * reads sources by regular expression. The package has classes that it would otherwise compile,
 * with all of zod, into the code that every durable step evaluates: 3 MB instead of a few KB.
 */
export type VercelSdk = typeof import(/* hidden */ "@vercel/sandbox");
export type Machine = Awaited<ReturnType<VercelSdk["Sandbox"]["get"]>>;
export type NetworkPolicy = import(/* hidden */ "@vercel/sandbox").NetworkPolicy;
export type NetworkPolicyRule = import(/* hidden */ "@vercel/sandbox").NetworkPolicyRule;

export const vercelSdk = (): Promise<VercelSdk> => import(/* hidden */ "@vercel/sandbox");

/** Returns the HTTP status of an error response, or undefined for any other error. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("response" in error)) return undefined;
  return error.response instanceof Response ? error.response.status : undefined;
}

/** Returns whether the machine stopped while a command's output was being read. */
export async function isStreamLost(error: unknown): Promise<boolean> {
  return error instanceof (await vercelSdk()).StreamError;
}
