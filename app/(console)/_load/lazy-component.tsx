import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { toast } from "../_ui/toast.tsx";
import { isLoadFailure, isOutdated, loadModule } from "./load-module.ts";
import { waitForRetry } from "./wait-for-retry.ts";

type PropsOf<T> = T extends (props: infer P extends object) => unknown ? P : never;

/**
 * Returns the component `name` of a module, which is imported when the component is first shown, in a browser
 * only. While the server cannot be reached the import is repeated.
 *
 * It is not `React.lazy`: that keeps a failure for good, and without a boundary it holds up every update of
 * the page while it loads.
 *
 * @param placeholder shown while the code loads
 */
export function lazyComponent<M, N extends keyof M>(
  importModule: () => Promise<M>,
  name: N,
  placeholder: ReactNode = null,
): (props: PropsOf<M[N]>) => ReactNode {
  let loaded: ComponentType<PropsOf<M[N]>> | undefined;
  // biome-ignore lint/correctness/noComponentHookFactories: modules call it, not components
  return function LazyComponent(props) {
    const [Component, setComponent] = useState(() => loaded);
    useEffect(() => {
      if (Component) return;
      const closed = new AbortController();
      loadWithRetries(importModule, closed.signal).then(
        (module) => {
          const component = module[name] as ComponentType<PropsOf<M[N]>>;
          loaded = component;
          if (!closed.signal.aborted) setComponent(() => component);
        },
        (error) => {
          if (closed.signal.aborted || isLoadFailure(error)) return;
          setComponent(() => {
            throw error;
          });
        },
      );
      return () => closed.abort();
    }, [Component]);
    return Component ? <Component {...props} /> : placeholder;
  };
}

/** @throws when the code is gone or broken, or the signal aborts while the server cannot be reached */
async function loadWithRetries<T>(importIt: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await loadModule(importIt);
    } catch (error) {
      if (!isLoadFailure(error) || isOutdated()) throw error;
      if (attempt === 0 && !signal.aborted) toast("Connection lost. Reconnecting…", "danger");
      await waitForRetry(attempt, signal);
    }
  }
}
