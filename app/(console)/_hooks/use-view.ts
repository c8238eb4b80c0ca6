import { useSyncExternalStore } from "react";

interface Viewed<V> {
  readonly subscribe: (listener: () => void) => () => void;
  readonly getView: () => V;
}

/** Returns the present view of a model, and renders again with each new one. */
export const useView = <V>({ subscribe, getView }: Viewed<V>): V =>
  useSyncExternalStore(subscribe, getView, getView);
