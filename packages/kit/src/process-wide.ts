/**
 * Values that exist once in a process. A module variable does not: `next dev` evaluates a module
 * again for each route, and the Workflow SDK bundles steps apart from routes. Only `globalThis` is
 * common to all of them, and this is the only file that uses it.
 */
declare global {
  var agentPlatform: Map<string, unknown> | undefined;
}

/** Returns the value of this name, which the first call creates. */
export function processWide<T>(name: string, create: () => T): T {
  globalThis.agentPlatform ??= new Map();
  const values = globalThis.agentPlatform;
  if (!values.has(name)) values.set(name, create());
  // Each name has one caller, whose `create` made the value.
  return values.get(name) as T;
}

/** Sets the value of this name, in place of an earlier one. */
export function setProcessWide<T>(name: string, value: T): T {
  globalThis.agentPlatform ??= new Map();
  globalThis.agentPlatform.set(name, value);
  return value;
}
