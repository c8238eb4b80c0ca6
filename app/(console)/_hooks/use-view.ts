import { useSyncExternalStore } from "react";

export type Viewed<V> = Readonly<{
  subscribe: (listener: () => void) => () => void;
  getView: () => V;
}>;

/** Returns the present view of a model, and renders again with each new one. */
export const useView = <V>({ subscribe, getView }: Viewed<V>): V =>
  useSyncExternalStore(subscribe, getView, getView);
