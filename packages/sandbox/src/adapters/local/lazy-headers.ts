/**
 * Leaves Node's `fetch`, whose loading takes a third of the jail's start, to the commands that need it. just-bash
 * reads `Headers` as it is loaded, for `curl` alone, and Node loads everything of `fetch` with it. To be imported before
 * just-bash.
 */
import { AsyncLocalStorage } from "node:async_hooks";

// The shell restricts the code that runs inside a command, which the loading must escape.
const outsideCommands = AsyncLocalStorage.snapshot();
const load = (): typeof Headers =>
  outsideCommands(() => new Response().headers.constructor as typeof Headers);

/** A function, because a class has a prototype that a proxy cannot replace. */
function lazyHeaders() {}

// Node would load it to define the property again.
Reflect.deleteProperty(globalThis, "Headers");
globalThis.Headers = new Proxy(lazyHeaders as unknown as typeof Headers, {
  construct: (_target, args) => Reflect.construct(load(), args),
  get: (_target, name) => Reflect.get(load(), name),
});
